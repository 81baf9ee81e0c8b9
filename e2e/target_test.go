package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// kinds are the two ways to an upstream. Both have to carry the same bytes.
var kinds = []string{"url", "service"}

// bothYAML routes /url/** and /service/** to one upstream, which may fail as often as it likes.
func bothYAML(addr string) string {
	return fmt.Sprintf(`
zuul.routes:
  url: {path: /url/**, url: "http://%s"}
  service: {path: /service/**}
  based: {path: /based/**, url: "http://%[1]s/base"}
  slash: {path: /slash/**, url: "http://%[1]s/base/"}
service.ribbon: {listOfServers: "%[1]s", ReadTimeout: 1m}
hystrix.command.service.circuitBreaker.enabled: false
`, addr)
}

func TestTargetBytes(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr))
	for _, tt := range []struct{ name, target string }{
		{"C001 encoded slash", "/files/a%2Fb"},
		{"C002 double encoding", "/ch/x%252F%252Fy%2525"},
		{"percent escapes in any case", "/a%2fb%3Ac%e9%FF"},
		{"characters that need no escape", "/a!$&'()*+,=:@-._~b"},
		{"what browsers do not escape", "/[a]{b}|c^`"},
		{"zuul 91 trailing slash", "/a/"},
		{"zuul 98 encoded blank", "/spa%20ce"},
		{"zuul 31, 80 UTF-8", "/ol%C3%A9%D7%93"},
		{"C019 key without value", "/x?flag&empty=&v=1&flag2"},
		{"C019 lone question mark", "/x?"},
		{"C019 lone ampersand", "/x?&"},
		{"C020 order and repetition", "/x?b=2&a=1&b=1&a=%7e&c[]=1&c[]=2&d=a%20b&e=a+b"},
		{"C021 encoded plus", "/x?q=name%3At%2BState%3AF&z=%26%3D"},
		{"zuul 76 parameters", "/x?a=1234&b=5678"},
		{"zuul 77 wsdl", "/x?wsdl"},
		{"zuul 78, 92 weird#chars", "/query?foo=weird%23chars"},
		{"zuul 79, 93 colons", "/colonquery?foo:bar=baz&foobar=bam&foo%0Cbar=bat"},
		{"zuul 89 JSON in the query", "/x?foo=%7B%22project%22%3A%22stream%22%2C%22logger%22%3A%22javascript%22%2C%22platform%22%3A%22javascript%22%2C%22request%22%3A%7B%22url%22%3A%22https%3A%2F%2Ffoo%2Fadmin%22%7D%7D"},
		{"zuul 99 a parameter twice", "/qstring?original=value1&original=value2"},
		{"zuul 101 placeholder, encoded", "/x?a%3D%24%7Bb%7D"},
		{"zuul 101 placeholder", "/x?a=${b}"},
		{"question marks and slashes in the query", "/x?a=?b=/../c//"},
		{"broken escapes in the query", "/x?a=%zz%"},
	} {
		for _, kind := range kinds {
			t.Run(tt.name+" to a "+kind, func(t *testing.T) {
				t.Parallel()
				g.target("/"+kind+tt.target).reflected(t).wantTarget(t, tt.target)
			})
		}
	}
}

func TestTargetJoins(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr))
	for _, tt := range []struct{ name, target, want string }{
		{"C009 nothing left, URL", "/url", "/"},
		{"C009 nothing left, service", "/service", "/"},
		{"C009 nothing left but a query, URL", "/url?x=1", "/?x=1"},
		{"C009 nothing left but a query, service", "/service?x=1", "/?x=1"},
		{"C009 nothing left, base path", "/based", "/base"},
		{"C009 nothing left but a query, base path", "/based?x=1", "/base?x=1"},
		{"C010 one slash is lost at the join", "/slash/k", "/base/k"},
		{"C010 doubled slashes stay", "/slash//k//l/", "/base//k//l/"},
		{"C010 a URL in the path", "/slash/https://x.test/y", "/base/https://x.test/y"},
		{"C010 doubled slashes stay, URL", "/url//k//l/", "//k//l/"},
		{"C010 doubled slashes stay, service", "/service//k//l/", "//k//l/"},
		{"absolute form", "http://gateway.test/based/k?x=1", "/base/k?x=1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g.target(tt.target).reflected(t).wantTarget(t, tt.want)
		})
	}
}

func TestPrefix(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, fmt.Sprintf(`
zuul:
  prefix: /v1
  routes:
    api: {path: /api/**, url: "http://%s"}
    rest: {path: /**, url: "http://%[1]s/rest"}
`, m.Addr))
	t.Run("C011 a whole segment", func(t *testing.T) {
		g.target("/v1/api/x").reflected(t).wantTarget(t, "/x")
	})
	t.Run("C011 no whole segment", func(t *testing.T) {
		g.target("/v1/apiary/x").reflected(t).wantTarget(t, "/rest/apiary/x")
	})
	for _, outside := range []string{"/api/x", "/v12/api/x"} {
		t.Run("C011 without the prefix "+outside, func(t *testing.T) {
			g.target(outside).wantStatus(t, http.StatusNotFound)
		})
	}
	t.Run("zuul 141 unknown gateway path", func(t *testing.T) {
		a := g.target("/nowhere").wantStatus(t, http.StatusNotFound)
		wantLines(t, a.Body, []string{`"status":404`, `"error":"Not Found"`, `"path":"/nowhere"`})
	})
}

// zuul 153: what a context path did in Zuul, a prefix and a base path do here.
func TestBasePathAndKeptPrefix(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, fmt.Sprintf(`
zuul:
  prefix: /app
  routes:
    self: {path: /self/**, url: "http://%s/app/local"}
    strip: {path: /strip/**, url: "http://%[1]s/app/local", strip-prefix: false}
`, m.Addr))
	g.target("/app/self/1").reflected(t).wantTarget(t, "/app/local/1")
	g.target("/app/strip").reflected(t).wantTarget(t, "/app/local/strip")
}

