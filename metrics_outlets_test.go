package gozer_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/gozer-gateway/gozer/internal/certtest"
)

// What belongs to no request: the ways out of spans and access log lines, TLS, PROXY heads.
func TestMetricsOfTheEdges(t *testing.T) {
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "1")
	pair := certtest.NewCA(t, "CA").Issue("g.test")
	cert, key := pair.Write()
	g := newGateway(t, usersAt("management.otlp.tracing.endpoint: http://127.0.0.1:1/v1/traces\nmanagement.tracing.sampling.probability: 1\n"+
		"server.proxy-protocol: {enabled: true, trusted-proxies: 127.0.0.0/8}\ngateway.access-log.enabled: true\n"+
		"server.ssl: {certificate: \""+cert+"\", certificate-private-key: \""+key+"\"}\n", "one:80"))
	answers(g)
	get(t, g, "/users/200")
	wantSeries(t, g,
		`gozer_trace_spans_total{outcome="dropped"} 1`,
		`gozer_trace_spans_total{outcome="exported"} 0`,
		`gozer_trace_spans_total{outcome="failed"} 0`,
		`gozer_trace_spans_waiting 1`,
		`gozer_access_log_lines_total 1`,
		`gozer_access_log_lost_total 0`,
		`gozer_proxy_protocol_connections_total{outcome="late"} 0`,
		`gozer_certificate_ends_timestamp_seconds{listener="proxy",name="server.ssl"} `+strconv.FormatFloat(float64(pair.Cert.NotAfter.Unix()), 'g', -1, 64),
		`gozer_certificate_unusable{listener="proxy",name="server.ssl"} 0`,
		`gozer_tls_client_hellos_total{listener="proxy"} 0`,
		`gozer_certificates_replaced_total{listener="proxy"} 0`,
	)
	wantInManual(t, g)
	problems, err := testutil.GatherAndLint(g.Gatherer())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// Pools of single URL routes are shown with those of all URL routes.
func TestPoolsOfURLRoutes(t *testing.T) {
	g := newGateway(t, "zuul.routes.a: {path: /a/**, url: \"https://one.test\"}\nzuul.routes.b: {path: /b/**, url: \"https://two.test\"}\n"+
		"zuul.routes.c: {path: /c/**, url: \"http://three.test\"}\ngateway.tls.a.verify: false\n")
	idle := 0
	for _, line := range scraped(t, g) {
		if strings.HasPrefix(line, `gozer_pool_connections{`) && strings.Contains(line, `state="idle"`) {
			idle++
		}
		if strings.Contains(line, "\x00") || strings.Contains(line, `\x00`) {
			t.Error(line)
		}
	}
	if idle != 1 {
		t.Errorf("%d pools are shown, want one", idle)
	}
	wantSeries(t, g, `gozer_pool_connections{service="_url",state="idle"} 0`)
}
