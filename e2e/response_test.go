package e2e_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// startScript answers each request with the bytes in its query parameter "say", and then
// hangs up if it has the parameter "close".
func startScript(t *testing.T) string {
	t.Helper()
	return serveConns(t, func(c net.Conn) {
		in := bufio.NewReader(c)
		for {
			req, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			q := req.URL.Query()
			if _, err := io.Copy(io.Discard, req.Body); err != nil {
				return
			}
			if _, err := io.WriteString(c, q.Get("say")); err != nil || q.Has("close") {
				return
			}
		}
	})
}

// say is the target that makes the script say something.
func say(kind, what string, more ...string) string {
	return "/" + kind + "/x?say=" + url.QueryEscape(what) + strings.Join(more, "")
}

func TestResponses(t *testing.T) {
	t.Parallel()
	g := startGateway(t, bothYAML(startScript(t)))
	zipped := gzipped(t, "hello")
	for _, kind := range kinds {
		for _, tt := range []struct {
			name, say string
			status    int
			length    int64
			body      string
		}{
			{"zuul 118 with its length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, 5, "hello"},
			{"in chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 200, -1, "hello"},
			{"empty", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, 0, ""},
			{"zuul 133 unknown status 517", "HTTP/1.1 517 Odd\r\nContent-Length: 3\r\n\r\nodd", 517, 3, "odd"},
			{"204", "HTTP/1.1 204 No Content\r\n\r\n", 204, 0, ""},
			{"304", "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n", 304, 0, ""},
			{"zuul 141 upstream 404", "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nmine", 404, 4, "mine"},
			{"upstream 500", "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 4\r\n\r\nmine", 500, 4, "mine"},
			{"303", "HTTP/1.1 303 See Other\r\nLocation: /y\r\nContent-Length: 0\r\n\r\n", 303, 0, ""},
			{"after 103", "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, 2, "ok"},
			{"zuul 114, 120 gzip", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: " + strconv.Itoa(len(zipped)) + "\r\n\r\n" + zipped, 200, int64(len(zipped)), zipped},
		} {
			t.Run(tt.name+", "+kind, func(t *testing.T) {
				t.Parallel()
				c := dial(t, g.Proxy)
				in := bufio.NewReader(c)
				for range 2 { // the connection stays usable
					write(t, c, lines("GET "+say(kind, tt.say)+" HTTP/1.1", "Host: gateway.test", "Accept-Encoding: gzip"))
					a := nextFinal(t, in, http.MethodGet).wantStatus(t, tt.status)
					if a.Body != tt.body || a.Length != tt.length {
						t.Errorf("body %.200q of length %d, want %q of %d", a.Body, a.Length, tt.body, tt.length)
					}
				}
			})
		}
	}
}

// nextFinal reads over informational responses.
func nextFinal(t *testing.T, r *bufio.Reader, method string) *answer {
	t.Helper()
	a := nextAnswer(t, r, method)
	for a.Status < 200 {
		a = nextAnswer(t, r, method)
	}
	return a
}

func gzipped(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, s); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestHead(t *testing.T) {
	t.Parallel()
	g := startGateway(t, bothYAML(startScript(t)))
	for _, kind := range kinds {
		t.Run("C074 "+kind, func(t *testing.T) {
			t.Parallel()
			c := dial(t, g.Proxy)
			in := bufio.NewReader(c)
			for _, tt := range []struct {
				say    string
				status int
				length string
			}{
				{"HTTP/1.1 200 OK\r\nContent-Length: 12345\r\n\r\n", 200, "12345"},
				{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", 200, ""},
				{"HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\n", 404, "9"},
			} {
				write(t, c, lines("HEAD "+say(kind, tt.say)+" HTTP/1.1", "Host: gateway.test"))
				a := nextAnswer(t, in, http.MethodHead).wantStatus(t, tt.status)
				if got := a.Header.Get("Content-Length"); got != tt.length || a.Body != "" {
					t.Errorf("Content-Length %q, body %q; want %q and none", got, a.Body, tt.length)
				}
			}
		})
	}
}

// C066: a length beyond 32 bits is announced as it is, and the client may stop reading.
func TestAnnouncedLengthBeyond32Bits(t *testing.T) {
	t.Parallel()
	g := startGateway(t, bothYAML(startScript(t)))
	for _, kind := range kinds {
		c := dial(t, g.Proxy)
		write(t, c, lines("GET "+say(kind, "HTTP/1.1 200 OK\r\nContent-Length: 5000000000\r\n\r\nfirst bytes")+" HTTP/1.1", "Host: gateway.test"))
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		first := make([]byte, len("first bytes"))
		if _, err := io.ReadFull(res.Body, first); err != nil || string(first) != "first bytes" || res.ContentLength != 5_000_000_000 {
			t.Errorf("%s: %q, %v, length %d", kind, first, err, res.ContentLength)
		}
		c.Close()
		res.Body.Close()
	}
}

// A response cut short must not look complete.
func TestCutResponses(t *testing.T) {
	t.Parallel()
	g := startGateway(t, bothYAML(startScript(t)))
	for _, kind := range kinds {
		for name, what := range map[string]string{
			"with its length": "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
			"in chunks":       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
		} {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				a, err := send(t.Context(), http.MethodGet, g.URL(say(kind, what, "&close")), nil, nil)
				if err == nil {
					t.Errorf("half a response passed as a whole one: %d %q", a.Status, a.Body)
				}
			})
		}
		t.Run("for HTTP/1.0, "+kind, func(t *testing.T) {
			t.Parallel()
			c := dial(t, g.Proxy)
			write(t, c, lines("GET "+say(kind, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", "&close")+" HTTP/1.0"))
			if all, err := io.ReadAll(c); err == nil && strings.Contains(string(all), " 200 ") {
				t.Errorf("half a response passed as a whole one: %q", all)
			}
		})
		t.Run("until the connection ends, "+kind, func(t *testing.T) {
			t.Parallel()
			a := g.Get(say(kind, "HTTP/1.1 200 OK\r\n\r\nall there is", "&close")).wantStatus(t, http.StatusOK)
			if a.Body != "all there is" {
				t.Errorf("got %q", a.Body)
			}
		})
	}
}

func TestResponseTrailers(t *testing.T) {
	t.Parallel()
	b := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "X-Announced")
		io.WriteString(w, "body")
		w.Header().Set("X-Announced", "1")
		w.Header().Set(http.TrailerPrefix+"X-Surprise", "2")
	}))
	g := startGateway(t, bothYAML(b.Addr))
	for _, kind := range kinds {
		a := g.Get("/"+kind+"/x", "Te: trailers").wantStatus(t, http.StatusOK)
		if a.Body != "body" || a.Trailer.Get("X-Announced") != "1" || a.Trailer.Get("X-Surprise") != "2" {
			t.Errorf("%s: body %q, trailers %v", kind, a.Body, a.Trailer)
		}
	}
}

// An event is with the client before the upstream sends the next, and a stream may be
// silent for longer than the read timeout.
func TestEventStream(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			next := make(chan string)
			b := backendtest.Start(t, sayNext(next))
			g := startGateway(t, strings.Replace(bothYAML(b.Addr), "ReadTimeout: 1m", "ReadTimeout: 4s", 1)+
				"zuul.host.socket-timeout-millis: 4000\nhystrix.command.default.execution.isolation.thread.timeoutInMilliseconds: 5000\n")
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.URL("/"+kind+"/x"), http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			res, err := newClient(t).Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			in := bufio.NewReader(res.Body)
			for n := range 5 {
				event := fmt.Sprintf("data: %d\n", n)
				next <- event
				if got, err := in.ReadString('\n'); err != nil || got != event {
					t.Fatalf("got %q, %v; want %q", got, err, event)
				}
				if n != 1 {
					continue
				}
				for range 2 { // longer than every timeout of the stream
					g.Get("/"+kind+"/hang").wantStatus(t, http.StatusGatewayTimeout)
				}
			}
			close(next)
		})
	}
}

