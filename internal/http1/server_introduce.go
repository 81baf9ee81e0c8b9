package http1

import (
	"context"
	"crypto/tls"
	"net"
)

// introduced is a connection that tells whose it is only after Introduce, which
// waits for the peer. NetConn is then the connection itself. That behind a PROXY
// protocol head is one.
type introduced interface {
	net.Conn
	Introduce() error
	NetConn() net.Conn
}

// introducedBy returns the connection that has to be introduced, which may be
// under TLS; nil for all others.
func introducedBy(conn net.Conn) introduced {
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	i, _ := conn.(introduced)
	return i
}

// meet waits for a connection's introduction, and serves it as one of whom it is
// from. Meanwhile it is one of the expected.
func (s *Server) meet(base context.Context, conn net.Conn, i introduced) {
	err := i.Introduce()
	c := newServerConn(base, s, itself(conn, i), conn.RemoteAddr())
	c.given = conn
	switch {
	case s.admitExpected(c, conn, err):
		c.serve()
	case err == nil:
		c.turnAway()
	}
}

// itself lets a plain connection be served without what it was wrapped in, so
// that its socket can be used.
func itself(conn net.Conn, i introduced) net.Conn {
	if conn == net.Conn(i) {
		return i.NetConn()
	}
	return conn
}

// expect counts a connection in that is to be introduced.
func (s *Server) expect(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.roomy() {
		return false
	}
	if s.expected == nil {
		s.expected = map[net.Conn]struct{}{}
	}
	s.expected[conn] = struct{}{}
	return true
}

// admitExpected takes one of the expected among those that are served, unless
// there was an error or a limit stands against it. It was there before Shutdown.
func (s *Server) admitExpected(c *serverConn, conn net.Conn, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, expected := s.expected[conn] // not after Close
	delete(s.expected, conn)
	if expected && err == nil && s.enrol(c) {
		return true
	}
	s.noteDrained()
	return false
}

// forgetExpected closes the connections whose introduction is still waited for.
func (s *Server) forgetExpected() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.expected {
		_ = itself(conn, introducedBy(conn)).Close() // nothing was written to it
	}
	clear(s.expected)
	s.noteDrained()
}
