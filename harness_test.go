package gozer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// parse reads a configuration that must be right.
func parse(tb testing.TB, yaml string) *config.Config {
	tb.Helper()
	cfg, report := config.Parse("gateway.yaml", []byte(yaml), config.Options{})
	if err := report.Err(); err != nil {
		tb.Fatal(err)
	}
	return cfg
}

func newGateway(tb testing.TB, yaml string, opts ...gozer.Option) *gozer.Gateway {
	tb.Helper()
	quiet := gozer.WithLogger(slog.New(slog.DiscardHandler))
	g, err := gozer.New(parse(tb, yaml), append([]gozer.Option{quiet}, opts...)...)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

// ask sends a request without a body; headers are name, value, name, value….
func ask(tb testing.TB, h http.Handler, method, target string, headers ...string) *httptest.ResponseRecorder {
	tb.Helper()
	r := httptest.NewRequestWithContext(tb.Context(), method, target, http.NoBody)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func get(tb testing.TB, h http.Handler, target string) *httptest.ResponseRecorder {
	tb.Helper()
	return ask(tb, h, http.MethodGet, target)
}

func wantAnswer(tb testing.TB, got *httptest.ResponseRecorder, status int, body string) {
	tb.Helper()
	if got.Code != status || got.Body.String() != body {
		tb.Errorf("got %d %q, want %d %q", got.Code, got.Body, status, body)
	}
}

// wantFailure looks at Spring's error body.
func wantFailure(tb testing.TB, got *httptest.ResponseRecorder, status int, message string) {
	tb.Helper()
	var body struct {
		Status  int
		Message string
	}
	if err := json.Unmarshal(got.Body.Bytes(), &body); err != nil {
		tb.Fatalf("%d %q is no error body: %v", got.Code, got.Body, err)
	}
	if got.Code != status || body.Status != status || body.Message != message {
		tb.Errorf("got %d, body %d %q, want %d %q", got.Code, body.Status, body.Message, status, message)
	}
}

// patient gives upstreams on sockets more time than any machine needs.
const patient = "ribbon.ConnectTimeout: 60000\nribbon.ReadTimeout: 60000\nzuul.host.connect-timeout-millis: 60000\n"

// respond is a filter that answers everything with body.
func respond(name string, phase filters.Phase, order int, body string) filters.Spec {
	return filters.Func(name, phase, order, func(c *filters.Context) error {
		c.Respond(http.StatusOK, nil, strings.NewReader(body))
		return nil
	})
}

func says(word string) http.Handler { return backendtest.Answer(http.StatusOK, word) }

// roundTrip is a transport without a network.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answerWith answers with what body makes of the request.
func answerWith(body func(*http.Request) string) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		text := body(r)
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{},
			Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)), Request: r,
		}, nil
	})
}

// messages is a logger whose texts can be waited for.
func messages(buffered int) (*slog.Logger, <-chan string) {
	lines := make(chan string, buffered)
	return slog.New(slog.NewTextHandler(lineWriter(lines), nil)), lines
}

type lineWriter chan<- string

func (w lineWriter) Write(p []byte) (int, error) {
	w <- string(bytes.TrimSpace(p))
	return len(p), nil
}

// running is a gateway at work.
type running struct {
	stop context.CancelFunc
	done chan error
}

// run starts a gateway. The test ends after it: where time is fake it stands still
// afterwards, and a gateway that still waits for a connection would wait for ever.
func run(tb testing.TB, g *gozer.Gateway) *running {
	tb.Helper()
	ctx, stop := context.WithCancel(tb.Context())
	r := &running{stop, make(chan error, 1)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.done <- g.Run(ctx)
	}()
	tb.Cleanup(func() { stop(); <-ended })
	return r
}
