package e2e_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// oneYAML is a service with a route; further keys go below its ribbon block.
func oneYAML(servers, route, ribbon string) string {
	return fmt.Sprintf(`
zuul.routes.one: {path: /one/**, serviceId: one%s}
one.ribbon: {listOfServers: "%s"%s}
`, route, servers, ribbon)
}

const (
	retryable = ", retryable: true"
	allMethod = ", OkToRetryOnAllOperations: true"
	notNext   = ", MaxAutoRetriesNextServer: 0"
)

func TestRetries(t *testing.T) {
	t.Parallel()
	ok := backendtest.Answer(http.StatusOK, "second")
	for _, tt := range []struct {
		name          string
		first         http.Handler
		method        string
		route, ribbon string
		status        int
		calls         int64
	}{
		{"zuul 136 read timeout", backendtest.Hang(), "GET", retryable, ", ReadTimeout: 4000, MaxAutoRetries: 1", 200, 2},
		{"zuul 137 retryable status", backendtest.Answer(404, "first"), "GET", retryable, ", MaxAutoRetries: 1, retryableStatusCodes: \"404,403\"", 200, 2},
		{"zuul 137 another status", backendtest.Answer(404, "first"), "GET", retryable, ", MaxAutoRetries: 1, retryableStatusCodes: \"403\"", 404, 1},
		{"zuul 138 POST, all operations", backendtest.Hang(), "POST", retryable, ", ReadTimeout: 4000, MaxAutoRetries: 1" + allMethod, 200, 2},
		{"zuul 138 POST, 504 here where Zuul says 500", backendtest.Hang(), "POST", retryable, ", ReadTimeout: 4000, MaxAutoRetries: 1", 504, 1},
		{"zuul 139 not retryable", backendtest.Hang(), "GET", ", retryable: false", ", ReadTimeout: 4000, MaxAutoRetries: 1", 504, 1},
		{"zuul 139 not retryable by default", backendtest.Hang(), "GET", "", ", ReadTimeout: 4000, MaxAutoRetries: 1", 504, 1},
		{"C135 POST, closed without an answer", backendtest.HangUp(), "POST", retryable, "", 502, 1},
		{"C135 PATCH, reset", backendtest.Reset(), "PATCH", retryable, "", 502, 1},
		{"C135 POST, reset, no retries", backendtest.Reset(), "POST", "", notNext, 502, 1},
		{"GET, reset, no retries", backendtest.Reset(), "GET", "", notNext, 502, 1},
		{"GET, reset", backendtest.Reset(), "GET", retryable, ", MaxAutoRetries: 1", 200, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := backendtest.Start(t, backendtest.Sequence(tt.first, ok))
			g := startGateway(t, oneYAML(b.Addr, tt.route, tt.ribbon))
			body := ""
			if tt.method != http.MethodGet {
				body = "some body"
			}
			g.Do(tt.method, "/one/x", body, "Idempotency-Key: 1", "X-Idempotency-Key: 1").wantStatus(t, tt.status)
			if n := b.Requests(); n != tt.calls {
				t.Errorf("%d deliveries, want %d", n, tt.calls)
			}
		})
	}
}

// C135 over a connection that was used before, where net/http would repeat by itself.
func TestNoRepeatOnReusedConnections(t *testing.T) {
	t.Parallel()
	for _, body := range []string{"", "some body"} {
		first := backendtest.Answer(http.StatusOK, "")
		b := backendtest.Start(t, backendtest.Sequence(first, backendtest.Reset(), backendtest.Answer(http.StatusOK, "repeated")))
		g := startGateway(t, oneYAML(b.Addr, "", ""))
		g.Get("/one/x").wantStatus(t, http.StatusOK)
		g.Do(http.MethodPost, "/one/x", body, "Idempotency-Key: 1", "X-Idempotency-Key: 1").wantStatus(t, http.StatusBadGateway)
		if n := b.Requests(); n != 2 {
			t.Errorf("%d deliveries, want 2", n)
		}
	}
}

// C137: two tries on each of three servers, and one event for the circuit.
func TestC137RetriesDoNotMultiply(t *testing.T) {
	t.Parallel()
	backends := []*backendtest.Backend{
		backendtest.Start(t, backendtest.HangUp()), backendtest.Start(t, backendtest.HangUp()), backendtest.Start(t, backendtest.HangUp()),
	}
	g := startGateway(t, oneYAML(backends[0].Addr+","+backends[1].Addr+","+backends[2].Addr, retryable, ", MaxAutoRetries: 1, MaxAutoRetriesNextServer: 2"))
	g.Get("/one/x").wantStatus(t, http.StatusBadGateway)
	for n, b := range backends {
		if got := b.Requests(); got != 2 {
			t.Errorf("server %d got %d deliveries, want 2", n, got)
		}
	}
}

