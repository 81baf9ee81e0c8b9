package backendtest

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/tlsout"
)

// Transport is a client side that TestTransport examines.
type Transport interface {
	http.RoundTripper
	CloseIdle()
	Retire()
}

// TransportSettings are those that every Transport has. Zero fields stand for
// its defaults.
type TransportSettings struct {
	ReadTimeout, AcquireTimeout time.Duration
	MaxTotal, MaxPerHost        int
	MaxHeaderBytes              int64
	TLS                         *tlsout.Client
}

// TransportSuite is what all transports of the gateway have in common.
type TransportSuite struct {
	New                              func(TransportSettings) Transport
	ErrReadTimeout, ErrPoolExhausted error
}

// Run examines the transports that New makes.
func (s TransportSuite) Run(t *testing.T) {
	t.Helper()
	t.Run("nothing is added to a request", s.bytes)
	t.Run("silent server before the head", s.silence)
	t.Run("pausing body", s.pause)
	t.Run("event stream may pause", s.eventStream)
	t.Run("limits", s.limits)
	t.Run("waiting for a place ends with the request", s.cancelledWait)
	t.Run("waiting for a place is not waiting for the server", s.longWait)
	t.Run("connections are reused", s.reuse)
	t.Run("retired", s.retired)
	t.Run("huge head is refused", s.hugeHead)
	t.Run("TLS", s.secure)
	t.Run("hang-up during the handshake", s.handshake)
}

func (s TransportSuite) start(t *testing.T, settings TransportSettings) Transport {
	t.Helper()
	settings.ReadTimeout = cmp.Or(settings.ReadTimeout, time.Minute) // the default is too short for a busy machine
	transport := s.New(settings)
	t.Cleanup(transport.CloseIdle)
	return transport
}

// fetch returns the body of the response, which the end of the test closes.
func fetch(t *testing.T, transport http.RoundTripper, url string) (io.ReadCloser, error) {
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

func mustFetch(t *testing.T, transport http.RoundTripper, url string) io.ReadCloser {
	t.Helper()
	body, err := fetch(t, transport, url)
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

func (s TransportSuite) bytes(t *testing.T) {
	raw := StartRaw(t, Step{Reply: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\nContent-Encoding: gzip\r\n\r\n"})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+raw.Addr, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.URL.Opaque = "/a%2Fb/./c|d"
	req.URL.RawQuery = "q=%zz&&+"
	req.Header["User-Agent"] = []string{""}
	res, err := s.start(t, TransportSettings{}).RoundTrip(req)
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

func (s TransportSuite) silence(t *testing.T) {
	b := Start(t, Hang())
	_, err := fetch(t, s.start(t, TransportSettings{ReadTimeout: 50 * time.Millisecond}), b.URL())
	var timeout net.Error
	if !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Fatalf("error %v, want a timeout", err)
	}
}

// silenceAllowed is a time-out that has to pass in a test and that an answer on a busy
// machine must keep to.
const silenceAllowed = 3 * time.Second

func (s TransportSuite) pause(t *testing.T) {
	t.Parallel()
	b := Start(t, drip("text/plain"))
	body := mustFetch(t, s.start(t, TransportSettings{ReadTimeout: silenceAllowed}), b.URL())
	got, err := io.ReadAll(body)
	if string(got) != "x" || !errors.Is(err, s.ErrReadTimeout) {
		t.Fatalf("read %q, %v; want x and the read timeout", got, err)
	}
}

func (s TransportSuite) eventStream(t *testing.T) {
	t.Parallel()
	b := Start(t, drip("Text/Event-Stream; charset=utf-8"))
	ctx, cancel := context.WithTimeout(t.Context(), 2*silenceAllowed)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.URL(), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.start(t, TransportSettings{ReadTimeout: silenceAllowed}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err = io.ReadAll(res.Body); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("the stream ended with %v, want the request's own deadline", err)
	}
}

func (s TransportSuite) limits(t *testing.T) {
	tests := []struct {
		name     string
		settings TransportSettings
		other    bool // the second request goes to another server
		want     error
	}{
		{"per host", TransportSettings{MaxPerHost: 1}, false, s.ErrPoolExhausted},
		{"another host is unaffected", TransportSettings{MaxPerHost: 1}, true, nil},
		{"in all", TransportSettings{MaxTotal: 1}, true, s.ErrPoolExhausted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			one := Start(t, drip("text/event-stream"))
			two := Start(t, Answer(http.StatusOK, "two"))
			tt.settings.AcquireTimeout = 500 * time.Millisecond
			transport := s.start(t, tt.settings)
			busy := mustFetch(t, transport, one.URL())

			second := one.URL()
			if tt.other {
				second = two.URL()
			}
			body, err := fetch(t, transport, second)
			if err == nil {
				_ = body.Close()
			}
			if !errors.Is(err, tt.want) || unasked(err) != (tt.want != nil) {
				t.Fatalf("second request: %v, its server unasked: %t; want %v", err, unasked(err), tt.want)
			}
			_ = busy.Close()
			mustFetch(t, transport, two.URL())
		})
	}
}

func (s TransportSuite) cancelledWait(t *testing.T) {
	b := Start(t, drip("text/event-stream"))
	transport := s.start(t, TransportSettings{MaxPerHost: 1, AcquireTimeout: time.Hour})
	mustFetch(t, transport, b.URL())
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { cancel(gone) })
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.URL(), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := transport.RoundTrip(req); !errors.Is(err, gone) || !unasked(err) { //nolint:bodyclose // there is none
		t.Fatalf("error %v, its server unasked: %t; want the cause of the request's end", err, unasked(err))
	}
}

// longWait has the second request wait for the connection of the first for longer than a
// server may be silent.
func (s TransportSuite) longWait(t *testing.T) {
	t.Parallel()
	finish := make(chan struct{})
	b := Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/long" {
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-finish:
		case <-r.Context().Done():
		}
	}))
	transport := s.start(t, TransportSettings{MaxPerHost: 1, ReadTimeout: silenceAllowed, AcquireTimeout: time.Minute})
	busy := mustFetch(t, transport, b.URL()+"/long")
	time.AfterFunc(silenceAllowed+silenceAllowed/2, func() {
		close(finish)
		_, _ = io.Copy(io.Discard, busy)
		_ = busy.Close()
	})
	body, err := fetch(t, transport, b.URL())
	if err != nil {
		t.Fatalf("the server has answered at once, and the request failed with %v", err)
	}
	_ = body.Close()
}

