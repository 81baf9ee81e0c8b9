package e2e_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// exchangeYAML is bothYAML with lists of headers, and a trusted peer.
const exchangeYAML = `
zuul.sensitive-headers: x-SECRET,cookie
zuul.ignored-headers: X-INTERNAL
server.forward-headers.trusted-proxies: 127.0.0.0/8
`

// answerOf sends a request for which the script says something, and returns the lines of
// the answer's head and the body's bytes.
func (g *gateway) answerOf(target string) (head []string, body string) {
	g.tb.Helper()
	c := dial(g.tb, g.Proxy)
	write(g.tb, c, lines("GET "+target+" HTTP/1.1", "Host: a", "Accept-Encoding: gzip, br", "Connection: close"))
	all, err := io.ReadAll(c)
	if err != nil {
		g.tb.Fatal(err)
	}
	text, body, _ := strings.Cut(string(all), "\r\n\r\n")
	return strings.Split(text, "\r\n"), body
}

// valuesOf are those of a field, in order.
func valuesOf(head []string, name string) []string { return reflection{Fields: head}.Values(name) }

func TestC033NamesInAnyCase(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	in, out := startGateway(t, bothYAML(m.Addr)+exchangeYAML), startGateway(t, bothYAML(startScript(t))+exchangeYAML)
	for _, kind := range kinds {
		r := in.wire(http.MethodGet, lines("GET /"+kind+"/x HTTP/1.1", "Host: a", "X-Secret: 1", "COOKIE: a=b", "x-internal: 2", "X-Other: 3")).reflected(t)
		for _, gone := range []string{"X-Secret", "Cookie", "X-Internal"} {
			r.wantField(t, gone)
		}
		r.wantField(t, "X-Other", "3")
		head, _ := out.answerOf(say(kind, "HTTP/1.1 200 OK\r\nx-Internal: 3\r\nX-Other: 4\r\nContent-Length: 0\r\n\r\n"))
		if len(valuesOf(head, "X-Internal")) > 0 || len(valuesOf(head, "X-Other")) != 1 {
			t.Errorf("%s: the client got %q", kind, head)
		}
	}
}

func TestAnswersPassUnchanged(t *testing.T) {
	t.Parallel()
	g := startGateway(t, bothYAML(startScript(t))+"zuul.sensitive-headers: \"\"\n")
	zipped := gzipped(t, "hello")
	length := func(body string) string { return fmt.Sprintf("Content-Length: %d", len(body)) }
	for name, tt := range map[string]struct {
		status string
		fields []string
		body   string
	}{
		"C036 several lines": {"401 Unauthorized", []string{
			"WWW-Authenticate: Basic realm=\"a, b\"", "WWW-Authenticate: Bearer", "Vary: A", "Vary: B, C",
			"Set-Cookie: a=1; Expires=Thu, 01 Jan 2099 00:00:00 GMT", "Set-Cookie: b=2; Expires=Fri, 02 Jan 2099 00:00:00 GMT",
			"Link: </a>", "Link: </b>", "Warning: 199 - x", "Warning: 299 - y",
		}, "no"},
		"C061 cookies of a redirect": {"302 Found", append([]string{"Location: /y"}, prefixed("Set-Cookie: ", cookies)...), ""},
		"C038 another charset":       {"200 OK", []string{"Content-Type: text/plain; charset=Shift_JIS"}, "\x93\xfa\x96\x7b"},
		"C038 no charset":            {"200 OK", []string{"Content-Type: application/json"}, `{"a":"é"}`},
		"C077 gzip":                  {"200 OK", []string{"Content-Encoding: gzip", "Content-Type: text/plain"}, zipped},
		"C077 br":                    {"200 OK", []string{"Content-Encoding: br"}, "\x8b\x02\x80hello\x03"},
		"C077 two codings":           {"200 OK", []string{"Content-Encoding: gzip, br"}, "\x8b\x02\x80" + zipped + "\x03"},
		"C077 a byte behind the end": {"200 OK", []string{"Content-Encoding: gzip"}, zipped + "x"},
		"C077 not what it says":      {"200 OK", []string{"Content-Encoding: gzip"}, "plain"},
	} {
		for _, kind := range kinds {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				fields := append(slices.Clip(tt.fields), length(tt.body))
				head, body := g.answerOf(say(kind, lines(append([]string{"HTTP/1.1 " + tt.status}, fields...)...)+tt.body))
				if head[0] != "HTTP/1.1 "+tt.status || body != tt.body {
					t.Errorf("got %s and %q", head[0], body)
				}
				for _, f := range fields {
					field, _, _ := strings.Cut(f, ":")
					if got, want := valuesOf(head, field), (reflection{Fields: fields}).Values(field); !slices.Equal(got, want) {
						t.Errorf("%s came as %q, want %q", field, got, want)
					}
				}
			})
		}
	}
}

