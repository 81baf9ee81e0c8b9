package gozer

import (
	"context"
	"log/slog"
	"net"
	"net/http"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/internal/h2client"
	"github.com/gozer-gateway/gozer/internal/http1"
	"github.com/gozer-gateway/gozer/internal/inflight"
	"github.com/gozer-gateway/gozer/internal/netlog"
	"github.com/gozer-gateway/gozer/internal/netserver"
	"github.com/gozer-gateway/gozer/internal/upstream"
)

// An engine speaks HTTP/1.1 with clients and upstreams. The native one is the
// gateway's own; nethttp is the standard library's, kept for comparison and for
// the cautious. Nothing else in the gateway knows which one serves.

// httpServer is the side of an engine towards clients.
type httpServer interface {
	Serve(l net.Listener) error
	Shutdown(ctx context.Context) error
	Close() error
}

// drainedServer is one that ends step by step. Drain is the first: no connection is
// accepted any more, and what is answered is the last on its connection. Requests have
// no response yet, responses have begun; hijacked connections count as neither,
// and CutResponses cuts them too.
type drainedServer interface {
	httpServer
	Drain()
	InFlight() (connections, requests, responses int)
	CutRequests() int
	CutResponses() int
}

// drainable adds the steps to a server of the standard library, and what it lacks besides.
func drainable(s httpServer) drainedServer {
	if standard, ok := s.(*http.Server); ok {
		own := inflight.NewServer(standard)
		standard.Handler = netserver.Guard(standard.Handler)
		return own
	}
	return s.(drainedServer) //nolint:forcetypeassert // the others are our own
}

// transport is the side of an engine towards upstreams.
type transport interface {
	http.RoundTripper
	CloseIdle()

	// Retire is CloseIdle for good: connections that are in use are closed after
	// their last request, and so are new ones that a late request may need.
	Retire()
}

var (
	_ httpServer = (*http.Server)(nil)
	_ httpServer = (*http1.Server)(nil)

	_ drainedServer = (*http1.Server)(nil)
	_ drainedServer = (*inflight.Server)(nil)

	_ transport = (*upstream.Transport)(nil)
	_ transport = (*http1.Transport)(nil)
	_ transport = (*h2client.Transport)(nil)
)

// proxyServer is the front door of the chosen engine.
func (g *Gateway) proxyServer(base context.Context) httpServer {
	if g.config.Server.Engine == config.NetHTTP {
		return g.countFailures(g.alsoHTTP2(g.standardServer(base, g)), g.security.proxy)
	}
	native := g.nativeServer(base, g, &g.state.connections)
	native.Refused = g.logRefused
	g.countFailures(native, g.security.proxy)
	return g.withHTTP2(base, native)
}

// engineServer serves a handler of HTTP/1.1 with the chosen engine. All requests stem from base.
func (g *Gateway) engineServer(base context.Context, handler http.Handler) httpServer {
	if g.config.Server.Engine == config.NetHTTP {
		return g.standardServer(base, handler)
	}
	return g.nativeServer(base, handler, nil)
}

// nativeServer is the gateway's own server. count may be nil.
func (g *Gateway) nativeServer(base context.Context, handler http.Handler, count *http1.ServerCount) *http1.Server {
	limits := g.config.Gateway.Limits
	return &http1.Server{
		Handler:                  handler,
		Limits:                   http1.Limits{RequestLine: int(limits.MaxRequestLine), HeaderBytes: int(g.config.Server.MaxHeaderSize), Headers: limits.MaxHeaders},
		HeaderTimeout:            limits.HeaderTimeout,
		BodyTimeout:              limits.BodyTimeout,
		IdleTimeout:              limits.IdleTimeout,
		WriteTimeout:             limits.WriteTimeout,
		MaxRequestsPerConnection: limits.MaxRequestsPerConnection,
		MaxConnections:           limits.MaxConnections,
		MaxConnectionsPerClient:  limits.MaxConnectionsPerClient,
		Log:                      g.options.logger,
		Count:                    count,
		BaseContext:              func(net.Listener) context.Context { return base },
	}
}

// standardServer is net/http's server, which the management listener uses with
// either engine.
func (g *Gateway) standardServer(base context.Context, handler http.Handler) *http.Server {
	limits := g.config.Gateway.Limits
	return &http.Server{
		Handler:           handler,
		BaseContext:       func(net.Listener) context.Context { return base },
		ReadHeaderTimeout: limits.HeaderTimeout,
		IdleTimeout:       limits.IdleTimeout,
		MaxHeaderBytes:    int(g.config.Server.MaxHeaderSize),
		// What net/http says here is mostly about clients that misbehave.
		ErrorLog: slog.NewLogLogger(netlog.Handler(g.options.logger.Handler()), slog.LevelDebug),
	}
}

// connections describe the connections of one pool, and whose they are.
type connections struct {
	engine string
	http1.TransportSettings
	protocol string // of config.Upstream
	http2    h2client.Limits
}

// newTransport makes the pool of an upstream. HTTP/2 is the same with both engines.
func newTransport(s connections) transport {
	switch {
	case s.protocol != config.HTTP1:
		return h2client.New(h2client.Settings{TransportSettings: s.TransportSettings, Limits: s.http2})
	case s.engine == config.NetHTTP:
		return upstream.New(s.TransportSettings)
	}
	return http1.NewTransport(s.TransportSettings)
}
