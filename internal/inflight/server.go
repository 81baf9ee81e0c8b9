package inflight

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// Server is a server of net/http that can be drained.
type Server struct {
	*http.Server
	Requests

	conns atomic.Int64

	mu        sync.Mutex
	listeners []net.Listener // guarded by mu
}

// NewServer takes over the handler of s and its ConnState, which must not be used
// by anybody else. It does not start anything.
func NewServer(s *http.Server) *Server {
	own := &Server{Server: s}
	s.Handler = own.Track(s.Handler)
	s.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			own.conns.Add(1)
		case http.StateClosed, http.StateHijacked:
			own.conns.Add(-1)
		case http.StateActive, http.StateIdle:
		}
	}
	return own
}

// Serve is that of net/http; after Drain it returns http.ErrServerClosed too.
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	s.listeners = append(s.listeners, l)
	s.mu.Unlock()
	if s.draining.Load() {
		_ = l.Close() // nothing was written to it
	}
	err := s.Server.Serve(l)
	if s.draining.Load() {
		return http.ErrServerClosed
	}
	return err
}

// Drain stops accepting and makes every further response the last one of its
// connection, while idle connections stay open. Shutdown or Close has to follow.
func (s *Server) Drain() {
	s.Requests.Drain()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.listeners {
		_ = l.Close() // nothing was written to it
	}
}

// Shutdown is that of net/http, after Drain.
func (s *Server) Shutdown(ctx context.Context) error {
	s.Requests.Drain()
	if err := s.Server.Shutdown(ctx); !errors.Is(err, net.ErrClosed) { // it has not seen yet what Drain has closed
		return err
	}
	return nil
}

// InFlight counts the open connections, hijacked ones excepted, the requests that wait
// for their response, and those whose response has begun.
func (s *Server) InFlight() (connections, requests, responses int) {
	requests, responses = s.Requests.InFlight()
	return int(s.conns.Load()), requests, responses
}
