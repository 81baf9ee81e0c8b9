package http1

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// Serve answers the connections of l until Shutdown or Close; then it returns
// http.ErrServerClosed. It closes l. Running out of file descriptors does not
// end it. Several listeners may be served at a time.
func (s *Server) Serve(l net.Listener) error {
	s.init()
	defer func() { _ = l.Close() }()
	if !s.open(l) {
		return http.ErrServerClosed
	}
	defer s.forgetListener(l)
	base, stop := s.baseContext(l)
	defer stop()
	for pause := time.Duration(0); ; {
		conn, err := l.Accept()
		switch {
		case err == nil:
			pause = 0
			s.welcome(base, conn)
		case s.closing.Load():
			return http.ErrServerClosed
		case !temporary(err):
			return err
		default:
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			s.log.Warn("cannot accept a connection", "error", err, "pause", pause)
			<-time.After(pause)
		}
	}
}

// temporary tells errors about one connection or about scarce resources from
// those that end a listener.
func temporary(err error) bool {
	var t interface{ Temporary() bool }
	return errors.As(err, &t) && t.Temporary()
}

// baseContext returns the context of the requests on l. When it ends by itself,
// all their contexts do.
func (s *Server) baseContext(l net.Listener) (base context.Context, stop func() bool) {
	if s.BaseContext == nil {
		return context.Background(), func() bool { return true }
	}
	base = s.BaseContext(l)
	return base, context.AfterFunc(base, s.cancelRequests)
}

func (s *Server) open(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		return false
	}
	s.listeners[l] = struct{}{}
	s.accepting++
	if !s.sweeping {
		s.sweeping = true
		go s.sweepOn()
	}
	return true
}

func (s *Server) forgetListener(l net.Listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
	s.accepting--
	s.noteDrained()
}

// welcome starts to serve a connection if there is room for it.
func (s *Server) welcome(base context.Context, conn net.Conn) {
	s.Count.accept()
	if i := introducedBy(conn); i != nil {
		if s.expect(conn) {
			go s.meet(base, conn, i)
			return
		}
		_ = conn.Close() // nothing was written to it
		return
	}
	c := newServerConn(base, s, conn, conn.RemoteAddr())
	if !s.admit(c) {
		go c.turnAway()
		return
	}
	go c.serve()
}