func prefixed(prefix string, all []string) []string {
	with := make([]string, len(all))
	for n, s := range all {
		with[n] = prefix + s
	}
	return with
}

func TestC035FramingOfAnswers(t *testing.T) {
	t.Parallel()
	g := startGateway(t, bothYAML(startScript(t)))
	for _, kind := range kinds {
		head, body := g.answerOf(say(kind, lines("HTTP/1.1 200 OK", "Transfer-Encoding: chunked")+chunked("hello")))
		if te := valuesOf(head, "Transfer-Encoding"); !slices.Equal(te, []string{"chunked"}) || len(valuesOf(head, "Content-Length")) > 0 || !strings.Contains(body, "hel") {
			t.Errorf("%s: got %q and %q", kind, head, body)
		}
		head, _ = g.answerOf(say(kind, lines("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked")+chunked("hello")))
		if !strings.HasPrefix(head[0], "HTTP/1.1 502 ") {
			t.Errorf("%s: coded twice gives %q", kind, head)
		}
	}
}

// C077 (b): a filter that replaces the body says so in the fields.
func TestC077BodyReplacedByAFilter(t *testing.T) {
	t.Parallel()
	zipped := gzipped(t, "hello")
	g := startCustom(t, bothYAML(startScript(t)))
	for _, kind := range kinds {
		a := g.Get(say(kind, lines("HTTP/1.1 200 OK", "Content-Encoding: gzip", fmt.Sprintf("Content-Length: %d", len(zipped)))+zipped), "X-Test: replace-body").
			wantStatus(t, http.StatusOK)
		if a.Body != "replaced" || a.Length != int64(len("replaced")) || a.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s: got %+v", kind, a)
		}
	}
}

func TestForwardedFieldsOnTheWire(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	trusting := "server.forward-headers.trusted-proxies: 127.0.0.0/8\n"
	strip := startGateway(t, bothYAML(m.Addr)+trusting)
	prefix := startGateway(t, bothYAML(m.Addr)+trusting+"zuul.prefix: /v1\n")
	for _, tt := range []struct {
		name     string
		g        *gateway
		target   string
		host     string
		fields   []string
		seen     string
		expected []string
	}{
		{"C047 a none", strip, "/url/x", "g.test", nil, "X-Forwarded-For", []string{"127.0.0.1"}},
		{"C047 b one", strip, "/url/x", "g.test", []string{"X-Forwarded-For: 203.0.113.9"}, "X-Forwarded-For", []string{"203.0.113.9, 127.0.0.1"}},
		{
			"C047 c several", strip, "/url/x", "g.test",
			[]string{"X-Forwarded-For: 1.1.1.1", "X-Forwarded-For: 2.2.2.2, 3.3.3.3"},
			"X-Forwarded-For",
			[]string{"1.1.1.1, 2.2.2.2, 3.3.3.3, 127.0.0.1"},
		},
		{"C047 d empty", strip, "/url/x", "g.test", []string{"X-Forwarded-For:"}, "X-Forwarded-For", []string{"127.0.0.1"}},
		{"C049 a plain", strip, "/service/x", "g.test", nil, "X-Forwarded-Prefix", []string{"/service"}},
		{"C049 b received", strip, "/service/x", "g.test", []string{"X-Forwarded-Prefix: /edge"}, "X-Forwarded-Prefix", []string{"/edge/service"}},
		{"C049 c global prefix", prefix, "/v1/service/x", "g.test", nil, "X-Forwarded-Prefix", []string{"/v1/service"}},
		{"C051 port in Host", strip, "/url/x", "g.test:8080", nil, "X-Forwarded-Port", []string{"8080"}},
		{"C051 no port", strip, "/url/x", "g.test", nil, "X-Forwarded-Port", []string{"80"}},
		{"C051 IPv6", strip, "/url/x", "[::1]:8080", nil, "X-Forwarded-Host", []string{"[::1]:8080"}},
		{"C051 https in front", strip, "/url/x", "g.test", []string{"X-Forwarded-Proto: https"}, "X-Forwarded-Port", []string{"443,80"}},
		{"C051 https in front, proto", strip, "/url/x", "g.test", []string{"X-Forwarded-Proto: https"}, "X-Forwarded-Proto", []string{"https,http"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			head := append([]string{"GET " + tt.target + " HTTP/1.1", "Host: " + tt.host}, tt.fields...)
			tt.g.wire(http.MethodGet, lines(head...)).reflected(t).wantField(t, tt.seen, tt.expected...)
		})
	}
}

