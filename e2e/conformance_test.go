package e2e_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// The rows of the HTTP checklist (M: messages, S: semantics, K: caches, W: WebSocket,
// F and X: forwarded fields, R: priorities, Z: related) that concern the gateway as a
// whole. Those about one side of it are tested in internal/http1.

// allPass lets every field through that is not hop-by-hop.
const allPass = "zuul.sensitive-headers: \"\"\n"

// nativeOnly skips what net/http reads more leniently than the gateway's own engine.
func nativeOnly(t *testing.T) {
	t.Helper()
	if !onNative() {
		t.Skip("with this engine it is as docs/differences.md says")
	}
}

// talk sends exact bytes on a new connection and returns all that comes until its end.
func (g *gateway) talk(request string) string {
	g.tb.Helper()
	c := dial(g.tb, g.Proxy)
	write(g.tb, c, request)
	all, err := io.ReadAll(c)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) {
		g.tb.Fatalf("after %.300q: %v", all, err)
	}
	return string(all)
}

// wantLines fails the test unless every field named has just the values that stand
// there. A name alone is a field that must not be there.
func (r reflection) wantLines(tb testing.TB, fields []string) {
	tb.Helper()
	want := map[string][]string{}
	for _, line := range fields {
		name, value, there := strings.Cut(line, ":")
		if want[name] = append(want[name], strings.TrimPrefix(value, " ")); !there {
			want[name] = nil
		}
	}
	for name, values := range want {
		r.wantField(tb, name, values...)
	}
}

