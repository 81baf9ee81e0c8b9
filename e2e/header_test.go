package e2e_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

func TestRequestFields(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startCustom(t, bothYAML(m.Addr))
	for _, kind := range kinds {
		ask := func(t *testing.T, method string, fields ...string) reflection {
			t.Helper()
			head := append([]string{method + " /" + kind + "/x HTTP/1.1", "Host: gateway.test"}, fields...)
			return g.wire(method, lines(head...)).reflected(t)
		}
		t.Run("C030 hop-by-hop, "+kind, func(t *testing.T) {
			t.Parallel()
			r := ask(t, http.MethodGet, "Connection: close, X-Hop, HTTP2-Settings", "X-Hop: 1", "HTTP2-Settings: AAMAAABk",
				"Keep-Alive: timeout=5", "Upgrade: foo/2", "Proxy-Connection: keep-alive", "Proxy-Authorization: Basic eA==", "TE: trailers, deflate", "X-Stay: 2")
			for _, gone := range []string{"X-Hop", "HTTP2-Settings", "Keep-Alive", "Upgrade", "Proxy-Connection", "Proxy-Authorization"} {
				r.wantField(t, gone)
			}
			r.wantField(t, "TE", "trailers")
			r.wantField(t, "X-Stay", "2")
			if slices.Contains(r.Values("Connection"), "close") {
				t.Error("the client's Connection: close went further")
			}
		})
		t.Run("C031 Connection cannot delete the gateway's own fields, "+kind, func(t *testing.T) {
			t.Parallel()
			r := ask(t, http.MethodGet, "X-Test: identity", "X-User: admin",
				"Connection: X-User, X-Forwarded-For, X-Forwarded-Host, X-Forwarded-Proto, X-Forwarded-Prefix")
			r.wantField(t, "X-User", "u1")
			r.wantField(t, "X-Forwarded-For", "127.0.0.1")
			r.wantField(t, "X-Forwarded-Host", "gateway.test")
			r.wantField(t, "X-Forwarded-Proto", "http")
			r.wantField(t, "X-Forwarded-Prefix", "/"+kind)
		})
		t.Run("forged X-Forwarded fields, "+kind, func(t *testing.T) {
			t.Parallel()
			r := ask(t, http.MethodGet, "X-Forwarded-For: 6.6.6.6", "X-Forwarded-Host: evil.test", "X-Forwarded-Proto: https", "Forwarded: for=6.6.6.6")
			r.wantField(t, "X-Forwarded-For", "127.0.0.1")
			r.wantField(t, "X-Forwarded-Host", "gateway.test")
			r.wantField(t, "X-Forwarded-Proto", "http")
			r.wantField(t, "X-Forwarded-Port", "80")
			r.wantField(t, "Forwarded")
		})
		t.Run("C045 Accept-Encoding, "+kind, func(t *testing.T) {
			t.Parallel()
			ask(t, http.MethodGet).wantField(t, "Accept-Encoding")
			ask(t, http.MethodGet, "Accept-Encoding: identity").wantField(t, "Accept-Encoding", "identity")
			ask(t, http.MethodGet, "Accept-Encoding: br;q=1, gzip;q=0").wantField(t, "Accept-Encoding", "br;q=1, gzip;q=0")
		})
		t.Run("zuul 95 nothing is invented, "+kind, func(t *testing.T) {
			t.Parallel()
			r := g.wire(http.MethodPost, lines("POST /"+kind+"/content-type HTTP/1.1", "Host: gateway.test", "Content-Length: 3")+"a=1").reflected(t)
			for _, name := range []string{"Content-Type", "User-Agent", "Accept", "Accept-Encoding", "Cookie", "Cache-Control"} {
				r.wantField(t, name)
			}
		})
		t.Run("zuul 84, 86 fields pass in order, "+kind, func(t *testing.T) {
			t.Parallel()
			r := ask(t, http.MethodGet, "X-Two: a", "Content-Encoding: identity", "X-Two: b, c", "X-Empty:", "User-Agent: me/1.0")
			r.wantField(t, "X-Two", "a", "b, c")
			r.wantField(t, "Content-Encoding", "identity")
			r.wantField(t, "X-Empty", "")
			r.wantField(t, "User-Agent", "me/1.0")
		})
		t.Run("zuul 85 Host is the upstream's, "+kind, func(t *testing.T) {
			t.Parallel()
			ask(t, http.MethodGet).wantField(t, "Host", m.Addr)
		})
		t.Run("sensitive fields, "+kind, func(t *testing.T) {
			t.Parallel()
			r := ask(t, http.MethodGet, "Cookie: a=b", "Authorization: Bearer x", "X-Other: 1")
			r.wantField(t, "Cookie")
			r.wantField(t, "Authorization")
			r.wantField(t, "X-Other", "1")
		})
		t.Run("zuul 134 ignored by a filter, "+kind, func(t *testing.T) {
			t.Parallel()
			r := ask(t, http.MethodGet, "X-Test: ignore-header", "X-Ignored: 1", "X-NotIgnored: 2")
			r.wantField(t, "X-Ignored")
			r.wantField(t, "X-NotIgnored", "2")
		})
	}
}

