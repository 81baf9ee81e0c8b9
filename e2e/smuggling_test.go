package e2e_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// statusLine finds the answers in what a gateway has sent; the requests that a mirror
// repeats have no status.
var statusLine = regexp.MustCompile(`HTTP/1\.1 (\d{3}) `)

// probe is a request that two readers could understand in two ways.
type probe struct {
	name, request string

	// clean says that it may also be passed on, once it is written anew; otherwise
	// it has to be refused with one of these.
	clean    bool
	statuses []string
}

// smuggled is a whole request within the body of another.
const smuggled = "GET /evil HTTP/1.1\r\nHost: g.test\r\n\r\n"

func probes() []probe {
	const host, closes = "Host: g.test", "Connection: close"
	post := func(fields ...string) string {
		return lines(append([]string{"POST /url/x HTTP/1.1", host}, fields...)...)
	}
	get := func(fields ...string) string {
		return lines(append([]string{"GET /url/x HTTP/1.1", closes}, fields...)...)
	}
	bad := []string{"400"}
	all := []probe{
		{"C039 no Host", get(), false, bad},
		{"C039 empty Host", get("Host:"), true, bad},
		{"C039 two equal Hosts", get(host, host), false, bad},
		{"C039 two Hosts", get(host, "Host: h.test"), false, bad},
		{"C039 space", get("Host: a b"), false, bad},
		{"C039 path", get("Host: g.test/evil"), false, bad},
		{"C039 two ports", get("Host: g.test:80:80"), false, bad},
		{"C039 open bracket", get("Host: [::1"), false, bad},
		{"C039 user", get("Host: g.test@evil"), false, bad},
		{"C041 CR in Host", get("Host: g.test\rX-Inj: 1"), false, bad},
		{"C041 VT in Host", get("Host: g.test\x0bX"), false, bad},
		{"C041 LF and a fold in Host", get("Host: g.test\n X: 1"), true, bad},
		{"C041 fold in X-Forwarded-Host", get(host, "X-Forwarded-Host: a", " b"), true, bad},
		{"C043 NUL", get(host, "X-A: a\x00b"), false, bad},
		{"C043 CR", get(host, "X-A: a\rb"), false, bad},
		{"C043 DEL", get(host, "X-A: a\x7fb"), true, bad},
		{"C043 SOH", get(host, "X-A: \x01"), true, bad},
		{"C085 two lengths", post("Content-Length: 5", "Content-Length: 6") + "abcdef", false, bad},
		{"C085 two equal lengths", post(closes, "Content-Length: 5", "Content-Length: 5") + "abcde", true, bad},
		{"C087 CHUNKED", post(closes, "Transfer-Encoding: CHUNKED") + chunked("Z"), true, bad},
		{"C087 two lines", post("Transfer-Encoding: chunked", "Transfer-Encoding: x") + chunked("Z"), false, []string{"400", "501"}},
		{"C087 two lines, x first", post("Transfer-Encoding: x", "Transfer-Encoding: chunked") + chunked("Z"), false, []string{"400", "501"}},
		{"C087 space before the colon", post("Transfer-Encoding : chunked") + chunked("Z"), false, bad},
		{"C087 LF and a fold", post(closes, "Transfer-Encoding:\n chunked") + chunked("Z"), true, bad},
		{"C087 smuggled by a LF", post(closes, "X: y\nTransfer-Encoding: chunked") + chunked("Z"), true, bad},
		{"C087 underscore", post("Transfer_Encoding: chunked") + chunked("Z"), true, bad},
		{"C091 space before the colon", post("Content-Length : 5") + "abcde", false, bad},
		{"C091 tab before the colon", get(host, "X-A\t: 1"), false, bad},
		{"C091 no name", post(host, ": chunked"), false, bad},
		{"C091 parenthesis", get(host, "X(A: 1"), false, bad},
		{"C091 byte above ASCII", get(host, "X\xe9: 1"), false, bad},
		{"C091 no colon", get(host, "X-A"), false, bad},
		{"C091 first line begins with a blank", lines("GET /url/x HTTP/1.1", " X-A: 1", host), false, bad},
		{"C092 fold", post(closes, "X-A: 1", " Transfer-Encoding: chunked"), true, bad},
		{"C092 fold in Transfer-Encoding", post(closes, "Transfer-Encoding:", " chunked") + chunked("Z"), true, bad},
		{"C092 fold in Host", get(host, " evil"), true, bad},
	}
	for _, v := range []string{"5, 5", "5, 6", "5,", "5;a", "５", "5_0", "1e1", "4 2", "+5", "-5", "0x5", ""} {
		all = append(all, probe{fmt.Sprintf("C085 Content-Length %q", v), post(closes, "Content-Length: "+v) + "abcde", v == "5, 5", bad})
	}
	for _, v := range []string{"\rchunked", "\x0bchunked", "xchunked", "chunked, identity", "identity, chunked", "chunked, chunked", "chunked;q=1", `"chunked"`, "chunked,", ""} {
		all = append(all, probe{fmt.Sprintf("C087 Transfer-Encoding %q", v), post(closes, "Transfer-Encoding: "+v) + chunked("Z"), v == "chunked,", []string{"400", "501"}})
	}
	for _, body := range []string{
		"1\nZ\r\n0\r\n\r\n", "1\r\nZ\n0\r\n\r\n", "1\r\nZ\r0\r\n\r\n", "1;a\nb\r\nZ\r\n0\r\n\r\n", "0\n\n", "1\rZ\r\n0\r\n\r\n",
	} {
		all = append(all, probe{fmt.Sprintf("C089 %q", body), post(closes, "Transfer-Encoding: chunked") + body, false, bad})
	}
	if !onNative() { // net/http keeps the connection, or waits for more
		return all
	}
	return append(all,
		probe{"C083 length, then coding", post("Content-Length: 44", "Transfer-Encoding: chunked") + "0\r\n\r\n" + smuggled, true, bad},
		probe{"C083 coding, then length", post("Transfer-Encoding: chunked", "Content-Length: 4") + "60\r\n" + smuggled + strings.Repeat("x", 0x60-len(smuggled)) + "\r\n0\r\n\r\n", true, bad},
		probe{"C089 LF at the very end", post(closes, "Transfer-Encoding: chunked") + "0\r\n\n", true, bad},
	)
}