func TestRequestsGoFurther(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr)+allPass)
	same := func(fields ...string) [2][]string { return [2][]string{fields, fields} }
	becomes := func(sent, want []string) [2][]string { return [2][]string{sent, want} }
	for _, tt := range []struct {
		name, method string
		fields       [2][]string // sent, and as the upstream has to see them
	}{
		{"S01 an odd name", "GET", same("!#$%&'*+-.^_`|~09aZ: odd")},
		{"S02 order of equal names", "GET", same("X-A: 2", "X-B: 0", "X-A: 1")},
		{"S05 white space around a value", "GET", becomes([]string{"X-A: \t 1  2 \t", "X-B:3"}, []string{"X-A: 1  2", "X-B: 3"})},
		{"S06 empty members", "GET", becomes([]string{"Connection: ,, X-Hop,,", "X-Hop: 1"}, []string{"X-Hop", "Connection"})},
		{"S06 many empty members", "GET", becomes([]string{"Connection: " + strings.Repeat(",", 5000) + "x-hop", "X-Hop: 1"}, []string{"X-Hop"})},
		{"S09 one Host, that of the server", "GET", becomes(nil, []string{"Host: " + m.Addr})},
		{"S12 every Connection line", "GET", becomes([]string{"Connection: X-One", "X-One: 1", "X-Two: 2", "X-Three: 3", "Connection: keep-alive, x-two"},
			[]string{"X-One", "X-Two", "X-Three: 3", "Connection"})},
		{"S13 Keep-Alive", "GET", becomes([]string{"Keep-Alive: timeout=5"}, []string{"Keep-Alive"})},
		{"S13 Proxy-Connection", "GET", becomes([]string{"Proxy-Connection: keep-alive"}, []string{"Proxy-Connection", "Connection"})},
		{"S13 Upgrade", "GET", becomes([]string{"Upgrade: websocket"}, []string{"Upgrade", "Connection"})},
		{"S13 TE", "GET", becomes([]string{"TE: deflate"}, []string{"Te", "Connection"})},
		{"M41 S33 TE of this hop", "GET", becomes([]string{"TE: deflate, trailers", "Connection: TE"}, []string{"Te: trailers"})},
		{"S14 Connection names what the gateway adds", "POST", becomes(
			[]string{"Connection: X-Forwarded-For, Host, Content-Length, Via", "Content-Length: 2"},
			[]string{"X-Forwarded-For: 127.0.0.1", "Host: " + m.Addr, "Content-Length: 2", "Via: 1.1 gozer"})},
		{"S15 Max-Forwards of OPTIONS", "OPTIONS", becomes([]string{"Max-Forwards: 5"}, []string{"Max-Forwards: 4"})},
		{"S15 Max-Forwards of another method", "GET", same("Max-Forwards: 0")},
		{"S16 Via", "GET", becomes([]string{"Via: 1.0 a, 1.1 b"}, []string{"Via: 1.0 a, 1.1 b", "Via: 1.1 gozer"})},
		{"S25 M08 an unknown method", "PURGE", same("X-A: 1")},
		{"S25 M08 another one", "X-Y", same("X-A: 1")},
		{"S25 M08 a method in lower case", "get", same("X-A: 1")},
		{"S37 Authorization", "GET", same(`Authorization: Digest a="b",  c=d`)},
		{"S38 Proxy-Authorization", "GET", becomes([]string{"Proxy-Authorization: Basic eA=="}, []string{"Proxy-Authorization"})},
		{"S39 no Accept-Encoding", "GET", becomes(nil, []string{"Accept-Encoding"})},
		{"S39 Accept-Encoding", "GET", same("Accept-Encoding: br;q=1, gzip;q=0")},
		{"S41 conditions and ranges", "GET", same(`If-None-Match: "a", W/"b"`, "If-Modified-Since: Mon, 01 Jan 2024 00:00:00 GMT", `If-Match: *`,
			"If-Unmodified-Since: x", `If-Range: "a"`, "Range: bytes=0-1,5-")},
		{"K01 S18 directives", "GET", same(`Cache-Control: private="x", foo=bar, no-transform, max-age=0`)},
		{"K04 Warning", "GET", same("Warning: 199 - x", "Cache-Control: no-cache", "Pragma: no-cache")},
		{"R01 Priority", "GET", same("Priority: u=1, i, x=?1")},
		{"R02 Priority without sense", "GET", same("Priority: u=99;;")},
		{"Z02 cookies", "GET", same("Cookie: a=1; b=2; c=\"3\"")},
		{"Z05 preflight", "OPTIONS", same("Origin: https://o.test", "Access-Control-Request-Method: PUT", "Access-Control-Request-Headers: x-a")},
	} {
		for _, kind := range kinds {
			t.Run(tt.name+", "+kind, func(t *testing.T) {
				t.Parallel()
				body := ""
				if tt.method == http.MethodPost {
					body = "hi"
				}
				r := g.wire(tt.method, lines(append([]string{tt.method + " /" + kind + "/x HTTP/1.1", "Host: gateway.test"}, tt.fields[0]...)...)+body).reflected(t)
				if r.Method != tt.method || r.Body != body {
					t.Errorf("%s with %q arrived", r.Method, r.Body)
				}
				r.wantLines(t, tt.fields[1])
			})
		}
	}
}

func TestRequestLines(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr))
	for _, tt := range []struct {
		name, line, want string
		fields           []string
	}{
		{"M06 S16 received as HTTP/1.0", "GET /url/x HTTP/1.0", "/x", []string{"Via: 1.0 gozer"}},
		{"M12 nothing left of the path", "GET /url?a HTTP/1.1", "/?a", nil},
		{"M13 absolute form", "GET http://other.test/url/x?a HTTP/1.1", "/x?a", []string{"X-Forwarded-Host: other.test"}},
		{"S17 Z04 bytes of path and query", "GET /url/a%2Fb//%7e!$&'()*+,=:@/./x/../y?b=%7e&&a=/../ HTTP/1.1", "/a%2Fb//%7e!$&'()*+,=:@/y?b=%7e&&a=/../", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := g.wire(http.MethodGet, lines(tt.line, "Host: gateway.test")).reflected(t)
			r.wantTarget(t, tt.want)
			r.wantLines(t, tt.fields)
		})
	}
}

