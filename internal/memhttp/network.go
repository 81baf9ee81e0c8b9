// Package memhttp carries HTTP over in-memory pipes: real clients and servers,
// no sockets. It blocks only in ways that testing/synctest understands, so whole
// exchanges run under fake time.
package memhttp

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// Network is a private name space of listening addresses ("users-1:8080").
// Dialing an address that nobody listens on is refused, as on a real network.
// All methods may be called from any goroutine.
type Network struct {
	mu        sync.Mutex
	listeners map[string]*listener // guarded by mu

	clients atomic.Int32 // gives every connection its own client port
}

// NewNetwork returns a network on which nobody listens yet.
func NewNetwork() *Network {
	return &Network{listeners: make(map[string]*listener)}
}

// Listen claims addr until the listener is closed. A connection exists for the
// dialer only once it has been accepted, so a listener that never accepts is a
// host that drops packets.
func (n *Network) Listen(addr string) (net.Listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, taken := n.listeners[addr]; taken {
		return nil, &net.OpError{Op: "listen", Net: "mem", Addr: address(addr), Err: syscall.EADDRINUSE}
	}
	l := &listener{network: n, addr: address(addr), conns: make(chan net.Conn), closed: make(chan struct{})}
	n.listeners[addr] = l
	return l, nil
}

// Dial connects to addr. It has the signature of http.Transport.DialContext.
func (n *Network) Dial(ctx context.Context, _, addr string) (net.Conn, error) {
	n.mu.Lock()
	l, ok := n.listeners[addr]
	n.mu.Unlock()
	if !ok {
		return nil, refused(addr)
	}
	client, server := n.pipe(l.addr)
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, refused(addr)
	case <-ctx.Done():
		return nil, &net.OpError{Op: "dial", Net: "mem", Addr: l.addr, Err: ctx.Err()}
	}
}

// Transport returns a new transport that dials on this network and trusts no
// environment variable. Its idle connections are closed when the test ends.
func (n *Network) Transport(tb testing.TB) *http.Transport {
	tb.Helper()
	t := &http.Transport{DialContext: n.Dial}
	tb.Cleanup(t.CloseIdleConnections)
	return t
}

// pipe returns the two ends of a connection. The client's address is from the
// block reserved for documentation, so tests of X-Forwarded-For see a real one.
func (n *Network) pipe(server net.Addr) (clientEnd, serverEnd net.Conn) {
	client := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 1024 + int(n.clients.Add(1))}
	c, s := net.Pipe()
	return conn{c, client, server}, conn{s, server, client}
}

func (n *Network) forget(l *listener) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.listeners, string(l.addr))
}

func refused(addr string) error {
	return &net.OpError{Op: "dial", Net: "mem", Addr: address(addr), Err: syscall.ECONNREFUSED}
}