func TestForwardedHeadersOfTrustedProxies(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr)+"server.forward-headers.trusted-proxies: 127.0.0.0/8\nzuul.add-host-header: true\n")
	r := g.wire(http.MethodGet, lines("GET /url/x HTTP/1.1", "Host: localhost:8080",
		"X-Forwarded-For: 1.2.3.4", "X-Forwarded-Host: example.com", "X-Forwarded-Proto: https", "X-Forwarded-Prefix: /prefix")).reflected(t)
	t.Run("zuul 2, 9, 10", func(t *testing.T) {
		r.wantField(t, "X-Forwarded-For", "1.2.3.4, 127.0.0.1")
		r.wantField(t, "X-Forwarded-Host", "example.com,localhost:8080")
		r.wantField(t, "X-Forwarded-Port", "443,8080")
		r.wantField(t, "X-Forwarded-Proto", "https,http")
		r.wantField(t, "X-Forwarded-Prefix", "/prefix/url")
	})
	t.Run("zuul 8, 85 add-host-header", func(t *testing.T) {
		r.wantField(t, "Host", "localhost:8080")
	})
}

func TestResponseFields(t *testing.T) {
	t.Parallel()
	b := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Connection", "X-Back")
		h.Set("X-Back", "1")
		h.Set("X-Stay", "2")
		h.Set("X-Header", "ignored")
		h.Set("X-Application-Context", "upstream")
		h.Set("Keep-Alive", "timeout=5")
		h["X-Two"] = []string{"a", "b"}
		for _, c := range cookies {
			h.Add("Set-Cookie", c)
		}
		h["X-Saw-Cookie"] = r.Header["Cookie"]
		if r.URL.Path == "/moved" {
			h.Set("Location", "http://elsewhere.test/x?y")
			w.WriteHeader(http.StatusFound)
		}
	}))
	yaml := func(sensitive string) string {
		return fmt.Sprintf(`
zuul:
  ignored-headers: X-Header
  routes:
    url: {path: /url/**, url: "http://%s"%s}
    service: {path: /service/**%[2]s}
service.ribbon.listOfServers: %[1]s
`, b.Addr, sensitive)
	}
	hidden, shown := startCustom(t, yaml("")), startCustom(t, yaml(`, sensitive-headers: ""`))
	for _, kind := range kinds {
		t.Run("C030 hop-by-hop, "+kind, func(t *testing.T) {
			t.Parallel()
			h := hidden.Get("/"+kind+"/x").wantStatus(t, http.StatusOK).Header
			if h["X-Back"] != nil || h["Keep-Alive"] != nil || h.Get("X-Stay") != "2" || !slices.Equal(h["X-Two"], []string{"a", "b"}) {
				t.Errorf("got %v", h)
			}
		})
		t.Run("zuul 96 ignored, "+kind, func(t *testing.T) {
			t.Parallel()
			if h := hidden.Get("/" + kind + "/x").Header; h["X-Header"] != nil {
				t.Errorf("got %v", h)
			}
		})
		t.Run("zuul 97 a field of the gateway and the upstream, "+kind, func(t *testing.T) {
			t.Parallel()
			h := hidden.Get("/"+kind+"/x", "X-Test: application-context").Header
			if got := h["X-Application-Context"]; !slices.Equal(got, []string{"gateway"}) {
				t.Errorf("got %q", got)
			}
		})
		t.Run("zuul 132, C061 Set-Cookie hidden by default, "+kind, func(t *testing.T) {
			t.Parallel()
			for _, path := range []string{"/x", "/moved"} {
				if h := hidden.Get("/" + kind + path).Header; h["Set-Cookie"] != nil {
					t.Errorf("got %v", h)
				}
			}
		})
		t.Run("zuul 132, C061 Set-Cookie passes when nothing is sensitive, "+kind, func(t *testing.T) {
			t.Parallel()
			for _, path := range []string{"/x", "/moved"} {
				if got := shown.Get("/" + kind + path).Header["Set-Cookie"]; !slices.Equal(got, cookies) {
					t.Errorf("got %q", got)
				}
			}
		})
		t.Run("zuul 132, C055 no cookie jar, "+kind, func(t *testing.T) {
			t.Parallel()
			for range 3 {
				if got := shown.Get("/" + kind + "/x").Header["X-Saw-Cookie"]; got != nil {
					t.Errorf("the upstream saw %q", got)
				}
			}
			if got := shown.Get("/"+kind+"/x", "Cookie: own=1").Header["X-Saw-Cookie"]; !slices.Equal(got, []string{"own=1"}) {
				t.Errorf("the upstream saw %q", got)
			}
		})
		t.Run("zuul 114 redirects are for the client, "+kind, func(t *testing.T) {
			t.Parallel()
			a := hidden.Get("/"+kind+"/moved").wantStatus(t, http.StatusFound)
			if got := a.Header.Get("Location"); got != "http://elsewhere.test/x?y" {
				t.Errorf("Location %q", got)
			}
		})
	}
}