// What is refused never reaches an upstream, ends its connection and harms nobody else.
func TestRefusalsEndTheConnection(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr))
	const host, next = "Host: gateway.test", "GET /url/smuggled HTTP/1.1\r\nHost: gateway.test\r\n\r\n"
	get := func(fields ...string) string { return lines(append([]string{"GET /url/x HTTP/1.1"}, fields...)...) }
	post := func(fields ...string) string {
		return lines(append([]string{"POST /url/x HTTP/1.1", host}, fields...)...)
	}
	tests := []struct{ name, request, status string }{
		{"M02 S04 bare CR", get(host, "X-A: a\rb"), "400"},
		{"M05 TLS on the plain port", "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03\r\n\r\n", "400"},
		{"M11 no Host", get(), "400"},
		{"M11 two Hosts", get(host, host), "400"},
		{"M14 authority form", lines("GET a:80 HTTP/1.1", host), "400"},
		{"M18 space before the colon", post("Content-Length : 5") + "hello", "400"},
		{"M20 folded Transfer-Encoding", post("Transfer-Encoding:", " chunked") + "0\r\n\r\n", "400"},
		{"M24 unknown coding", post("Transfer-Encoding: gzip, chunked") + "0\r\n\r\n", "501"},
		{"M26 M55 CL.TE", post("Content-Length: 6", "Transfer-Encoding: chunked") + "0\r\n\r\nG" + next, "400"},
		{"M26 M55 TE.CL", post("Transfer-Encoding: chunked", "Content-Length: 4") + "5c\r\n" + next, "400"},
		{"M27 chunked in HTTP/1.0", lines("POST /url/x HTTP/1.0", "Transfer-Encoding: chunked") + "0\r\n\r\n", "400"},
		{"M30 final coding not chunked", post("Transfer-Encoding: chunked, gzip") + "0\r\n\r\n", "400"},
		{"M31 lengths that differ", post("Content-Length: 0", "Content-Length: 55") + next, "400"},
		{"M31 S23 length with a sign", post("Content-Length: +5") + "hello", "400"},
		{"S24 length beyond 64 bits", post("Content-Length: 18446744073709551621") + "hello", "400"},
		{"S29 CONNECT", lines("CONNECT gateway.test:443 HTTP/1.1", "Host: gateway.test:443", "Connection: close"), "405"},
		{"S29 CONNECT to no port", lines("CONNECT gateway.test:x HTTP/1.1", host), "400"},
		{"S30 S15 TRACE", lines("TRACE /url/x HTTP/1.1", host, "Max-Forwards: 0", "Cookie: secret", "Connection: close"), "405"},
		{"S31 unknown expectation", post("Expect: 200-ok", "Content-Length: 5", "Connection: close") + "hello", "417"},
		{"S48 dot segments, encoded", lines("GET /url/..%2f..%2fetc HTTP/1.1", host, "Connection: close"), "400"},
		{"S48 dot segments", lines("GET /url/../../etc HTTP/1.1", host, "Connection: close"), "404"},
		{"H01 HTTP/2 by prior knowledge", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if !sameInNetHTTP(tt.name) {
				nativeOnly(t)
			}
			before := m.requests.Load()
			answer := g.talk(tt.request)
			if !strings.HasPrefix(answer, "HTTP/1.1 "+tt.status+" ") || strings.Count(answer, "HTTP/1.1 ") != 1 || strings.Contains(answer, "secret") {
				t.Errorf("answer %.300q, want %s and the end", answer, tt.status)
			}
			if got := g.target("/url/canary").reflected(t).Target; got != "/canary" || m.requests.Load() != before+1 {
				t.Errorf("the upstream got %d requests, the last for %s", m.requests.Load()-before, got)
			}
		})
	}
}

// sameInNetHTTP tells which refusals both engines have in common.
func sameInNetHTTP(name string) bool {
	return !slices.Contains([]string{"M14", "M20", "M26", "M27", "M30", "H01"}, name[:3])
}

