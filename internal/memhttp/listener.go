package memhttp

import (
	"net"
	"sync"
)

type listener struct {
	network *Network
	addr    address
	conns   chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "accept", Net: "mem", Addr: l.addr, Err: net.ErrClosed}
	}
}

// Close frees the address; connections already accepted live on.
func (l *listener) Close() error {
	l.once.Do(func() {
		l.network.forget(l)
		close(l.closed)
	})
	return nil
}

func (l *listener) Addr() net.Addr { return l.addr }

// address is the name of a listener.
type address string

func (address) Network() string  { return "mem" }
func (a address) String() string { return string(a) }

// conn is one end of a pipe with addresses of its own.
type conn struct {
	net.Conn
	local, remote net.Addr
}

func (c conn) LocalAddr() net.Addr  { return c.local }
func (c conn) RemoteAddr() net.Addr { return c.remote }
