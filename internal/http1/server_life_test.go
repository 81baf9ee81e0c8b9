package http1_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/http1"
)

func TestServerPersistence(t *testing.T) {
	addr := serving(t, &http1.Server{Handler: http.HandlerFunc(hello), MaxRequestsPerConnection: 3})
	c := dialRaw(t, addr)
	for _, kept := range []bool{true, true, false} {
		c.send(get)
		if got := c.until("World!"); strings.Contains(got, "Connection: close") == kept {
			t.Errorf("received %q, kept should be %v", got, kept)
		}
	}
	c.closed()
}

// waiting is a handler that answers when it is told to.
type waiting struct{ entered, leave chan struct{} }

func newWaiting() *waiting { return &waiting{make(chan struct{}, 100), make(chan struct{})} }

func (h *waiting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.entered <- struct{}{}
	select {
	case <-h.leave:
	case <-r.Context().Done():
		w.Header().Set("X-Ended", r.Context().Err().Error())
	}
}

func TestServerShutdown(t *testing.T) {
	h := newWaiting()
	s, l := &http1.Server{Handler: h}, listen(t).l
	addr := servingOn(t, s, l)
	idle, busy, fresh := dialRaw(t, addr), dialRaw(t, addr), dialRaw(t, addr)
	idle.send(get)
	<-h.entered
	h.leave <- struct{}{}
	idle.until("\r\n\r\n")
	busy.send(get)
	<-h.entered

	brief, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.Shutdown(brief); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Shutdown gave %v while a request was under way", err)
	}
	idle.closed()
	fresh.closed()
	if err := l.(*net.TCPListener).SetDeadline(time.Now()); !errors.Is(err, net.ErrClosed) { // its port may be somebody else's by now
		t.Errorf("new connections are accepted: %v", err)
	}

	done := make(chan error, 1)
	go func() { done <- s.Shutdown(t.Context()) }()
	close(h.leave)
	if got := busy.rest(); statuses(got) != "200" || !strings.Contains(got, "Connection: close") {
		t.Errorf("received %q", got)
	}
	_ = busy.conn.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestServerClose(t *testing.T) {
	h := newWaiting()
	s := &http1.Server{Handler: h}
	c := dialRaw(t, serving(t, s))
	c.send(get)
	<-h.entered
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	c.closed()
}

func TestServerBaseContext(t *testing.T) {
	type key struct{}
	base, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "base"))
	defer cancel()
	h := newWaiting()
	s := &http1.Server{BaseContext: func(net.Listener) context.Context { return base }}
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Context().Value(key{}) != "base" || r.Context().Value(http.ServerContextKey) != s {
			t.Error("values are missing")
		}
		if a, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); !ok || a.String() != r.Host {
			t.Errorf("local address %v", a)
		}
		h.ServeHTTP(w, r)
	})
	addr := serving(t, s)
	c := dialRaw(t, addr)
	c.send(strings.ReplaceAll(lastGet, "g.test", addr))
	<-h.entered
	cancel()
	if got := c.rest(); !strings.Contains(got, "X-Ended: context canceled") {
		t.Errorf("received %q", got)
	}
}

