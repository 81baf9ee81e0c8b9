package e2e_test

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/certtest"
)

// ssl is the health of the certificates.
func (g *gateway) ssl() (status string, details string) {
	g.tb.Helper()
	a, err := g.tryGet(g.AdminURL("/actuator/health"))
	if err != nil {
		g.tb.Fatal(err)
	}
	var health struct {
		Components map[string]struct {
			Status  string          `json:"status"`
			Details json.RawMessage `json:"details"`
		} `json:"components"`
	}
	if err := json.Unmarshal([]byte(a.Body), &health); err != nil {
		g.tb.Fatal(err)
	}
	return health.Components["ssl"].Status, string(health.Components["ssl"].Details)
}

// swap is a folder whose content changes as that of a secret that Kubernetes mounts: by the
// swap of a link.
type swap struct {
	tb   testing.TB
	dir  string
	turn int
}

func newSwap(tb testing.TB, p *certtest.Pair) *swap {
	tb.Helper()
	s := &swap{tb: tb, dir: tb.TempDir()}
	s.To(p)
	link(tb, "..data/tls.crt", filepath.Join(s.dir, "tls.crt"))
	link(tb, "..data/tls.key", filepath.Join(s.dir, "tls.key"))
	return s
}

func (s *swap) files() (cert, key string) {
	return filepath.Join(s.dir, "tls.crt"), filepath.Join(s.dir, "tls.key")
}

// To replaces the content.
func (s *swap) To(p *certtest.Pair) {
	s.tb.Helper()
	s.turn++
	name := fmt.Sprintf("..%d", s.turn)
	folder(s.tb, filepath.Join(s.dir, name))
	p.Replace(filepath.Join(s.dir, name, "tls.crt"), filepath.Join(s.dir, name, "tls.key"))
	link(s.tb, name, filepath.Join(s.dir, "..next"))
	rename(s.tb, filepath.Join(s.dir, "..next"), filepath.Join(s.dir, "..data"))
}

func folder(tb testing.TB, path string) {
	tb.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		tb.Fatal(err)
	}
}

func link(tb testing.TB, to, path string) {
	tb.Helper()
	if err := os.Symlink(to, path); err != nil {
		tb.Fatal(err)
	}
}

func rename(tb testing.TB, from, to string) {
	tb.Helper()
	if err := os.Rename(from, to); err != nil {
		tb.Fatal(err)
	}
}