// S03: nothing is done for a request before its head is complete.
func TestHalfARequest(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr))
	c := dial(t, g.Proxy)
	write(t, c, "GET /url/half HTTP/1.1\r\nHost: gateway.test\r\n")
	for range 3 {
		g.target("/url/whole").reflected(t).wantTarget(t, "/whole")
	}
	if n := m.requests.Load(); n != 3 {
		t.Errorf("S03 %d requests arrived, want 3", n)
	}
}

// S11: a route that leads back to the gateway does not go round for ever.
func TestCircle(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "zuul.routes: {}\n")
	g.Reload("zuul.routes: {circle: {path: /circle/**, url: \"http://"+g.Proxy+"\", strip-prefix: false}}\n", reloaded)
	g.Get("/circle/x").wantStatus(t, http.StatusLoopDetected)
	refused := func() int { return strings.Count(g.Log.String(), "goes in a circle") }
	eventually(t, "S11 the refusal in the log", func() bool { return refused() > 0 })
	if n := refused(); n != 1 {
		t.Errorf("S11 refused %d times, want once", n)
	}
}

// K03, K06: every request is the upstream's to answer.
func TestNothingIsShared(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr)+allPass)
	for _, tt := range []struct{ name, method, user string }{
		{"K03 POST", "POST", "a"}, {"K03 the same again", "POST", "a"}, {"K06 one user", "GET", "a"}, {"K06 another", "GET", "b"},
	} {
		before := m.requests.Load()
		r := g.wire(tt.method, lines(tt.method+" /url/x HTTP/1.1", "Host: gateway.test", "Content-Length: 0", "Authorization: Bearer "+tt.user)).reflected(t)
		if r.wantField(t, "Authorization", "Bearer "+tt.user); m.requests.Load() != before+1 {
			t.Errorf("%s: %d deliveries", tt.name, m.requests.Load()-before)
		}
	}
}

// F01, F02, F03, F05, F09: Forwarded is appended to, if that is asked for and its sender trusted.
func TestForwardedField(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	sent := []string{`Forwarded: for=unknown;x=y, FOR="[2001:db8::1]:80";by=_hidden`, "Forwarded: for=1.2.3.4;proto=https"}
	for name, tt := range map[string]struct {
		yaml string
		want []string
	}{
		"F09 nobody is trusted":              {"", []string{"Forwarded"}},
		"F07 F08 F10 trusted, not asked for": {"server.forward-headers.trusted-proxies: 127.0.0.0/8\n", []string{"Forwarded", "X-Forwarded-For: 6.6.6.6, 127.0.0.1"}},
		"F01 F02 F03 F04 F05 F09 trusted": {
			"server.forward-headers: {trusted-proxies: 127.0.0.0/8, believe: forwarded, forwarded: add}\n",
			[]string{
				`Forwarded: for=unknown;x=y, FOR="[2001:db8::1]:80";by=_hidden, for=1.2.3.4;proto=https, for=127.0.0.1;host=gateway.test;proto=http`,
				"X-Forwarded-For: unknown, 2001:db8::1, 1.2.3.4, 127.0.0.1",
			},
		},
		"F10 X02 X01 nothing about the client": {"zuul.add-proxy-headers: false\n", []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := startGateway(t, bothYAML(m.Addr)+tt.yaml)
			head := append([]string{"GET /url/x HTTP/1.1", "Host: gateway.test", "X-Forwarded-For: 6.6.6.6"}, sent...)
			r := g.wire(http.MethodGet, lines(head...)).reflected(t)
			r.wantLines(t, tt.want)
		})
	}
}

// C095 H01: an answer to a request that also asks for HTTP/2 comes in HTTP/1.1.
func TestNoSwitchToHTTP2(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr))
	r := g.wire(http.MethodGet, lines("GET /url/x HTTP/1.1", "Host: gateway.test", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk")).reflected(t)
	r.wantLines(t, []string{"Upgrade", "Http2-Settings", "Connection"})
}