// TestServerGone C126 C113: clients that leave end the request's context, in
// whatever way it is watched, and those that stay do not.
func TestServerGone(t *testing.T) {
	watches := map[string]func(ctx context.Context) <-chan struct{}{
		"Done": func(ctx context.Context) <-chan struct{} { return ctx.Done() },
		"derived": func(ctx context.Context) <-chan struct{} {
			derived, cancel := context.WithCancel(ctx)
			context.AfterFunc(derived, cancel)
			return derived.Done()
		},
		"AfterFunc": func(ctx context.Context) <-chan struct{} {
			done := make(chan struct{})
			context.AfterFunc(ctx, func() { close(done) })
			return done
		},
	}
	leave := map[string]func(*rawConn){
		"FIN": func(c *rawConn) { _ = c.conn.Close() },
		"RST": func(c *rawConn) { _ = c.conn.SetLinger(0); _ = c.conn.Close() },
		"half-close behind another request": func(c *rawConn) {
			c.send(get)
			_ = c.conn.CloseWrite()
		},
	}
	for how, watch := range watches {
		for what, leave := range leave {
			t.Run("C126 "+what+" "+how, func(t *testing.T) {
				entered, ended := make(chan struct{}, 2), make(chan error, 2)
				c := dialRaw(t, answering(t, func(_ http.ResponseWriter, r *http.Request) {
					entered <- struct{}{}
					<-watch(r.Context())
					ended <- context.Cause(r.Context())
				}))
				c.send("POST / HTTP/1.1\r\nHost: g\r\nContent-Length: 0\r\n\r\n")
				<-entered
				leave(c)
				if err := <-ended; !errors.Is(err, context.Canceled) {
					t.Errorf("the context ended with %v", err)
				}
			})
		}
	}
	t.Run("a patient client", func(t *testing.T) {
		c := dialRaw(t, answering(t, func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
				w.WriteHeader(http.StatusTeapot)
			case <-time.After(700 * time.Millisecond):
			}
		}))
		c.send(get + lastGet) // the second waits to be read
		if got := statuses(c.rest()); got != "200 200" {
			t.Errorf("status %s, want 200", got)
		}
	})
	t.Run("C126 a body not read, RST", func(t *testing.T) {
		ended := make(chan struct{})
		entered := make(chan struct{})
		c := dialRaw(t, answering(t, func(_ http.ResponseWriter, r *http.Request) {
			close(entered)
			<-r.Context().Done()
			close(ended)
		}))
		c.send("POST / HTTP/1.1\r\nHost: g\r\nContent-Length: 1000000\r\n\r\nabc")
		<-entered
		_ = c.conn.SetLinger(0)
		_ = c.conn.Close()
		<-ended
	})
}

func TestServerLimits(t *testing.T) {
	admitted := func(t *testing.T, addr string) (*rawConn, bool) {
		t.Helper()
		c := dialRaw(t, addr)
		c.send(get)
		head := c.until("\r\n\r\n")
		return c, statuses(head) == "200"
	}
	type turnedAway struct{ inAll, ofClient int64 }
	for name, row := range map[string]struct {
		server *http1.Server
		want   turnedAway
	}{
		"C258 in all":     {&http1.Server{MaxConnections: 2}, turnedAway{inAll: 1}},
		"C258 per client": {&http1.Server{MaxConnectionsPerClient: 2}, turnedAway{ofClient: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			s, count := row.server, &http1.ServerCount{}
			s.Count, s.Handler = count, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
			addr := serving(t, s)
			first, ok1 := admitted(t, addr)
			_, ok2 := admitted(t, addr)
			c := dialRaw(t, addr)
			if got := c.rest(); !ok1 || !ok2 || statuses(got) != "503" {
				t.Errorf("%v, %v and then %q", ok1, ok2, got)
			}
			if got := (turnedAway{count.TurnedAway.Load(), count.TurnedAwayOfClient.Load()}); got != row.want {
				t.Errorf("turned away: %+v, want %+v", got, row.want)
			}
			first.send(lastGet)
			first.rest()
			_ = first.conn.Close()
			eventually(t, func() bool {
				c := dialRaw(t, addr)
				_, _ = io.WriteString(c.conn, lastGet)
				got, _ := io.ReadAll(c.conn)
				return statuses(string(got)) == "200"
			})
		})
	}
	t.Run("C258 the books are right after disorder", func(t *testing.T) {
		const limit = 20
		addr := serving(t, &http1.Server{MaxConnections: limit, MaxConnectionsPerClient: limit, Handler: http.HandlerFunc(disorder)})
		var all sync.WaitGroup
		for n := range 300 {
			all.Go(func() { provoke(t, addr, n) })
		}
		all.Wait()
		for range limit {
			eventually(t, func() bool {
				c := dialRaw(t, addr)
				_, _ = io.WriteString(c.conn, get)
				got := make([]byte, len("HTTP/1.1 200"))
				_, _ = io.ReadFull(c.conn, got)
				return string(got) == "HTTP/1.1 200" // and stays open
			})
		}
	})
}