func TestC005RewrittenPath(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startCustom(t, bothYAML(m.Addr))
	for _, kind := range kinds {
		g.Get("/"+kind+"/x/foo%E2%80%93bar%20baz", "X-Test: rewrite").reflected(t).wantTarget(t, "/y/foo%E2%80%93bar%20baz")
	}
}

func TestC026ParametersAFilterCannotParse(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startCustom(t, bothYAML(m.Addr))
	for _, query := range []string{"a=1;admin=true", "admin=%zz", "x=%&admin=1", "%61dmin=1", "admin"} {
		t.Run(query, func(t *testing.T) {
			request := func(test string) *answer {
				return g.wire(http.MethodGet, lines("GET /url/x?"+query+" HTTP/1.1", "Host: a", "X-Test: "+test))
			}
			if a := request("deny-admin"); a.Status != http.StatusForbidden && a.Status != http.StatusBadRequest {
				t.Errorf("status %d with the guard", a.Status)
			}
			request("no-guard").reflected(t).wantTarget(t, "/x?"+query)
		})
	}
}

func TestC067HeadWithoutBody(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		for _, more := range [][]string{nil, {"Expect: 100-continue"}} {
			raw := backendtest.StartRaw(t, backendtest.Step{Reply: "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n"})
			g := startGateway(t, bothYAML(raw.Addr))
			head := append([]string{"HEAD /" + kind + "/x HTTP/1.1", "Host: a"}, more...)
			g.wire(http.MethodHead, lines(head...)).wantStatus(t, http.StatusOK)
			saw := strings.Join(raw.Received(), "")
			for _, bad := range []string{"Transfer-Encoding", "Content-Length", "Expect"} {
				if strings.Contains(saw, bad) || !strings.HasSuffix(saw, "\r\n\r\n") {
					t.Errorf("%s: the upstream saw %q", kind, saw)
				}
			}
		}
	}
}