// Certificates change while a stream, a tunnel and requests on an open connection go on.
func TestCertificatesRotateWithoutACut(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	pieces := make(chan string)
	b := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/stream" {
			identify().ServeHTTP(w, r)
			return
		}
		_ = http.NewResponseController(w).Flush()
		for piece := range pieces {
			_, _ = io.WriteString(w, piece)
			_ = http.NewResponseController(w).Flush()
		}
	}))
	mounted := newSwap(t, a.server.Issue("g.test"))
	cert, key := mounted.files()
	g := startGateway(t, secureFiles(cert, key, b, "gateway.ssl.watch-interval: 50ms", "api.ribbon.ReadTimeout: 1m"))

	stream, err := g.dialTLS(a.trusting("g.test"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, stream, lines("GET /api/stream HTTP/1.1", "Host: g.test"))
	streamed := bufio.NewReader(stream)
	res, err := http.ReadResponse(streamed, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	kept, err := g.dialTLS(a.trusting("g.test"))
	if err != nil {
		t.Fatal(err)
	}
	keptIn := bufio.NewReader(kept)
	for turn := range 5 {
		next := a.server.Issue("g.test")
		mounted.To(next)
		eventually(t, "the new certificate is shown", func() bool { return g.shown(a.trusting("g.test")) == serialOf(next) })
		pieces <- fmt.Sprint("piece ", turn)
		var piece [7]byte
		if _, err := io.ReadFull(res.Body, piece[:]); err != nil || string(piece[:]) != fmt.Sprint("piece ", turn) {
			t.Fatalf("the stream has %q, %v", piece, err)
		}
		if answer, err := askOn(kept, keptIn, "g.test"); err != nil || answer.Status != http.StatusOK {
			t.Fatalf("the open connection: %v, %v", answer, err)
		}
	}
	close(pieces)
	if rest, err := io.ReadAll(res.Body); len(rest) > 0 || err != nil {
		t.Errorf("the stream ends with %q, %v", rest, err)
	}
}

// Files that cannot be used keep the old certificate, and everybody hears of it.
func TestBrokenCertificatesChangeNothing(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	b := backendtest.Start(t, identify())
	good, other, next := a.server.Issue("g.test"), a.server.Issue("g.test"), a.server.Issue("g.test")
	cert, key := good.Write()
	yaml := secureFiles(cert, key, b, "gateway.ssl.watch-interval: 50ms", "management.health.ssl.certificate-validity-warning-threshold: 1m")
	g := startGateway(t, yaml)
	if status, _ := g.ssl(); status != "UP" {
		t.Errorf("the health begins with %s", status)
	}
	const told = "certificate files cannot be used, what they held before stays"
	for turn, breakIt := range []func(){
		func() { replaceFile(t, cert, other.CertPEM) }, // its key has not come yet
		func() { replaceFile(t, cert, []byte("garbage")) },
		func() { remove(t, cert) },
	} {
		breakIt()
		eventually(t, "the log tells", func() bool { return g.Log.Count(told) == turn+1 })
		if got := g.shown(a.trusting("g.test")); got != serialOf(good) {
			t.Errorf("broken in way %d: shown %s", turn, got)
		}
		if status, details := g.ssl(); status != "FILES_UNUSABLE" || !strings.Contains(details, `"problem"`) {
			t.Errorf("broken in way %d: the health is %s %s", turn, status, details)
		}
	}
	g.Reload(yaml+"zuul.prefix: /x\n", refused)
	if got := g.shown(a.trusting("g.test")); got != serialOf(good) {
		t.Errorf("after a refused reload: shown %s", got)
	}
	next.Replace(cert, key)
	eventually(t, "the next certificate is shown", func() bool { return g.shown(a.trusting("g.test")) == serialOf(next) })
	eventually(t, "the health is good again", func() bool { status, _ := g.ssl(); return status == "UP" })
	a.server.Expired("g.test").Replace(cert, key)
	eventually(t, "the health tells of the end", func() bool { status, _ := g.ssl(); return status == "EXPIRED" })
	eventually(t, "the log tells of the end", func() bool { return g.Log.Count("certificate has expired") == 1 })
	if status := g.readiness(); status != http.StatusOK {
		t.Errorf("readiness is %d", status)
	}
}

func replaceFile(tb testing.TB, file string, content []byte) {
	tb.Helper()
	if err := os.WriteFile(file+".new", content, 0o600); err != nil {
		tb.Fatal(err)
	}
	rename(tb, file+".new", file)
}

func remove(tb testing.TB, file string) {
	tb.Helper()
	if err := os.Remove(file); err != nil {
		tb.Fatal(err)
	}
}

// What a reload changes about TLS, and what it says about the rest.
func TestReloadOfTLS(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	b := backendtest.Start(t, identify())
	first, second := a.server.Issue("g.test"), a.server.Issue("g.test")
	cert, key := second.Write()
	// The file is not watched, or a slow test would have two reloads for one.
	yaml := func(cert, key string, further ...string) string {
		return secureFiles(cert, key, b, append(further, "gateway.reload.watch: false")...)
	}
	g := startGateway(t, yaml(first.Write()))
	client := a.trusting("g.test")
	client.ClientSessionCache = tls.NewLRUClientSessionCache(4)
	for range 2 {
		if answer, err := g.getTLS(client, "g.test"); err != nil || answer.Status != http.StatusOK {
			t.Fatalf("%v, %v", answer, err)
		}
	}
	g.Reload(yaml(cert, key, "gateway.ssl.watch-interval: 1m"), reloaded)
	if got := g.shown(a.trusting("g.test")); got != serialOf(second) {
		t.Errorf("after the reload: shown %s", got)
	}
	if g.Log.Count(`msg="needs a restart, the value of the start stays" key=gateway.ssl.watch-interval`) != 1 {
		t.Error("the log does not say that the interval needs a restart")
	}
	g.Reload(yaml(cert, key, "server.ssl.client-auth: need", "server.ssl.trust-certificate: "+a.trust), reloaded)
	if answer, err := g.getTLS(client, "g.test"); err == nil { // it would resume its session
		t.Errorf("a client without a certificate gets %d", answer.Status)
	}
	if answer, err := g.getTLS(a.trusting("g.test", a.client.Issue("alice")), "g.test"); err != nil || answer.Status != http.StatusOK {
		t.Errorf("a client with a certificate: %v, %v", answer, err)
	}
	g.Reload(yaml(cert, key, "server.ssl.enabled: false"), reloaded)
	if g.Log.Count(`key=server.ssl.enabled`) != 1 {
		t.Error("the log does not say that TLS off needs a restart")
	}
	g.Reload(yaml(cert+".none", key), refused)
	if got := g.shown(a.trusting("g.test", a.client.Issue("alice"))); got != serialOf(second) {
		t.Errorf("after a refused reload: shown %s", got)
	}
}

// HTTP/1.1 over TLS does what it does without.
func TestHTTPOverTLS(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	echo := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }))
	switcher := backendtest.Start(t, switching())
	g := startGateway(t, secureYAML(a.server.Issue("g.test"), echo,
		"zuul.routes.up: {path: /up/**, url: \""+switcher.URL()+"\"}", "logging.level.root: debug"))
	impatient := startGateway(t, secureYAML(a.server.Issue("g.test"), echo, "gateway.limits.header-timeout: 5s"))
	t.Run("keep-alive", func(t *testing.T) {
		conn, err := g.dialTLS(a.trusting("g.test"))
		if err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(conn)
		for range 100 {
			if answer, err := askOn(conn, r, "g.test"); err != nil || answer.Status != http.StatusOK {
				t.Fatalf("%v, %v", answer, err)
			}
		}
	})
	t.Run("large bodies both ways", func(t *testing.T) {
		conn, err := g.dialTLS(a.trusting("g.test"))
		if err != nil {
			t.Fatal(err)
		}
		const size = 8 << 20
		sent := make(chan error, 1)
		go func() {
			_, err := io.WriteString(conn, lines("POST /api/x HTTP/1.1", "Host: g.test", fmt.Sprintf("Content-Length: %d", size)))
			if err == nil {
				_, err = io.CopyN(conn, newStream(), size)
			}
			sent <- err
		}()
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		want, err := summary(io.LimitReader(newStream(), size))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := summary(res.Body); got != want || err != nil {
			t.Errorf("got %s, want %s, %v", got, want, err)
		}
		if err := receive(t, "the upload", sent); err != nil {
			t.Error(err)
		}
	})
	t.Run("upgrade and half-close", func(t *testing.T) {
		conn, err := g.dialTLS(a.trusting("g.test"))
		if err != nil {
			t.Fatal(err)
		}
		write(t, conn, lines("GET /up/x HTTP/1.1", "Host: g.test", "Connection: Upgrade", "Upgrade: websocket"))
		r := bufio.NewReader(conn)
		res, err := http.ReadResponse(r, nil)
		if err != nil || res.StatusCode != http.StatusSwitchingProtocols {
			t.Fatalf("%v, %v", res, err)
		}
		_ = res.Body.Close()
		write(t, conn, "hello")
		if err := conn.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if rest, err := io.ReadAll(r); string(rest) != "HELLObye" || err != nil {
			t.Errorf("the tunnel says %q, %v", rest, err)
		}
	})
	t.Run("a request without TLS", func(t *testing.T) {
		if answer := g.wire(http.MethodGet, lines("GET / HTTP/1.1", "Host: g.test")); answer.Status != http.StatusBadRequest || !strings.Contains(answer.Body, "HTTPS") {
			t.Errorf("%+v", answer)
		}
	})
	for name, first := range map[string]string{"C228 nothing": "", "C228 half a hello": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := dial(t, impatient.Proxy)
			write(t, conn, first)
			if _, err := io.ReadAll(conn); err != nil && !errors.Is(err, net.ErrClosed) && !strings.Contains(err.Error(), "reset") {
				t.Error(err) // it would be the time-out of the test
			}
		})
	}
	t.Run("C228 TLS and then nothing", func(t *testing.T) {
		t.Parallel()
		conn, err := impatient.dialTLS(a.trusting("g.test"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(conn); err != nil {
			t.Error(err)
		}
	})
}

// The redirect leads to the proxy, and nowhere else.
func TestRedirectToHTTPS(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	b := backendtest.Start(t, identify())
	g := startGateway(t, secureYAML(a.server.Issue("g.test", "*.shop.test", "127.0.0.1"), b, "gateway.ssl.redirect-port: 0",
		"gateway.ssl.redirect-hosts: alias.test", "gateway.ssl.hsts: {max-age: 365d, include-sub-domains: true}"))
	plain := *g
	plain.Proxy = g.Log.address(t, "redirect", g.ended)
	_, port, _ := strings.Cut(g.Proxy, ":")
	for name, row := range map[string]struct{ host, target, location string }{
		"path and query":     {"g.test", "/a%2Fb//c;d?x=%2B&y=a%20b?", "https://g.test:" + port + "/a%2Fb//c;d?x=%2B&y=a%20b?"},
		"port in Host":       {"g.test:80", "/", "https://g.test:" + port + "/"},
		"wildcard":           {"a.shop.test", "/", "https://a.shop.test:" + port + "/"},
		"address":            {"127.0.0.1", "/", "https://127.0.0.1:" + port + "/"},
		"another name":       {"ALIAS.test.", "/", "https://ALIAS.test.:" + port + "/"},
		"two slashes":        {"g.test", "//evil.test/x", "https://g.test:" + port + "//evil.test/x"},
		"absolute form":      {"g.test", "http://g.test/x?y", "https://g.test:" + port + "/x?y"},
		"a stranger":         {"evil.test", "/", ""},
		"a stranger's URL":   {"g.test", "http://evil.test/", ""},
		"wildcard as host":   {"*.shop.test", "/", ""},
		"user information":   {"g.test@evil.test", "/", ""},
		"two labels":         {"a.b.shop.test", "/", ""},
		"backslash":          {"g.test", "/\\evil.test", ""},
		"bytes beyond ASCII": {"g.test", "/\xff", ""},
	} {
		t.Run(name, func(t *testing.T) {
			answer := plain.wire(http.MethodPost, lines("POST "+row.target+" HTTP/1.1", "Host: "+row.host, "Content-Length: 0", "Connection: close"))
			got, ok := answer.Header["Location"]
			switch {
			case row.location == "" && (ok || answer.Status < 400 || answer.Status > 499):
				t.Errorf("%d to %q", answer.Status, got)
			case row.location != "" && (answer.Status != http.StatusPermanentRedirect || answer.Header.Get("Location") != row.location):
				t.Errorf("%d to %q", answer.Status, got)
			}
			if answer.Header.Get("Strict-Transport-Security") != "" {
				t.Error("HSTS without TLS")
			}
		})
	}
	answer, err := g.getTLS(a.trusting("g.test"), "g.test")
	if err != nil || strings.Join(answer.Header["Strict-Transport-Security"], "|") != "max-age=31536000; includeSubDomains" {
		t.Errorf("%+v, %v", answer, err)
	}
}

// The management port asks for certificates by itself.
func TestManagementOverTLS(t *testing.T) {
	t.Parallel()
	a := newAuthorities(t)
	cert, key := a.server.Issue("127.0.0.1").Write()
	g := start{args: []string{"--set", "server.port=0", "--set", "management.server.port=0"}, yaml: fmt.Sprintf("management.server.ssl:\n  certificate: %s\n  certificate-private-key: %s\n  client-auth: need\n  trust-certificate: %s\n", cert, key, a.trust)}.launch(t)
	g.Admin = g.Log.address(t, "management", g.ended)
	ask := func(c *tls.Config) (int, error) {
		client := newClient(t)
		client.Transport.(*http.Transport).TLSClientConfig = c
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+g.Admin+"/actuator/health/readiness", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		res, err := client.Do(req)
		if err != nil {
			return 0, err
		}
		return res.StatusCode, res.Body.Close()
	}
	eventually(t, "it is ready", func() bool {
		status, err := ask(a.trusting("", a.client.Issue("operator")))
		return err == nil && status == http.StatusOK
	})
	if status, err := ask(a.trusting("")); err == nil {
		t.Errorf("without a certificate: %d", status)
	}
}
