package tlsout

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"time"
)

// Socket is the connection under a session. It remembers whether that has ended without
// the session's own end, in which case what was received may have been cut by anybody.
type Socket struct {
	net.Conn
	ended bool
	reads int // left, while the verdict is awaited
	aloof bool
}

// Ended reports that the connection has ended. It belongs to whoever reads.
func (s *Socket) Ended() bool { return s.ended }

func (s *Socket) Read(p []byte) (int, error) {
	if s.aloof {
		if s.reads == 0 {
			return 0, os.ErrDeadlineExceeded
		}
		s.reads--
	}
	n, err := s.Conn.Read(p)
	s.ended = s.ended || err == io.EOF //nolint:errorlint // package net never wraps it
	return n, err
}

// verdictWait bounds how long a new connection waits for a server to say what it thinks
// of the client's certificate.
const verdictWait = 250 * time.Millisecond

var errUnasked = errors.New("tlsout: the server sent something before it was asked")

// verdict hears what a server that has asked for a certificate says to it. In TLS 1.3 a
// client is done before the server has looked at its certificate; a request that was sent
// by then would be lost with the connection, and nobody could tell whether it was read.
// Servers speak at once, with a ticket or an alert; with one that is silent the session is
// taken as good.
func (s *Socket) verdict(session *tls.Conn, until time.Time) error {
	s.aloof, s.reads = true, 1
	if err := session.SetReadDeadline(until); err != nil {
		return err
	}
	var one [1]byte
	n, err := session.Read(one[:])
	s.aloof = false
	if n > 0 {
		return errUnasked
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return session.SetReadDeadline(time.Time{})
}
