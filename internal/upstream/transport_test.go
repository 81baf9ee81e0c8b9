package upstream_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/upstream"
)

func newTransport(t *testing.T, s upstream.Settings) *upstream.Transport {
	t.Helper()
	transport := upstream.New(s)
	t.Cleanup(transport.CloseIdle)
	return transport
}

// get returns the body of the response, which the end of the test closes.
func get(t *testing.T, transport http.RoundTripper, url string) (io.ReadCloser, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return res.Body, nil
}

func mustGet(t *testing.T, transport http.RoundTripper, url string) io.ReadCloser {
	t.Helper()
	body, err := get(t, transport, url)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// drip sends a head and one byte, then waits for the end of the request.
func drip(contentType string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, "x")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
}

func TestNothingIsAddedToARequest(t *testing.T) {
	raw := backendtest.StartRaw(t, backendtest.Step{Reply: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\nContent-Encoding: gzip\r\n\r\n"})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+raw.Addr, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.URL.Opaque = "/a%2Fb/./c|d"
	req.URL.RawQuery = "q=%zz&&+"
	req.Header["User-Agent"] = []string{""}
	res, err := newTransport(t, upstream.Settings{}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if got := res.Header.Get("Content-Encoding"); got != "gzip" {
		t.Errorf("Content-Encoding = %q, want it untouched", got)
	}
	want := "GET /a%2Fb/./c|d?q=%zz&&+ HTTP/1.1\r\nHost: " + raw.Addr + "\r\n\r\n"
	if got := raw.Received()[0]; got != want {
		t.Errorf("upstream received %q, want %q", got, want)
	}
}

func TestSilentServerBeforeTheHead(t *testing.T) {
	b := backendtest.Start(t, backendtest.Hang())
	_, err := get(t, newTransport(t, upstream.Settings{ReadTimeout: 50 * time.Millisecond}), b.URL())
	var timeout net.Error
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Fatalf("error %v, want a timeout", err)
	}
}

func TestPausingBody(t *testing.T) {
	b := backendtest.Start(t, drip("text/plain"))
	body := mustGet(t, newTransport(t, upstream.Settings{ReadTimeout: 50 * time.Millisecond}), b.URL())
	got, err := io.ReadAll(body)
	if string(got) != "x" || !errors.Is(err, upstream.ErrReadTimeout) {
		t.Fatalf("read %q, %v; want x and the read timeout", got, err)
	}
}

func TestEventStreamMayPause(t *testing.T) {
	b := backendtest.Start(t, drip("Text/Event-Stream; charset=utf-8"))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.URL(), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := newTransport(t, upstream.Settings{ReadTimeout: 20 * time.Millisecond}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err = io.ReadAll(res.Body); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("the stream ended with %v, want the request's own deadline", err)
	}
}

func TestLimits(t *testing.T) {
	tests := []struct {
		name     string
		settings upstream.Settings
		other    bool // the second request goes to another server
		want     error
	}{
		{"per host", upstream.Settings{MaxPerHost: 1}, false, upstream.ErrPoolExhausted},
		{"another host is unaffected", upstream.Settings{MaxPerHost: 1}, true, nil},
		{"in all", upstream.Settings{MaxTotal: 1}, true, upstream.ErrPoolExhausted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			one := backendtest.Start(t, drip("text/event-stream"))
			two := backendtest.Start(t, backendtest.Answer(http.StatusOK, "two"))
			tt.settings.AcquireTimeout = 20 * time.Millisecond
			transport := newTransport(t, tt.settings)
			busy := mustGet(t, transport, one.URL())

			second := one.URL()
			if tt.other {
				second = two.URL()
			}
			body, err := get(t, transport, second)
			if err == nil {
				_ = body.Close()
			}
			if !errors.Is(err, tt.want) {
				t.Fatalf("second request: %v, want %v", err, tt.want)
			}
			_ = busy.Close()
			mustGet(t, transport, two.URL())
		})
	}
}

func TestWaitingForAPlaceEndsWithTheRequest(t *testing.T) {
	b := backendtest.Start(t, drip("text/event-stream"))
	transport := newTransport(t, upstream.Settings{MaxPerHost: 1, AcquireTimeout: time.Hour})
	mustGet(t, transport, b.URL())
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.URL(), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := transport.RoundTrip(req); !errors.Is(err, gone) { //nolint:bodyclose // there is none
		t.Fatalf("error %v, want the cause of the request's end", err)
	}
}

func TestConnectionsAreReused(t *testing.T) {
	b := backendtest.Start(t, backendtest.Answer(http.StatusOK, strings.Repeat("x", 100)))
	transport := newTransport(t, upstream.Settings{})
	for range 10 {
		body := mustGet(t, transport, b.URL())
		if _, err := io.Copy(io.Discard, body); err != nil {
			t.Fatal(err)
		}
		_ = body.Close()
	}
	if got := b.Connections(); got != 1 {
		t.Errorf("%d connections for 10 requests in turn, want 1", got)
	}
}

func TestHugeHeadIsRefused(t *testing.T) {
	b := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Big", strings.Repeat("x", 64<<10))
	}))
	if _, err := get(t, newTransport(t, upstream.Settings{MaxHeaderBytes: 8 << 10}), b.URL()); err == nil {
		t.Fatal("a head beyond the limit was accepted")
	}
}

func TestTLS(t *testing.T) {
	server := httptest.NewTLSServer(backendtest.Answer(http.StatusOK, "secret"))
	defer server.Close()

	_, err := get(t, newTransport(t, upstream.Settings{}), server.URL)
	var unsent interface{ NothingSent() bool }
	if !errors.As(err, &unsent) || !unsent.NothingSent() {
		t.Fatalf("unknown authority: %v, want a failure before anything was sent", err)
	}
	body := mustGet(t, newTransport(t, upstream.Settings{SkipVerify: true}), server.URL)
	if got, err := io.ReadAll(body); err != nil || string(got) != "secret" {
		t.Fatalf("without checks: %q, %v", got, err)
	}
}

func TestHangUpDuringTheHandshake(t *testing.T) {
	raw := backendtest.StartRaw(t, backendtest.Step{Await: "\x16", Close: true})
	_, err := get(t, newTransport(t, upstream.Settings{}), "https://"+raw.Addr)
	var unsent interface{ NothingSent() bool }
	if !errors.As(err, &unsent) || !unsent.NothingSent() {
		t.Fatalf("error %v, want a failure before anything was sent", err)
	}
}