var cookies = []string{
	"sid=A; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/",
	"__Host-a=b; Secure; Path=/; Partitioned",
	`odd="x, y; z"`,
}

// zuul 131: the rewrite is there when its filter is switched on.
func TestLocationRewrite(t *testing.T) {
	t.Parallel()
	var self string
	b := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", self+"/redirectedUri;someparam?param1=abc")
		w.WriteHeader(http.StatusFound)
	}))
	self = b.URL()
	for _, switchedOn := range []bool{false, true} {
		g := startGateway(t, bothYAML(b.Addr)+fmt.Sprintf("gateway.filters.LocationRewriteFilter.enabled: %t\n", switchedOn))
		for _, kind := range kinds {
			got := g.Get("/"+kind+"/x").wantStatus(t, http.StatusFound).Header.Get("Location")
			want := self + "/redirectedUri;someparam?param1=abc"
			if switchedOn {
				want = g.URL("/" + kind + "/redirectedUri;someparam?param1=abc")
			}
			if got != want {
				t.Errorf("%s, on %t: Location %q, want %q", kind, switchedOn, got, want)
			}
		}
	}
}

// C225: the proxy port serves no management, and logs hold no credentials.
func TestSecretsStayInside(t *testing.T) {
	t.Parallel()
	b := backendtest.Start(t, backendtest.HangUp())
	g := startGateway(t, bothYAML(b.Addr)+"logging.level.root: trace\n")
	for _, path := range []string{"/actuator/routes", "/actuator/health", "/routes", "/debug/pprof/"} {
		g.Get(path).wantStatus(t, http.StatusNotFound)
	}
	for _, kind := range kinds {
		g.Get("/"+kind+"/x?access_token=hunter2", "Authorization: Bearer hunter2", "Cookie: sid=hunter2").wantStatus(t, http.StatusBadGateway)
	}
	eventually(t, "the failures are logged", func() bool { return g.Log.Count(`msg="request failed"`) >= len(kinds) })
	if strings.Contains(g.Log.String(), "hunter2") {
		t.Error("the log holds a secret")
	}
}
