package backendtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
)

// listenAnywhere picks a port below the range from which systems serve outgoing
// connections, so that no client is given that of a dead backend.
func listenAnywhere() (net.Listener, error) {
	const low, high, attempts = 20000, 32000, 100
	var err error
	for range attempts {
		var l net.Listener
		if l, err = listen(fmt.Sprintf("127.0.0.1:%d", low+rand.IntN(high-low))); err == nil {
			return l, nil
		}
	}
	return nil, fmt.Errorf("backendtest: no free port: %w", err)
}

func listen(addr string) (net.Listener, error) {
	var lc net.ListenConfig
	return lc.Listen(context.Background(), "tcp", addr)
}

// home is a port that stays taken while nobody listens at it, so that neither another
// test nor another process is found there, and Revive can come back.
type home struct{ socket *os.File } // nil where a socket that has been shut cannot listen again

func homeOf(l net.Listener) (home, error) {
	if runtime.GOOS != "linux" {
		return home{}, nil
	}
	socket, err := l.(*net.TCPListener).File()
	return home{socket}, err
}

// listen begins to listen again at the port.
func (h home) listen(addr string) (net.Listener, error) {
	if h.socket == nil {
		return listen(addr)
	}
	err := h.control(func(fd int) error {
		return errors.Join(share(fd, 1), syscall.Listen(fd, syscall.SOMAXCONN))
	})
	if err != nil {
		return nil, err
	}
	return net.FileListener(h.socket)
}

// keep is called when the listening has ended: a port that may be shared is then given to
// whoever asks.
func (h home) keep() {
	if h.socket != nil {
		_ = h.control(func(fd int) error { return share(fd, 0) })
	}
}

func (h home) leave() {
	if h.socket != nil {
		h.socket.Close()
	}
}

func (h home) control(f func(fd int) error) error {
	raw, err := h.socket.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { failed = f(int(fd)) })
	return errors.Join(err, failed)
}

// share lets others bind to the port of a socket that does not listen, or not.
func share(fd, yes int) error {
	return syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, yes)
}

// listener counts connections and puts each behind the gate.
type listener struct {
	net.Listener
	gate     *gate
	accepted *atomic.Int64
	home     home
}

func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.accepted.Add(1)
	return &conn{Conn: c, gate: l.gate}, nil
}

// Close ends the listening itself and not only this descriptor of it: a process
// that is being started holds a copy until it has become another program.
func (l *listener) Close() error {
	if s, ok := l.Listener.(syscall.Conn); ok {
		if raw, err := s.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) { _ = syscall.Shutdown(int(fd), syscall.SHUT_RDWR) })
		}
	}
	err := l.Listener.Close()
	l.home.keep()
	return err
}

// conn moves no byte while the gate is shut. It is no io.ReaderFrom, which would
// copy past the gate.
type conn struct {
	net.Conn
	gate  *gate
	heard atomic.Bool // something since the last answer
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.heard.Store(true)
	}
	c.gate.pass()
	return n, err
}

func (c *conn) Write(p []byte) (int, error) {
	c.gate.pass()
	c.heard.Store(false)
	return c.Conn.Write(p)
}

// Close tells the peer at once, whoever else holds a copy of the socket.
func (c *conn) Close() error {
	return errors.Join(c.Conn.(*net.TCPConn).CloseWrite(), c.Conn.Close())
}

// asked tells whether a request, or the beginning of one, has come that is not answered.
func (c *conn) asked() bool {
	raw, err := c.Conn.(*net.TCPConn).SyscallConn()
	if c.heard.Load() || err != nil {
		return err == nil
	}
	waiting := 0
	_ = raw.Control(func(fd uintptr) {
		waiting, _, _ = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	})
	return waiting > 0
}

// reset closes the connection with RST.
func (c *conn) reset() error {
	return errors.Join(c.Conn.(*net.TCPConn).SetLinger(0), c.Conn.Close())
}

// gate is open or shut, and whoever passes waits while it is shut.
type gate struct {
	mu   sync.Mutex
	free chan struct{} // guarded by mu; closed while the gate is open
}

func newGate() *gate {
	g := &gate{free: make(chan struct{})}
	close(g.free)
	return g
}

func (g *gate) pass() {
	g.mu.Lock()
	free := g.free
	g.mu.Unlock()
	<-free
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.isOpen() {
		g.free = make(chan struct{})
	}
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.isOpen() {
		close(g.free)
	}
}

// isOpen is called with mu held.
func (g *gate) isOpen() bool {
	select {
	case <-g.free:
		return true
	default:
		return false
	}
}