func TestMatrixParameters(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	t.Run("zuul 94 kept", func(t *testing.T) {
		t.Parallel()
		g := startGateway(t, bothYAML(m.Addr)+"zuul.remove-semicolon-content: false\n")
		for _, kind := range kinds {
			g.target("/"+kind+"/matrix/my;q=2;p=1/more;x=2").reflected(t).wantTarget(t, "/matrix/my;q=2;p=1/more;x=2")
		}
	})
	t.Run("dropped by default", func(t *testing.T) {
		t.Parallel()
		g := startGateway(t, bothYAML(m.Addr))
		for _, kind := range kinds {
			g.target("/"+kind+"/matrix/my;q=2;p=1/more;x=2?a;b").reflected(t).wantTarget(t, "/matrix/my/more?a;b")
		}
	})
}

func TestGuardedPaths(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startCustom(t, fmt.Sprintf(`
zuul.routes:
  open: {path: /open/**, url: "http://%s", strip-prefix: false}
  guarded: {path: /admin/**, url: "http://%[1]s", strip-prefix: false}
`, m.Addr))
	for _, target := range []string{
		"/admin/x", "/open/../admin/x", "/open/%2e%2e/admin/x", "/open/.%2E/admin/x", "/open/a/../../admin/x",
		"/open/%2e%2e%2fadmin/x", "/open/..%2Fadmin/x", "/open/..;/admin/x", "/open/..;a=b/admin/x", `/open/..\admin/x`,
		"/open/..%5cadmin/x", "/open/%252e%252e/admin/x", "/%61dmin/x", "/open/..%00/admin/x",
	} {
		t.Run("C006 "+target, func(t *testing.T) {
			t.Parallel()
			a := g.target(target)
			if a.Status != http.StatusForbidden && a.Status != http.StatusBadRequest {
				t.Errorf("status %d; the upstream saw %.80q", a.Status, a.Body)
			}
		})
	}
	for _, target := range []string{"/open#/../admin/list", "/admin#x", "/open/x?a#b"} {
		t.Run("C014 fragment "+target, func(t *testing.T) {
			t.Parallel()
			g.target(target).wantStatus(t, http.StatusBadRequest)
		})
	}
	t.Run("harmless dots", func(t *testing.T) {
		t.Parallel()
		g.target("/open/a/../b/./c...d/..e").reflected(t).wantTarget(t, "/open/b/c...d/..e")
		g.target("/open//../admin/x").reflected(t).wantTarget(t, "/open/admin/x")
	})
}

func TestQueryChangedByAFilter(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startCustom(t, bothYAML(m.Addr))
	for _, kind := range kinds {
		t.Run("zuul 100 replaced, "+kind, func(t *testing.T) {
			t.Parallel()
			g.Get("/"+kind+"/qstring?override=true&different=key", "X-Test: override-query").
				reflected(t).wantTarget(t, "/qstring?key=overridden")
		})
		t.Run("C021 only the added parameter differs, "+kind, func(t *testing.T) {
			t.Parallel()
			const query = "/x?q=name%3At%2BState%3AF&z=%26%3D&flag&e=a+b"
			g.Get("/"+kind+query, "X-Test: add-parameter").reflected(t).wantTarget(t, query+"&added=1")
		})
	}
}

// A request that could be read in two ways is refused, and no byte of it goes further.
func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr))
	for name, request := range map[string]string{
		"two lengths":                   lines("POST /url/x HTTP/1.1", "Host: a", "Content-Length: 1", "Content-Length: 2") + "ab",
		"C066 length beyond 64 bits":    lines("POST /url/x HTTP/1.1", "Host: a", "Content-Length: 99999999999999999999999"),
		"length that is no number":      lines("POST /url/x HTTP/1.1", "Host: a", "Content-Length: +1") + "a",
		"unknown transfer coding":       lines("POST /url/x HTTP/1.1", "Host: a", "Transfer-Encoding: gzip, chunked") + "0\r\n\r\n",
		"no host":                       lines("GET /url/x HTTP/1.1"),
		"two hosts":                     lines("GET /url/x HTTP/1.1", "Host: a", "Host: b"),
		"blank before the colon":        lines("GET /url/x HTTP/1.1", "Host: a", "X-Bad : 1"),
		"control character in a field":  lines("GET /url/x HTTP/1.1", "Host: a", "X-Bad: a\x00b"),
		"control character in the path": lines("GET /url/\x01 HTTP/1.1", "Host: a"),
		"broken escape in the path":     lines("GET /url/%zz HTTP/1.1", "Host: a"),
	} {
		t.Run(name, func(t *testing.T) {
			a := g.wire(http.MethodGet, request)
			if a.Status < 400 || a.Status > 501 || a.Header.Get("X-Mirror") != "" {
				t.Errorf("status %d: %q", a.Status, a.Body)
			}
		})
	}
	for _, request := range []string{
		lines("TRACE /url/x HTTP/1.1", "Host: a"),
		lines("CONNECT a:80 HTTP/1.1", "Host: a:80"),
	} {
		method, _, _ := strings.Cut(request, " ")
		t.Run(method, func(t *testing.T) {
			a := g.wire(http.MethodGet, request).wantStatus(t, http.StatusMethodNotAllowed)
			if a.Header.Get("Allow") == "" {
				t.Error("the answer lacks Allow")
			}
		})
	}
	if n := m.requests.Load(); n != 0 {
		t.Errorf("%d of them reached the upstream", n)
	}
}
