package h2

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server serves connections that are handed to it. Any number of goroutines may do that.
type Server struct {
	settings Settings
	http     *http.Server
	gate     *gate
}

// headSlack is how many times longer than HeaderBytes a head may be before net/http stops reading it.
// It gives up the connection then, where this package answers 431.
const headSlack = 4

// NewServer returns a server that has not started anything. All requests stem from base.
func NewServer(base context.Context, s Settings) *Server {
	own := &Server{settings: s, gate: newGate()}
	h := &http.Server{
		Protocols:         new(http.Protocols),
		ReadHeaderTimeout: s.HeaderTimeout,
		BaseContext:       func(net.Listener) context.Context { return base },
	}
	h.Protocols.SetUnencryptedHTTP2(true) // also over TLS, which has been dealt with before
	own.settings.Configure(h)
	h.MaxHeaderBytes *= headSlack
	own.http = h
	return own
}

// Serve lets connections be served until Shutdown or Close, and returns http.ErrServerClosed then.
// Call it once.
func (s *Server) Serve() error { return s.http.Serve(s.gate) }

// ServeConn serves one connection and returns when it has ended. It begins with the bytes that have
// been read from it already; state is that of its TLS, nil without.
func (s *Server) ServeConn(raw net.Conn, ahead []byte, state *tls.ConnectionState) {
	c := newConn(raw, ahead, &s.settings)
	c.state = state
	var until time.Time
	if s.settings.HeaderTimeout > 0 {
		until = time.Now().Add(s.settings.HeaderTimeout)
	}
	_ = raw.SetReadDeadline(until)                                                             // for the preface: net/http lifts it then
	if tooOld := state != nil && state.Version < tls.VersionTLS12; tooOld || !s.gate.pass(c) { // RFC 9113 9.2
		_ = raw.Close()
		return
	}
	<-c.closed
	if flood := c.guard.verdict(); flood != noFlood {
		s.settings.Count.flooded(flood)
		s.settings.Log.Debug("HTTP/2 connection cut", "client", raw.RemoteAddr().String(), "too many", flood.String())
	}
}

// Shutdown takes no more connections, tells the clients of the others to open no more streams
// (GOAWAY), and waits until the open ones have ended. When ctx ends first it returns its error and
// leaves the rest to Close.
func (s *Server) Shutdown(ctx context.Context) error { return s.http.Shutdown(ctx) }

// Close closes all connections and ends the contexts of their requests. It does not wait for handlers.
func (s *Server) Close() error { return s.http.Close() }

// gate is the listener through which connections reach net/http.
type gate struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newGate() *gate { return &gate{conns: make(chan net.Conn), closed: make(chan struct{})} }

// pass returns false if nobody takes the connection any more.
func (g *gate) pass(c net.Conn) bool {
	select {
	case g.conns <- c:
		return true
	case <-g.closed:
		return false
	}
}

func (g *gate) Accept() (net.Conn, error) {
	select {
	case c := <-g.conns:
		return c, nil
	case <-g.closed:
		return nil, net.ErrClosed
	}
}

func (g *gate) Close() error {
	g.once.Do(func() { close(g.closed) })
	return nil
}

func (*gate) Addr() net.Addr { return handedOver{} }

// handedOver is the address of connections that others have accepted.
type handedOver struct{}

func (handedOver) Network() string { return "tcp" }
func (handedOver) String() string  { return "handed over" }
