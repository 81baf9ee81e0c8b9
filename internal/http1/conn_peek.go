package http1

import (
	"net"
	"syscall"
)

// liveness is what a look at a socket shows.
type liveness uint8

const (
	quiet    liveness = iota // open, and nothing has arrived
	readable                 // something has arrived
	gone                     // closed by the peer, or broken
)

// prober looks at a socket without reading from it. One goroutine at a time may
// use it, also while another reads from the connection.
type prober struct {
	socket syscall.RawConn
	look   func(fd uintptr)
	seen   liveness
	one    [1]byte
}

// newProber returns nil for a connection without a socket of its own.
func newProber(conn net.Conn) *prober {
	socket := socketOf(conn)
	if socket == nil {
		return nil
	}
	p := &prober{socket: socket}
	p.look = p.lookNow
	return p
}

// peek never waits. A closed connection is gone; without a prober every
// connection is quiet.
func (p *prober) peek() liveness {
	if p == nil {
		return quiet
	}
	if err := p.socket.Control(p.look); err != nil {
		return gone
	}
	return p.seen
}