// C073: who says continue, and what becomes of an upload that is refused.
func TestC073Expectations(t *testing.T) {
	t.Parallel()
	const refusal = "HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno"
	for _, kind := range kinds {
		t.Run("a the upstream says so too, "+kind, func(t *testing.T) {
			t.Parallel()
			raw := backendtest.StartRaw(t, backendtest.Step{Reply: "HTTP/1.1 100 Continue\r\n\r\n"},
				backendtest.Step{Await: "hello", Reply: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"})
			g := startGateway(t, bothYAML(raw.Addr))
			c := dial(t, g.Proxy)
			in := bufio.NewReader(c)
			write(t, c, lines("POST /"+kind+"/x HTTP/1.1", "Host: a", "Content-Length: 5", "Expect: 100-continue"))
			nextAnswer(t, in, http.MethodPost).wantStatus(t, http.StatusContinue)
			write(t, c, "hello")
			if a := nextFinal(t, in, http.MethodPost).wantStatus(t, http.StatusOK); a.Body != "ok" {
				t.Errorf("got %q", a.Body)
			}
		})
		t.Run("b refused while sending, "+kind, func(t *testing.T) {
			t.Parallel()
			if !onNative() {
				t.Skip("net/http may miss the answer when it cannot write")
			}
			raw := backendtest.StartRaw(t, backendtest.Step{Reply: refusal, Close: true})
			g := startGateway(t, bothYAML(raw.Addr))
			c := dial(t, g.Proxy)
			go func() { // it need not all be taken
				_, _ = io.WriteString(c, lines("POST /"+kind+"/x HTTP/1.1", "Host: a", "Content-Length: 52428800")+strings.Repeat("x", 50<<20))
			}()
			in := bufio.NewReader(c)
			if a := nextAnswer(t, in, http.MethodPost).wantStatus(t, http.StatusRequestEntityTooLarge); a.Body != "no" {
				t.Errorf("got %q", a.Body)
			}
			if rest, err := io.ReadAll(in); err != nil || len(rest) > 0 {
				t.Errorf("the connection goes on with %q, %v", rest, err)
			}
		})
	}
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr))
	t.Run("c unknown", func(t *testing.T) {
		g.wire(http.MethodPost, lines("POST /url/x HTTP/1.1", "Host: a", "Content-Length: 1", "Expect: foo")+"a").wantStatus(t, http.StatusExpectationFailed)
	})
	t.Run("d HTTP/1.0", func(t *testing.T) {
		g.wire(http.MethodPost, lines("POST /url/x HTTP/1.0", "Content-Length: 1", "Expect: 100-continue")+"a").wantStatus(t, http.StatusOK)
	})
}

// Every piece is with the client before the upstream sends the next, whatever the type
// and the framing.
func TestPiecesOfStreams(t *testing.T) {
	t.Parallel()
	chunk := func(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }
	same := func(s string) string { return s }
	for name, tt := range map[string]struct {
		head  string
		frame func(string) string
	}{
		"C109 odd type":              {lines("HTTP/1.1 200 OK", "Content-Type: Text/Event-Stream;charset=utf-8", "Transfer-Encoding: chunked"), chunk},
		"C109 HTTP/1.0":              {lines("HTTP/1.0 200 OK", "Content-Type: text/event-stream"), same},
		"C112 lines of JSON":         {lines("HTTP/1.1 200 OK", "Content-Type: application/x-ndjson", "Transfer-Encoding: chunked"), chunk},
		"C112 multipart replacement": {lines("HTTP/1.1 200 OK", "Content-Type: multipart/x-mixed-replace; boundary=b", "Transfer-Encoding: chunked"), chunk},
		"C112 no type":               {lines("HTTP/1.1 200 OK", "Transfer-Encoding: chunked"), chunk},
		"C112 with its length":       {lines("HTTP/1.1 200 OK", "Content-Type: text/plain", "Content-Length: 1000"), same},
	} {
		for _, kind := range kinds {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				pieces := make(chan string)
				g := startGateway(t, bothYAML(serveConns(t, func(c net.Conn) {
					if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
						return
					}
					_, _ = io.WriteString(c, tt.head)
					for p := range pieces {
						_, _ = io.WriteString(c, tt.frame(p))
					}
				})))
				t.Cleanup(func() { close(pieces) })
				c := dial(t, g.Proxy)
				write(t, c, lines("GET /"+kind+"/x HTTP/1.1", "Host: a"))
				piece := func(n int) string { return fmt.Sprintf("data: number %06d\n\n", n) }
				pieces <- piece(0)
				res, err := http.ReadResponse(bufio.NewReader(c), nil)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					c.Close() // or Close would read on
					res.Body.Close()
				})
				for n := range 5 {
					got := make([]byte, len(piece(n)))
					if _, err := io.ReadFull(res.Body, got); err != nil || string(got) != piece(n) {
						t.Fatalf("got %q, %v; want %q", got, err, piece(n))
					}
					pieces <- piece(n + 1)
				}
			})
		}
	}
}