// C129: the budget follows from the timeouts, unless it is set.
func TestC129Budget(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		ribbon, hystrix string
		status          int
		second          int64
	}{
		"derived":   {", ReadTimeout: 4000", "", http.StatusOK, 1},
		"too small": {", ReadTimeout: 40000", "hystrix.command.one.execution.isolation.thread.timeoutInMilliseconds: 3000\n", http.StatusGatewayTimeout, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			silent := startSlow(t)
			second := backendtest.Start(t, backendtest.Slow(200*time.Millisecond, backendtest.Answer(http.StatusOK, "")))
			g := startGateway(t, oneYAML(silent.Addr+","+second.Addr, retryable, tt.ribbon)+tt.hystrix)
			began := time.Now()
			g.Get("/one/x").wantStatus(t, tt.status)
			took := time.Since(began)
			receive(t, "the silent server is given up", silent.gone)
			if n := second.Requests(); n != tt.second {
				t.Errorf("the second server got %d requests, want %d", n, tt.second)
			}
			if tt.second == 0 && took > 10*time.Second {
				t.Errorf("took %s with a budget of 3s", took)
			}
			if warned := g.Log.Count("the timeout of 3s is less than") > 0; warned != (tt.second == 0) {
				t.Errorf("warned of a budget that is too small: %t", warned)
			}
		})
	}
}

// C131, zuul 116: the second server gets the whole body or nothing at all.
func TestBodyIsReplayed(t *testing.T) {
	t.Parallel()
	form, contentType := multipartForm(t)
	// The first server reads all of the body, then fails.
	for name, first := range map[string]http.Handler{"status": readThen(backendtest.Answer(503, "no")), "closed": backendtest.HangUp()} {
		for body, tt := range map[string]struct {
			content string
			status  int // of the second server, or that of the first when nothing can be repeated
		}{
			"none":      {"", http.StatusOK},
			"one byte":  {"x", http.StatusOK},
			"4096":      {strings.Repeat("x", 4096), http.StatusOK},
			"60000":     {strings.Repeat("0123456789", 6000), http.StatusOK},
			"multipart": {form, http.StatusOK},
			"too long":  {strings.Repeat("0123456789", 7000), 0},
		} {
			for _, chunks := range []bool{false, true} {
				t.Run(fmt.Sprintf("C131 %s, %s, chunked %t", name, body, chunks), func(t *testing.T) {
					t.Parallel()
					a, b := backendtest.Start(t, first), startMirror(t)
					g := startGateway(t, oneYAML(a.Addr+","+b.Addr, retryable, allMethod+", retryableStatusCodes: 503"))
					var content io.Reader = strings.NewReader(tt.content)
					if chunks {
						content = onlyReader{content}
					}
					got, err := send(t.Context(), http.MethodPost, g.URL("/one/x?a=1"), http.Header{"Content-Type": {contentType}}, content)
					if err != nil {
						t.Fatal(err)
					}
					if tt.status == 0 {
						if got.Status != 502 && got.Status != 503 || b.requests.Load() != 0 {
							t.Errorf("status %d after %d repetitions of a body that is not kept", got.Status, b.requests.Load())
						}
						return
					}
					r := got.reflected(t)
					r.wantTarget(t, "/x?a=1")
					if r.payload(t) != tt.content {
						t.Error("another body arrived")
					}
					if framed := len(r.Values("Transfer-Encoding")) > 0; framed != chunks {
						t.Errorf("chunked: %t", framed)
					}
				})
			}
		}
	}
}

func readThen(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		next.ServeHTTP(w, r)
	})
}

func multipartForm(t *testing.T) (body, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if err := w.WriteField("foo", "bar"); err != nil {
		t.Fatal(err)
	}
	part, err := w.CreateFormFile("file", "x.bin")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Write(bytes.Repeat([]byte{0, 13, 10, 255}, 500)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String(), w.FormDataContentType()
}

// C025, zuul 116: a server that cannot be reached has seen nothing, so a body of any kind
// goes to the next one, once, with the query as it was.
func TestUnreachableServerGetsNothing(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	for _, unreachable := range []string{dead(t), "nowhere.invalid:80"} {
		g := startGateway(t, oneYAML(unreachable+","+m.Addr, "", ""))
		for range 2 {
			r := g.Do(http.MethodPost, "/one/up?a=1&b=2", multipartBody, "Content-Type: multipart/form-data; boundary=AaB03x").reflected(t)
			r.wantTarget(t, "/up?a=1&b=2")
			if r.payload(t) != multipartBody {
				t.Error("another body arrived")
			}
		}
	}
}

// C133: the last answer is the client's, and nothing of those before it.
func TestC133LastAnswerIsKept(t *testing.T) {
	t.Parallel()
	says := func(name string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-"+name, "1")
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusServiceUnavailable)
			io.WriteString(w, name)
		})
	}
	a, b := backendtest.Start(t, says("First")), backendtest.Start(t, says("Last"))
	g := startGateway(t, oneYAML(a.Addr+","+b.Addr, retryable, ", retryableStatusCodes: 503"))
	got := g.Get("/one/x").wantStatus(t, http.StatusServiceUnavailable)
	if got.Body != "Last" || got.Header.Get("X-Last") != "1" || got.Header.Get("X-First") != "" || got.Header.Get("Retry-After") != "7" {
		t.Errorf("%v %q", got.Header, got.Body)
	}
}
