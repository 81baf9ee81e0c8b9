package gozer_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/internal/certtest"
	"github.com/gozer-gateway/gozer/internal/memhttp"
)

// wantCertificates compares the statuses in the part ssl of the health: of the whole, "", and by
// name. All that there are have to be given.
func wantCertificates(t *testing.T, g *gozer.Gateway, want map[string]string) {
	t.Helper()
	var health struct {
		Components struct {
			SSL struct {
				Status  string
				Details map[string]struct{ Status string }
			}
		}
	}
	if err := json.Unmarshal(get(t, g.Management(), "/actuator/health").Body.Bytes(), &health); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{"": health.Components.SSL.Status}
	for name, c := range health.Components.SSL.Details {
		got[name] = c.Status
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// What upstreams are shown ends as well. Entries that share files are shown once.
func TestEndOfClientCertificates(t *testing.T) {
	ca := certtest.NewCA(t, "ours")
	long, short := ca.IssueLeaf(certtest.Leaf{Name: "edge", NotAfter: time.Now().Add(20 * time.Hour)}), ca.IssueLeaf(certtest.Leaf{Name: "edge", NotAfter: time.Now().Add(time.Hour)})
	longCert, longKey := long.Write()
	shortCert, shortKey := short.Write()
	authorities := ca.Write()
	pair := func(cert, key string) string {
		return fmt.Sprintf("certificate: %q, certificate-private-key: %q", cert, key)
	}
	yaml := usersAt("management.health.ssl.certificate-validity-warning-threshold: 2h\n"+
		fmt.Sprintf("gateway.tls: {'*': {%s}, orders: {min-version: TLSv1.3}, billing: {%s}, users: {trust-certificate: %q}}\n",
			pair(longCert, longKey), pair(shortCert, shortKey), authorities), "one:80")
	g := newGateway(t, yaml)
	ends := func(p *certtest.Pair) string {
		return strconv.FormatFloat(float64(p.Cert.NotAfter.Unix()), 'g', -1, 64)
	}
	wantCertificates(t, g, map[string]string{"": "WILL_EXPIRE_SOON", "gateway.tls.*": "UP", "gateway.tls.billing": "WILL_EXPIRE_SOON", "gateway.tls.users": "UP"})
	wantSeries(t, g,
		`gozer_certificate_ends_timestamp_seconds{listener="",name="gateway.tls.*"} `+ends(long),
		`gozer_certificate_ends_timestamp_seconds{listener="",name="gateway.tls.billing"} `+ends(short),
		`gozer_certificate_unusable{listener="",name="gateway.tls.billing"} 0`)
	if err := os.WriteFile(shortKey, []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	reload(t, g, yaml)
	wantCertificates(t, g, map[string]string{"": "FILES_UNUSABLE", "gateway.tls.*": "UP", "gateway.tls.billing": "FILES_UNUSABLE", "gateway.tls.users": "UP"})
	wantSeries(t, g, `gozer_certificate_unusable{listener="",name="gateway.tls.billing"} 1`)
	wantInManual(t, g)
}

// What registries are shown is among them.
func TestEndOfTheCertificateForRegistries(t *testing.T) {
	pair := certtest.NewCA(t, "ours").IssueLeaf(certtest.Leaf{Name: "edge", NotAfter: time.Now().Add(time.Hour)})
	certificate, key := pair.Write()
	g := newGateway(t, fmt.Sprintf("eureka.client.tls: {enabled: true, certificate: %q, certificate-private-key: %q}\n", certificate, key))
	wantCertificates(t, g, map[string]string{"": "WILL_EXPIRE_SOON", "eureka.client.tls": "WILL_EXPIRE_SOON"})
	wantSeries(t, g, `gozer_certificate_ends_timestamp_seconds{listener="",name="eureka.client.tls"} `+strconv.FormatFloat(float64(pair.Cert.NotAfter.Unix()), 'g', -1, 64))
}

// The log warns once a day of what upstreams are shown, as it does of what clients are.
func TestWarningsOfClientCertificates(t *testing.T) {
	ca := certtest.NewCA(t, "ours")
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // when fake time begins
	leaf := func(ends time.Duration) (certificate, key string) {
		return ca.IssueLeaf(certtest.Leaf{Name: "edge", NotBefore: time.Unix(0, 0), NotAfter: start.Add(ends)}).Write()
	}
	short, shortKey := leaf(26 * time.Hour)
	long, longKey := leaf(200 * time.Hour)
	yaml := usersAt(fmt.Sprintf("server.address: 127.0.0.1\nmanagement.health.ssl.certificate-validity-warning-threshold: 25h\n"+
		"gateway.tls: {users: {certificate: %q, certificate-private-key: %q}, orders: {certificate: %q, certificate-private-key: %q}}\n", short, shortKey, long, longKey), "one:80")
	synctest.Test(t, func(t *testing.T) {
		logger, lines := messages(64)
		p := &place{network: memhttp.NewNetwork()}
		p.running = run(t, newGateway(t, yaml, p.listen(), gozer.WithLogger(logger)))
		told := func(d time.Duration) (warnings, errors []string) {
			after(d)
			for range len(lines) {
				switch line := <-lines; {
				case strings.Contains(line, "certificate ends soon"):
					warnings = append(warnings, line)
				case strings.Contains(line, "certificate has expired"):
					errors = append(errors, line)
				}
			}
			return warnings, errors
		}
		if w, e := told(25*time.Hour + time.Minute); len(w) != 2 || len(e) != 0 || !strings.Contains(w[0], "level=WARN") || !strings.Contains(w[0], "name=gateway.tls.users file="+short) {
			t.Errorf("before the end: %q, %q", w, e)
		}
		if w, e := told(time.Hour); len(w) != 0 || len(e) != 1 || !strings.Contains(e[0], "level=ERROR") {
			t.Errorf("after the end: %q, %q", w, e)
		}
		p.stop()
		if err := <-p.done; err != nil {
			t.Error(err)
		}
	})
}

// Authorities alone are nothing to show, until their file breaks.
func TestAuthoritiesOfUpstreams(t *testing.T) {
	authorities := certtest.NewCA(t, "ours").Write()
	yaml := usersAt(fmt.Sprintf("gateway.tls.users.trust-certificate: %q\n", authorities), "one:80")
	g := newGateway(t, yaml)
	wantCertificates(t, g, map[string]string{"": "UP"})
	if err := os.WriteFile(authorities, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	reload(t, g, yaml)
	wantCertificates(t, g, map[string]string{"": "FILES_UNUSABLE", "gateway.tls.users trust-certificate": "FILES_UNUSABLE"})
}
