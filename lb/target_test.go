package lb_test

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/lb"
)

// sentTo sends req to a single server and returns what the transport was given.
func sentTo(tb testing.TB, s lb.Server, policy lb.SecurePolicy, req *http.Request) *http.Request {
	tb.Helper()
	u := &upstreams{answer: always(200, nil)}
	b := lb.NewBalancer("users", lb.BalancerSettings{})
	b.SetServers([]lb.Server{s})
	if _, err := do(tb, &lb.Command{Balancer: b, Transport: u, Secure: policy}, req, lb.Call{}); err != nil {
		tb.Fatal(err)
	}
	return u.sent[0]
}

func TestScheme(t *testing.T) {
	yes, no := true, false
	for _, tc := range []struct {
		name   string
		server lb.Server
		policy lb.SecurePolicy
		want   string
	}{
		{"ribbon 140 IsSecure", lb.Server{Host: "h", Port: 80}, lb.SecurePolicy{IsSecure: &yes}, "https://h:80"},
		{"ribbon 141 secure port", lb.Server{Host: "h", Port: 8443}, lb.SecurePolicy{}, "https://h:8443"},
		{"ribbon 141 other port", lb.Server{Host: "h", Port: 9080}, lb.SecurePolicy{}, "http://h:9080"},
		{"ribbon 142 the server's scheme, IsSecure false", lb.Server{Scheme: "https", Host: "h", Port: 9080}, lb.SecurePolicy{IsSecure: &no}, "https://h:9080"},
		{"ribbon 143 unset: the source decides", lb.Server{Host: "h", Port: 81, Secure: true}, lb.SecurePolicy{}, "https://h:81"},
		{"ribbon 143 IsSecure false wins", lb.Server{Host: "h", Port: 81, Secure: true}, lb.SecurePolicy{IsSecure: &no}, "http://h:81"},
		{"ribbon 143 IsSecure true wins", lb.Server{Scheme: "http", Host: "h", Port: 81}, lb.SecurePolicy{IsSecure: &yes}, "https://h:81"},
		{"ribbon 146 443", lb.Server{Host: "h", Port: 443}, lb.SecurePolicy{}, "https://h:443"},
		{"ribbon 146 16443", lb.Server{Host: "h", Port: 16443}, lb.SecurePolicy{}, "http://h:16443"},
		{"ribbon 146 own ports", lb.Server{Host: "h", Port: 12345}, lb.SecurePolicy{Ports: []int{12345, 556}}, "https://h:12345"},
		{"ribbon 146 443 not among own ports", lb.Server{Host: "h", Port: 443}, lb.SecurePolicy{Ports: []int{12345, 556}}, "http://h:443"},
		{"no secure ports at all", lb.Server{Host: "h", Port: 443}, lb.SecurePolicy{Ports: []int{}}, "http://h:443"},
		{"http written out", lb.Server{Scheme: "http", Host: "h", Port: 443}, lb.SecurePolicy{}, "http://h:443"},
		{"C153 IPv6", lb.Server{Host: "::1", Port: 9001}, lb.SecurePolicy{}, "http://[::1]:9001"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := sentTo(t, tc.server, tc.policy, newRequest(t.Context(), t, "GET", ""))
			if base := got.URL.Scheme + "://" + got.URL.Host; base != tc.want {
				t.Errorf("got %s, want %s", base, tc.want)
			}
		})
	}
}

// wire is the request line and Host field that net/http makes of a request.
func wire(tb testing.TB, r *http.Request) (line, host string) {
	tb.Helper()
	var buf bytes.Buffer
	if err := r.Write(&buf); err != nil {
		tb.Fatal(err)
	}
	lines := strings.Split(buf.String(), "\r\n")
	return lines[0], strings.TrimPrefix(lines[1], "Host: ")
}