func (s TransportSuite) reuse(t *testing.T) {
	b := Start(t, Answer(http.StatusOK, strings.Repeat("x", 100)))
	transport := s.start(t, TransportSettings{})
	for range 10 {
		body := mustFetch(t, transport, b.URL())
		if _, err := io.Copy(io.Discard, body); err != nil {
			t.Fatal(err)
		}
		_ = body.Close()
	}
	// net/http gives a connection up if the goroutine that has sent the request is held up.
	if got := b.Connections(); got > 3 {
		t.Errorf("%d connections for 10 requests in turn, want 1", got)
	}
}

// retired lets the requests under way end, and serves those that come late, and keeps
// no connection after them.
func (s TransportSuite) retired(t *testing.T) {
	finish, closed := make(chan struct{}), make(chan struct{}, 2)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "x")
		_ = http.NewResponseController(w).Flush()
		<-finish
		_, _ = io.WriteString(w, "y")
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	transport := s.start(t, TransportSettings{})
	early := mustFetch(t, transport, server.URL)
	transport.Retire()
	late := mustFetch(t, transport, server.URL)
	close(finish)
	for _, body := range []io.ReadCloser{early, late} {
		if text, err := io.ReadAll(body); err != nil || string(text) != "xy" {
			t.Errorf("%q, %v", text, err)
		}
		_ = body.Close()
	}
	for range 2 {
		select {
		case <-closed:
		case <-time.After(20 * time.Second): // less than connections may idle
			t.Fatal("a connection is kept")
		}
	}
}

func (s TransportSuite) hugeHead(t *testing.T) {
	b := Start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Big", strings.Repeat("x", 64<<10))
	}))
	if _, err := fetch(t, s.start(t, TransportSettings{MaxHeaderBytes: 8 << 10}), b.URL()); err == nil {
		t.Fatal("a head beyond the limit was accepted")
	}
}

func (s TransportSuite) secure(t *testing.T) {
	server := httptest.NewUnstartedServer(Answer(http.StatusOK, "secret"))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	server.StartTLS()
	defer server.Close()

	_, err := fetch(t, s.start(t, TransportSettings{}), server.URL)
	if !nothingSent(err) {
		t.Fatalf("unknown authority: %v, want a failure before anything was sent", err)
	}
	body := mustFetch(t, s.start(t, TransportSettings{TLS: tlsout.New(tlsout.Options{Settings: tlsout.Settings{SkipVerify: true}})}), server.URL)
	if got, err := io.ReadAll(body); err != nil || string(got) != "secret" {
		t.Fatalf("without checks: %q, %v", got, err)
	}
}

func (s TransportSuite) handshake(t *testing.T) {
	raw := StartRaw(t, Step{Await: "\x16", Close: true})
	if _, err := fetch(t, s.start(t, TransportSettings{}), "https://"+raw.Addr); !nothingSent(err) {
		t.Fatalf("error %v, want a failure before anything was sent", err)
	}
}

func nothingSent(err error) bool {
	var unsent interface{ NothingSent() bool }
	return errors.As(err, &unsent) && unsent.NothingSent()
}

// unasked reports that an error says nothing about the server.
func unasked(err error) bool {
	var marked interface{ ServerUnasked() bool }
	return errors.As(err, &marked) && marked.ServerUnasked()
}
