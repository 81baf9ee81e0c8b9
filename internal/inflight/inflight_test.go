package inflight_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/inflight"
	"github.com/gozer-gateway/gozer/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// held answers "/begun" with its head at once; everything ends with its context or when
// told to.
type held struct{ arrived, leave chan struct{} }

func (h *held) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/begun" {
		_, _ = io.WriteString(w, "x")
		_ = http.NewResponseController(w).Flush()
	}
	h.arrived <- struct{}{}
	select {
	case <-h.leave:
	case <-r.Context().Done():
		w.WriteHeader(http.StatusServiceUnavailable) // what nobody is to see
	}
}

func serving(t *testing.T) (*inflight.Server, *held, net.Listener) {
	t.Helper()
	h := &held{make(chan struct{}, 10), make(chan struct{})}
	s := inflight.NewServer(&http.Server{Handler: h, ReadHeaderTimeout: time.Minute})
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	t.Cleanup(func() {
		_ = s.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("Serve returned %v", err)
		}
	})
	return s, h, l
}

func ask(t *testing.T, l net.Listener, path string) *bufio.Reader {
	t.Helper()
	var d net.Dialer
	c, err := d.DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: g\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return bufio.NewReader(c)
}

func wantInFlight(t *testing.T, s *inflight.Server, connections, requests, responses int) {
	t.Helper()
	if c, q, r := s.InFlight(); c != connections || q != requests || r != responses {
		t.Errorf("in flight are %d, %d, %d; want %d, %d, %d", c, q, r, connections, requests, responses)
	}
}

func TestEachKindIsCutByItself(t *testing.T) {
	s, h, l := serving(t)
	waiting, begun := ask(t, l, "/"), ask(t, l, "/begun")
	<-h.arrived
	<-h.arrived
	wantInFlight(t, s, 2, 1, 1)
	if n := s.CutRequests(); n != 1 {
		t.Errorf("cut %d requests", n)
	}
	if rest, err := io.ReadAll(waiting); len(rest) > 0 || err != nil {
		t.Errorf("a request that was cut got %q, %v", rest, err)
	}
	if n := s.CutResponses(); n != 1 {
		t.Errorf("cut %d responses", n)
	}
	res, err := http.ReadResponse(begun, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a response that was cut looks complete: %q, %v", body, err)
	}
}

func TestDrainSaysClose(t *testing.T) {
	s, h, l := serving(t)
	waiting := ask(t, l, "/")
	<-h.arrived
	s.Drain()
	if err := l.(*net.TCPListener).SetDeadline(time.Now()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("new connections are accepted: %v", err)
	}
	close(h.leave)
	res, err := http.ReadResponse(waiting, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if !res.Close {
		t.Error("the answer lacks Connection: close")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Error(err)
	}
}

// lateListener goes on accepting until it has been closed twice.
type lateListener struct {
	net.Listener
	closes atomic.Int64
	again  chan struct{}
}

func (l *lateListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.again
	}
	return c, err
}

func (l *lateListener) Close() error {
	if l.closes.Add(1) == 2 {
		close(l.again)
	}
	return l.Listener.Close()
}

// It is no failure that Drain has closed a listener which net/http has not yet let go.
func TestShutdownRightAfterDrain(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &held{make(chan struct{}, 1), make(chan struct{})}
	s := inflight.NewServer(&http.Server{Handler: h, ReadHeaderTimeout: time.Minute})
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(&lateListener{Listener: l, again: make(chan struct{})}) }()
	ask(t, l, "/")
	<-h.arrived
	close(h.leave)
	s.Drain()
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("Serve returned %v", err)
	}
}