func TestPathAndQueryBytes(t *testing.T) {
	for _, tc := range []struct {
		name string
		url  url.URL
		line string
	}{
		{"ribbon 104 path and query", url.URL{Path: "/test", RawQuery: "abc=xyz"}, "GET /test?abc=xyz HTTP/1.1"},
		{"ribbon 107 escaped slash", url.URL{Path: "/abc/xyz", RawPath: "/abc%2Fxyz"}, "GET /abc%2Fxyz HTTP/1.1"},
		{"ribbon 107 query only", url.URL{RawQuery: "foo=bar"}, "GET /?foo=bar HTTP/1.1"},
		{"ribbon 144 corrected: as received", url.URL{Opaque: "/%20bar", RawQuery: "hello=1+2"}, "GET /%20bar?hello=1+2 HTTP/1.1"},
		{"C213 escapes of both kinds", url.URL{Opaque: "/svc/a%20b%2Fc", RawQuery: "x=%2B"}, "GET /svc/a%20b%2Fc?x=%2B HTTP/1.1"},
		{"lone question mark", url.URL{Opaque: "/a", ForceQuery: true}, "GET /a? HTTP/1.1"},
		{"opaque bytes that a path would escape", url.URL{Opaque: `/a|b"c`}, `GET /a|b"c HTTP/1.1`},
		{"opaque with two slashes", url.URL{Opaque: "//evil.test/a%2Fb", RawQuery: "q"}, "GET //evil.test/a%2Fb?q HTTP/1.1"},
		{"two slashes and bytes that a path would escape", url.URL{Opaque: `//evil.test/a|b`}, `GET https://h:443//evil.test/a|b HTTP/1.1`},
		{"two slashes and a broken escape", url.URL{Opaque: `//evil.test/%zz`}, `GET https://h:443//evil.test/%zz HTTP/1.1`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req := newRequest(t.Context(), t, "GET", "")
			given := tc.url
			req.URL = &given
			line, host := wire(t, sentTo(t, lb.Server{Host: "h", Port: 443}, lb.SecurePolicy{}, req))
			if line != tc.line || host != "h:443" {
				t.Errorf("%s, host %s; want %s", line, host, tc.line)
			}
			if given != tc.url {
				t.Errorf("the caller's URL was changed to %#v", given)
			}
		})
	}
}

func TestHost(t *testing.T) {
	for _, tc := range []struct {
		name, host string
		server     lb.Server
		want       string
	}{
		{"the caller's", "public.test", lb.Server{Host: "h", Port: 80}, "public.test"},
		{"the server's", "", lb.Server{Host: "h", Port: 8080}, "h:8080"},
		{"C153 brackets", "", lb.Server{Host: "::1", Port: 8080}, "[::1]:8080"},
		{"C153 zone identifier stays here", "", lb.Server{Host: "fe80::1%eth0", Port: 8080}, "[fe80::1]:8080"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req := newRequest(t.Context(), t, "GET", "")
			req.Host = tc.host
			if got := sentTo(t, tc.server, lb.SecurePolicy{}, req); got.Host != tc.want {
				t.Errorf("got %s, want %s", got.Host, tc.want)
			}
			if req.Host != tc.host || req.URL.Host != "" {
				t.Errorf("the caller's request was changed: %s, %s", req.Host, req.URL)
			}
		})
	}
}

func TestIdempotencyKeyIsHiddenFromNetHTTP(t *testing.T) {
	for _, tc := range []struct {
		name, method, field, sent string
	}{
		{"C135 POST", "POST", "Idempotency-Key", "idempotency-key"},
		{"C135 PATCH", "PATCH", "X-Idempotency-Key", "x-idempotency-key"},
		{"GET needs no hiding", "GET", "Idempotency-Key", "Idempotency-Key"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req := newRequest(t.Context(), t, tc.method, "")
			req.Header[tc.field] = []string{"k"}
			got := sentTo(t, lb.Server{Host: "h", Port: 80}, lb.SecurePolicy{}, req)
			if v := got.Header[tc.sent]; len(v) != 1 || v[0] != "k" || len(got.Header) != 1 {
				t.Errorf("sent %v, want the key under %s", got.Header, tc.sent)
			}
			if req.Header.Get(tc.field) != "k" {
				t.Errorf("the caller's header was changed: %v", req.Header)
			}
		})
	}
}