// sayNext sends what comes from a channel, each piece at once, as an event stream.
func sayNext(next <-chan string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			backendtest.Hang().ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for flusher := http.NewResponseController(w); flusher.Flush() == nil; {
			select {
			case event, more := <-next:
				if !more {
					return
				}
				io.WriteString(w, event)
			case <-r.Context().Done():
				return
			}
		}
	})
}

// C134: responses given up for a retry give their connections back.
func TestRetriedResponsesAreReleased(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100<<10)
	b := backendtest.Start(t, backendtest.Answer(http.StatusServiceUnavailable, long))
	g := startGateway(t, fmt.Sprintf(`
zuul.routes.r: {path: /r/**, serviceId: r, retryable: true}
r.ribbon: {listOfServers: %s, MaxAutoRetries: 2, retryableStatusCodes: 503, MaxConnectionsPerHost: 3, ReadTimeout: 1m}
hystrix.command.r.circuitBreaker.enabled: false
`, b.Addr))
	const calls = 30
	for range calls { // with three connections, a leak of one each would stop this
		if a := g.Get("/r/x").wantStatus(t, http.StatusServiceUnavailable); a.Body != long {
			t.Errorf("%d bytes came back", len(a.Body))
		}
	}
	if n := b.Requests(); n < 3*calls {
		t.Errorf("%d requests: there were no retries", n)
	}
}

// The head of a response of known length does not wait for a body that is slow to
// come, whether it is small or large.
func TestHeadDoesNotWaitForTheBody(t *testing.T) {
	t.Parallel()
	if !onNative() {
		t.Skip("with net/http it does: docs/differences.md")
	}
	for _, kind := range kinds {
		for _, length := range []int{5, 1 << 20} {
			t.Run(fmt.Sprint(kind, " ", length), func(t *testing.T) {
				t.Parallel()
				goOn := make(chan struct{})
				b := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Length", strconv.Itoa(length))
					_ = http.NewResponseController(w).Flush() // the client sees it
					select {
					case <-goOn:
						io.WriteString(w, strings.Repeat("x", length))
					case <-r.Context().Done():
					}
				}))
				g := startGateway(t, bothYAML(b.Addr))
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.URL("/"+kind+"/x"), http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				res, err := newClient(t).Do(req) // returns with the head
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				close(goOn)
				if body, err := io.ReadAll(res.Body); len(body) != length || err != nil {
					t.Errorf("%d bytes: %v", len(body), err)
				}
			})
		}
	}
}

// http M39: trailer fields pass, also those that the upstream has not announced.
func TestUnannouncedTrailers(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		raw := backendtest.StartRaw(t, backendtest.Step{
			Reply: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Late: yes\r\nCookie: no\r\n\r\n",
		})
		g := startGateway(t, bothYAML(raw.Addr))
		res, err := newClient(t).Get(g.URL("/" + kind + "/x")) //nolint:noctx // ends with the client
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if string(body) != "ok" || err != nil || res.Trailer.Get("X-Late") != "yes" || res.Trailer.Get("Cookie") != "" {
			t.Errorf("%s: %q, %v, trailer %v", kind, body, err, res.Trailer)
		}
	}
}
