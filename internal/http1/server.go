package http1

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// Server answers HTTP/1.0 and HTTP/1.1 requests on plain and TLS connections.
// It is used like an http.Server: set the fields, call Serve, then Shutdown or
// Close; the fields must not change after that.
//
// A handler gets the same types as from net/http, with one difference: the
// request, its URL and all header maps and slices belong to the connection and
// are filled anew for its next request, so they are valid until ServeHTTP
// returns. Strings stay valid; Clone a request to keep it.
//
// Waits are measured in ticks of a tenth of a second.
type Server struct {
	// Handler answers the requests. A panic cuts the connection, so that a
	// response under way does not look complete; any other value than
	// http.ErrAbortHandler is logged.
	Handler http.Handler

	// Limits bound the heads of requests.
	Limits Limits

	// HeaderTimeout bounds the time from a request's first byte to the end of
	// its head, that from a connection's start to its first byte, and the TLS
	// handshake. A request that is too slow is answered with 408. 0: no limit.
	HeaderTimeout time.Duration

	// BodyTimeout bounds each wait for more of a request body. 0: no limit.
	BodyTimeout time.Duration

	// IdleTimeout bounds the wait for a further request. 0: no limit.
	IdleTimeout time.Duration

	// WriteTimeout bounds each wait for the client to take more of a response,
	// 64 KiB at a time. 0: no limit.
	WriteTimeout time.Duration

	// MaxRequestsPerConnection closes a connection after so many requests.
	// 0: no limit.
	MaxRequestsPerConnection int

	// MaxConnections and MaxConnectionsPerClient bound the open connections in
	// all and per address of a client. Further ones are answered with 503 and
	// closed. 0: no limit.
	MaxConnections, MaxConnectionsPerClient int

	// Log receives what clients do wrong, at debug level, and panics of the
	// handler as errors. Nil: nothing is logged.
	Log *slog.Logger

	// Count is told of connections and of what the server answers by itself. Nil: nothing
	// is counted.
	Count *ServerCount

	// Refused hears of each message that the server refuses by itself, on the connection's
	// goroutine. Nil: nobody does.
	Refused func(Refusal)

	// HandshakeFailed hears of TLS handshakes that have failed, on the goroutine of their
	// connection. Nil: nobody does.
	HandshakeFailed func(err error)

	// BaseContext makes the context from which those of the requests on a
	// listener get their values. Its end ends them. Nil means
	// context.Background().
	BaseContext func(net.Listener) context.Context

	// NextProto takes over a TLS connection on which the client has chosen
	// another protocol than http/1.1 or http/1.0 by ALPN. The connection is closed when it
	// returns. Nil: such connections are closed at once.
	NextProto func(conn *tls.Conn)

	// Preface takes over a plain connection that begins with the client preface
	// of HTTP/2 (RFC 9113 3.4), which it finds in received with what has come
	// behind it. Like those of NextProto, such connections count against the
	// limits, Shutdown waits for them and Close closes them. Nil: they are
	// answered with 505.
	Preface func(conn net.Conn, received []byte)

	once    sync.Once
	pool    *buffers
	limits  Limits
	log     *slog.Logger
	clock   clock
	crowd   crowd
	closing atomic.Bool // responses are the last ones of their connections
	evict   atomic.Bool // connections without a request end
	cutting atomic.Bool // everything ends

	mu        sync.Mutex
	listeners map[net.Listener]struct{} // guarded by mu, like all that follows
	conns     roster                    // that the server looks after
	expected  map[net.Conn]struct{}     // that are not introduced yet
	taken     roster                    // whose handlers have hijacked them and are still at it
	perClient map[netip.Addr]int
	sweeping  bool
	accepting int           // calls of Serve that may still bring a connection
	drained   chan struct{} // closed when closing, conns is empty and accepting 0
}

func (s *Server) init() {
	s.once.Do(func() {
		s.pool = newBuffers()
		s.limits = s.Limits.withDefaults()
		s.log = s.Log
		if s.log == nil {
			s.log = slog.New(slog.DiscardHandler)
		}
		s.clock.set(time.Now())
		s.listeners = map[net.Listener]struct{}{}
		s.perClient = map[netip.Addr]int{}
		s.drained = make(chan struct{})
	})
}
