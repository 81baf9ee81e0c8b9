package gozer

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"

	"github.com/gozer-gateway/gozer/internal/h2"
	"github.com/gozer-gateway/gozer/internal/http1"
	"github.com/gozer-gateway/gozer/internal/inflight"
)

// http2Settings are those of clients' HTTP/2 connections with either engine.
func (g *Gateway) http2Settings(handler http.Handler) h2.Settings {
	limits, own := g.config.Gateway.Limits, g.config.Gateway.HTTP2
	return h2.Settings{
		Handler:          handler,
		Refused:          g.refusedHTTP2,
		Count:            &g.state.http2Ends,
		Log:              g.options.logger,
		Streams:          own.Streams,
		FrameSize:        int(own.FrameSize),
		StreamWindow:     int(own.StreamWindow),
		ConnectionWindow: int(own.ConnectionWindow),
		TableSize:        int(own.TableSize),
		HeaderBytes:      int(g.config.Server.MaxHeaderSize),
		Headers:          limits.MaxHeaders,
		RequestLine:      int(limits.MaxRequestLine),
		HeaderTimeout:    limits.HeaderTimeout,
		BodyTimeout:      limits.BodyTimeout,
		WriteTimeout:     limits.WriteTimeout,
		IdleTimeout:      limits.IdleTimeout,
		PingInterval:     own.PingInterval,
		PingTimeout:      own.PingTimeout,
		MaxRequests:      limits.MaxRequestsPerConnection,
		MaxAge:           own.MaxAge,
		Resets:           own.Resets,
		Control:          own.Control,
		Continuations:    own.Continuations,
		Interval:         own.Interval,
	}
}

// refusedHTTP2 counts a request that did not become one, and logs it.
func (g *Gateway) refusedHTTP2(r http1.Refusal) {
	g.state.http2.Add(*r.Error)
	g.logRefused(r)
}

// withHTTP2 lets the native engine hand connections over that turn out to speak
// HTTP/2. It returns s itself if that is not wanted.
func (g *Gateway) withHTTP2(base context.Context, s *http1.Server) httpServer {
	if !g.config.Server.HTTP2 {
		return s
	}
	requests := &inflight.Requests{}
	second := h2.NewServer(base, g.http2Settings(requests.Track(s.Handler)))
	s.Preface = func(conn net.Conn, received []byte) { second.ServeConn(conn, received, nil) }
	s.NextProto = func(conn *tls.Conn) {
		if state := conn.ConnectionState(); state.NegotiatedProtocol == "h2" {
			second.ServeConn(conn, nil, &state)
		}
	}
	return &bothVersions{first: s, second: second, requests: requests}
}

// alsoHTTP2 switches HTTP/2 on in a server of net/http.
func (g *Gateway) alsoHTTP2(s *http.Server) *http.Server {
	if g.config.Server.HTTP2 {
		s.Protocols = new(http.Protocols)
		s.Protocols.SetHTTP1(true)
		s.Protocols.SetHTTP2(true)
		s.Protocols.SetUnencryptedHTTP2(true)
		settings := g.http2Settings(s.Handler)
		settings.Configure(s)
	}
	return s
}

// bothVersions accepts connections with the first server, which hands some of them
// to the second one.
type bothVersions struct {
	first    *http1.Server
	second   *h2.Server
	requests *inflight.Requests // of the second
}

var _ drainedServer = (*bothVersions)(nil)

func (b *bothVersions) Serve(l net.Listener) error {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { _ = b.second.Serve() }) // ends with Shutdown or Close, and in no other way
	err := b.first.Serve(l)
	if !errors.Is(err, http.ErrServerClosed) {
		_ = b.second.Close()
	}
	return err
}

// Shutdown asks both at once, since the first one waits for what the second one has.
func (b *bothVersions) Shutdown(ctx context.Context) error {
	var second error
	var running sync.WaitGroup
	running.Go(func() { second = b.second.Shutdown(ctx) })
	first := b.first.Shutdown(ctx)
	running.Wait()
	return errors.Join(first, second)
}

// Drain stops accepting. Clients of HTTP/2 hear it with their next answer.
func (b *bothVersions) Drain() {
	b.requests.Drain()
	b.first.Drain()
}

func (b *bothVersions) InFlight() (connections, requests, responses int) {
	connections, requests, responses = b.first.InFlight()
	waiting, begun := b.requests.InFlight()
	return connections, requests + waiting, responses + begun
}

func (b *bothVersions) CutRequests() int { return b.first.CutRequests() + b.requests.CutRequests() }

func (b *bothVersions) CutResponses() int { return b.first.CutResponses() + b.requests.CutResponses() }

func (b *bothVersions) Close() error {
	return errors.Join(b.first.Close(), b.second.Close())
}