// eventually tries until it works or the time is up.
func eventually(t *testing.T, works func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(20 * time.Second); !works(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal("it never works")
		}
	}
}

// disorder hijacks, panics or answers.
func disorder(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/hijack":
		conn, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	case "/panic":
		panic(http.ErrAbortHandler)
	}
}

func provoke(t *testing.T, addr string, n int) {
	t.Helper()
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = conn.Close() }()
	path := []string{"/", "/hijack", "/panic", "broken request"}[n%4]
	_, _ = io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: g\r\n\r\n")
	if rand.IntN(2) == 0 {
		_, _ = conn.Read(make([]byte, 10))
	}
}

func TestServerHijack(t *testing.T) {
	type taken struct {
		conn net.Conn
		rw   *bufio.ReadWriter
		ctx  context.Context //nolint:containedctx // what the handler has seen
	}
	hijacked, leave := make(chan taken, 1), make(chan struct{})
	s := &http1.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", "echo")
		w.WriteHeader(http.StatusSwitchingProtocols)
		conn, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
		}
		hijacked <- taken{conn, rw, r.Context()}
		<-leave
	})}
	c := dialRaw(t, serving(t, s))
	c.send("GET / HTTP/1.1\r\nHost: g\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nearly")
	h := <-hijacked
	defer func() { _ = h.conn.Close() }()
	head := c.until("\r\n\r\n")
	if statuses(head) != "101" || !strings.Contains(head, "Connection: Upgrade\r\n") || strings.Contains(head, "close") {
		t.Errorf("http S20 received %q", head)
	}
	c.send(" late")
	early := h.rw.Reader.Buffered()
	got := make([]byte, len("early late"))
	if _, err := io.ReadFull(h.rw, got); err != nil || string(got) != "early late" || early != len("early") {
		t.Errorf("received %q, %d early, %v", got, early, err)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Errorf("Shutdown waits for a tunnel: %v", err)
	}
	if h.ctx.Err() != nil {
		t.Error("Shutdown ends a tunnel")
	}
	_ = s.Close()
	<-h.ctx.Done()
	if _, err := h.conn.Write([]byte("bye")); err != nil {
		t.Errorf("Close closes a tunnel: %v", err)
	}
	c.expect("bye")
	close(leave)
}

func TestServerTLS(t *testing.T) {
	config := certified(t, "h9", "http/1.1")
	other := make(chan string, 1)
	s := &http1.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.TLS == nil || r.TLS.Version == 0 {
				t.Error("nothing is known of TLS")
			}
			hello(w, r)
		}),
		NextProto: func(conn *tls.Conn) { other <- conn.ConnectionState().NegotiatedProtocol },
	}
	addr := serving(t, tlsEngine{s, config})
	dial := func(protocols ...string) *tls.Conn {
		d := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, NextProtos: protocols}} //nolint:gosec // a test's
		conn, err := d.DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn.(*tls.Conn)
	}
	for _, protocols := range [][]string{nil, {"http/1.1"}} {
		conn := dial(protocols...)
		_, _ = io.WriteString(conn, get)
		got := make([]byte, 1000)
		n, _ := conn.Read(got)
		<-time.After(4 * tick) // the connection dozes
		_, _ = io.WriteString(conn, get+lastGet)
		more, err := io.ReadAll(conn)
		if err != nil || statuses(string(got[:n])+string(more)) != "200 200 200" {
			t.Errorf("http M54 received %q and then %v", got, err)
		}
	}
	dial("h9")
	if got := <-other; got != "h9" {
		t.Errorf("protocol %q", got)
	}
	c := dialRaw(t, addr)
	c.send(get) // plain HTTP to the TLS port
	_, _ = io.ReadAll(c.conn)
}

// certified returns a server's configuration with a certificate for tests.
func certified(t *testing.T, protocols ...string) *tls.Config {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	s.Close()
	return &tls.Config{Certificates: s.TLS.Certificates, NextProtos: protocols} //nolint:gosec // a test's
}

type tlsEngine struct {
	*http1.Server
	config *tls.Config
}

func (e tlsEngine) Serve(l net.Listener) error { return e.Server.Serve(tls.NewListener(l, e.config)) }
