package e2e_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// through sends text on a new connection and reads until the gateway closes it.
func through(tb testing.TB, g *gateway, text string) string {
	tb.Helper()
	var d net.Dialer
	conn, err := d.DialContext(tb.Context(), "tcp", g.Proxy)
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		tb.Fatal(err)
	}
	_, _ = io.WriteString(conn, text)
	got, _ := io.ReadAll(conn) // a reset ends it too
	return string(got)
}

func TestProxyProtocol(t *testing.T) {
	m := startMirror(t)
	base := "zuul.routes.url: {path: /url/**, url: 'http://" + m.Addr + "'}\n" +
		"server.proxy-protocol: {enabled: true, trusted-proxies: 127.0.0.0/8}\n"
	request := "GET /url/x HTTP/1.1\r\nHost: g.test\r\nConnection: close\r\n\r\n"
	const version2 = "\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c\xcb\x00\x71\x07\x0a\x00\x00\x01\x1f\x90\x00\x50"
	g := startGateway(t, base)
	for name, test := range map[string]struct{ head, want string }{
		"version 1": {"PROXY TCP4 203.0.113.9 10.0.0.1 8080 80\r\n", "203.0.113.9"},
		"IPv6":      {"PROXY TCP6 2001:db8::1 ::1 8080 80\r\n", "2001:db8::1"},
		"version 2": {version2, "203.0.113.7"},
		"UNKNOWN":   {"PROXY UNKNOWN\r\n", "127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := through(t, g, test.head+request); !strings.Contains(got, test.want) || !strings.HasPrefix(got, "HTTP/1.1 200") {
				t.Errorf("want %s in %q", test.want, got)
			}
		})
	}
	t.Run("without a head", func(t *testing.T) {
		if got := through(t, g, request); got != "" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("they are counted", func(t *testing.T) {
		g.wantMetric("gozer_proxy_protocol_connections_total{outcome=\"accepted\"} 4")
		g.wantMetric("gozer_proxy_protocol_connections_total{outcome=\"malformed\"} 1")
	})
	t.Run("of others", func(t *testing.T) {
		g := startGateway(t, strings.Replace(base, "127.0.0.0/8", "192.0.2.0/24", 1))
		if got := through(t, g, "PROXY TCP4 203.0.113.9 10.0.0.1 8080 80\r\n"+request); got != "" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("of others that are served", func(t *testing.T) {
		g := startGateway(t, strings.Replace(base, "127.0.0.0/8", "192.0.2.0/24, others: serve", 1))
		if got := through(t, g, request); !strings.HasPrefix(got, "HTTP/1.1 200") || !strings.Contains(got, "127.0.0.1") {
			t.Errorf("direct: %q", got)
		}
		if got := through(t, g, "PROXY TCP4 203.0.113.9 10.0.0.1 8080 80\r\n"+request); !strings.HasPrefix(got, "HTTP/1.1 400") {
			t.Errorf("with a head: %q", got)
		}
	})
}

func TestRequestIDs(t *testing.T) {
	m := startMirror(t)
	const id = "3f2b8c1e-7d1a-4b6e-9a57-0c9a1f0e7b11"
	yaml := "zuul.routes: {url: {path: /url/**, url: 'http://" + m.Addr + "'}, dead: {path: /dead/**, url: 'http://127.0.0.1:1'}}\ngateway.request-id.echo: true\n"
	plain, trusting := startGateway(t, yaml), startGateway(t, yaml+"server.forward-headers.trusted-proxies: 127.0.0.1\n")
	for name, test := range map[string]struct {
		g    *gateway
		kept bool
	}{"of others": {plain, false}, "of a trusted proxy": {trusting, true}} {
		t.Run(name, func(t *testing.T) {
			r := test.g.Do(http.MethodGet, "/url/x", "", "X-Request-Id: "+id)
			got := r.Header.Get("X-Request-Id")
			if (got == id) != test.kept || len(got) < 32 || !strings.Contains(r.Body, got) {
				t.Errorf("the client gets %q, the upstream %s", got, r.Body)
			}
		})
	}
	t.Run("in errors and the log", func(t *testing.T) {
		r := trusting.Do(http.MethodGet, "/dead/x", "", "X-Request-Id: "+id)
		if r.Status != http.StatusBadGateway || !strings.Contains(r.Body, `"requestId":"`+id+`"`) || r.Header.Get("X-Request-Id") != id {
			t.Errorf("%d %s", r.Status, r.Body)
		}
		eventually(t, "the log names it", func() bool { return trusting.Log.Count("request="+id) == 1 })
	})
}

func TestManagementOffLoopback(t *testing.T) {
	const token = "a-token-of-management"
	base := "zuul.routes.url: {path: /url/**, url: 'http://127.0.0.1:1'}\n"
	post := func(g *gateway, header http.Header) int {
		t.Helper()
		_, port, _ := net.SplitHostPort(g.Admin)
		a, err := send(t.Context(), http.MethodPost, "http://127.0.0.1:"+port+"/actuator/routes", header, nil)
		if err != nil {
			t.Fatal(err)
		}
		return a.Status
	}
	outside := start{yaml: base, args: []string{"--set", "management.server.address=0.0.0.0"}}.ready(t)
	if got := post(outside, nil); got != http.StatusForbidden {
		t.Errorf("C225 without a token: %d", got)
	}
	const warning = "management listener is not on loopback"
	eventually(t, "C225 the log warns", func() bool { return outside.Log.Count(warning) == 1 })
	authorities := newAuthorities(t)
	cert, key := authorities.server.Issue("127.0.0.1").Write()
	certified := start{
		yaml: base + "management.server.ssl: {certificate: " + cert + ", certificate-private-key: " + key + ", client-auth: want, trust-certificate: " + authorities.trust + "}\n",
		args: []string{"--set", "server.port=0", "--set", "management.server.address=0.0.0.0", "--set", "management.server.port=0"},
	}.launch(t)
	eventually(t, "it is ready", func() bool { return certified.Log.Count("msg=ready") == 1 })
	wantExit(t, certified.Stop(), 0) // it would have warned by now
	if n := certified.Log.Count(warning); n != 0 {
		t.Errorf("C225 with client-auth: %d warnings", n)
	}
	guarded := start{
		yaml: base + "management.server.token: ${MANAGEMENT_TOKEN}\nlogging.level.root: debug\n",
		args: []string{"--set", "management.server.address=0.0.0.0"}, env: []string{"MANAGEMENT_TOKEN=" + token},
	}.ready(t)
	if got := post(guarded, nil); got != http.StatusUnauthorized {
		t.Errorf("C225 without the token: %d", got)
	}
	if got := post(guarded, http.Header{"Authorization": {"Bearer " + token}}); got != http.StatusOK {
		t.Errorf("C225 with the token: %d", got)
	}
	if guarded.Log.Count(token) != 0 {
		t.Errorf("C225 the log tells the token:\n%s", guarded.Log)
	}
}

// A balancer that speaks the PROXY protocol does so to the port that redirects, too.
func TestProxyProtocolOnTheRedirectPort(t *testing.T) {
	t.Parallel()
	b := backendtest.Start(t, identify())
	g := startGateway(t, secureYAML(newAuthorities(t).server.Issue("g.test"), b, "gateway.ssl.redirect-port: 0",
		"server.proxy-protocol: {enabled: true, trusted-proxies: 127.0.0.0/8}"))
	plain := *g
	plain.Proxy = g.Log.address(t, "redirect", g.ended)
	const request = "GET /x HTTP/1.1\r\nHost: g.test\r\nConnection: close\r\n\r\n"
	if got := through(t, &plain, "PROXY TCP4 203.0.113.9 10.0.0.1 8080 80\r\n"+request); !strings.HasPrefix(got, "HTTP/1.1 308") {
		t.Errorf("with a head: %q", got)
	}
	if got := through(t, &plain, request); got != "" {
		t.Errorf("without one: %q", got)
	}
}