func TestSmuggling(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr))
	native := onNative()
	for _, p := range probes() {
		t.Run(p.name, func(t *testing.T) {
			before := m.requests.Load()
			c := dial(t, g.Proxy)
			write(t, c, p.request)
			said, err := io.ReadAll(c) // to the end of the connection
			if os.IsTimeout(err) {
				t.Fatalf("the connection stays open after %.200q", said)
			}
			passed := int64(0)
			for _, found := range statusLine.FindAllStringSubmatch(string(said), -1) {
				if found[1] == "200" && (p.clean || !native) {
					passed++
				} else if native && !slices.Contains(p.statuses, found[1]) {
					t.Errorf("status %s, want one of %v", found[1], p.statuses)
				}
			}
			if !strings.HasPrefix(string(said), "HTTP/1.1 ") {
				t.Errorf("answered %.200q", said)
			}
			g.target("/service/canary").reflected(t).wantTarget(t, "/canary")
			g.target("/url/canary").reflected(t).wantTarget(t, "/canary")
			if n := m.requests.Load() - before - 2; n != passed {
				t.Errorf("%d requests reached the upstream, %d were answered", n, passed)
			}
		})
	}
}

// HTTP/1.0 needs no Host.
func TestC039HTTP10(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr))
	for _, kind := range kinds {
		g.wire(http.MethodGet, lines("GET /"+kind+"/x HTTP/1.0")).reflected(t).wantTarget(t, "/x")
	}
}

// startSurplus is an upstream that answers /bad with one text and sends a second one when
// it is told to, and then tells that it has. All else is answered with its path.
func startSurplus(t *testing.T, answer, later string) (addr string, send chan<- struct{}, sent <-chan struct{}) {
	t.Helper()
	now, done := make(chan struct{}), make(chan struct{})
	return serveConns(t, func(c net.Conn) {
		for in := bufio.NewReader(c); ; {
			req, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			if req.URL.Path != "/bad" {
				_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(req.URL.Path), req.URL.Path)
				continue
			}
			_, _ = io.WriteString(c, answer)
			<-now
			_, _ = io.WriteString(c, later)
			done <- struct{}{}
			if strings.Contains(later, " 408 ") {
				return
			}
		}
	}), now, done
}

func TestC098SurplusOfAResponse(t *testing.T) {
	t.Parallel()
	const good, evil = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
	for name, tt := range map[string]struct{ answer, later string }{
		"body longer than announced": {good + "evil", ""},
		"two responses":              {good + evil, ""},
		"line end behind it":         {good + "\r\n", ""},
		"unasked on an idle one":     {good, evil},
		"408 and close on idle":      {good, "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"},
		"half a response on idle":    {good, evil[:30]},
	} {
		for _, kind := range kinds {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				if tt.later != "" && !onNative() {
					t.Skip("net/http may take it for the answer to the next request")
				}
				addr, send, sent := startSurplus(t, tt.answer, tt.later)
				g := startGateway(t, bothYAML(addr))
				c := dial(t, g.Proxy)
				in := bufio.NewReader(c)
				for n := range 3 {
					write(t, c, lines("GET /"+kind+"/bad HTTP/1.1", "Host: a"))
					if a := nextAnswer(t, in, http.MethodGet).wantStatus(t, http.StatusOK); a.Body != "ok" {
						t.Errorf("got %q", a.Body)
					}
					send <- struct{}{}
					receive(t, "the surplus is on its way", sent)
					for m := range 5 {
						path := fmt.Sprintf("/canary-%d-%d", n, m)
						write(t, c, lines("GET /"+kind+path+" HTTP/1.1", "Host: a"))
						if a := nextAnswer(t, in, http.MethodGet).wantStatus(t, http.StatusOK); a.Body != path {
							t.Fatalf("%s got %q", path, a.Body)
						}
					}
				}
			})
		}
	}
}
