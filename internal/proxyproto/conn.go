package proxyproto

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// Conn is a balancer's connection. Whoever reads from it or asks for the remote
// address waits for the head first.
type Conn struct {
	net.Conn
	settings *Settings
	once     sync.Once
	remote   net.Addr
	err      error
}

var (
	_ io.ReaderFrom = (*Conn)(nil)
	_ syscall.Conn  = (*Conn)(nil)
)

func newConn(conn net.Conn, s *Settings) *Conn {
	return &Conn{Conn: conn, settings: s, remote: conn.RemoteAddr()}
}

// Introduce waits for the head, HeaderTimeout at most, and closes the connection
// if none comes that is good. Further calls return what the first has.
func (c *Conn) Introduce() error {
	c.once.Do(func() {
		if c.err = c.meet(); c.err != nil {
			c.count()
			_ = c.Close() // nothing was written to it
		}
	})
	return c.err
}

func (c *Conn) meet() error {
	if err := c.SetReadDeadline(time.Now().Add(c.settings.HeaderTimeout)); err != nil {
		return err
	}
	h, err := Read(c.Conn)
	if err != nil {
		return err
	}
	c.settings.Counts.Accepted.Add(1)
	if h.Source.IsValid() {
		c.remote = net.TCPAddrFromAddrPort(h.Source)
	}
	return c.SetReadDeadline(time.Time{})
}

func (c *Conn) count() {
	counter := &c.settings.Counts.Malformed
	if errors.Is(c.err, os.ErrDeadlineExceeded) {
		counter = &c.settings.Counts.Late
	}
	counter.Add(1)
	c.settings.Log.Debug("connection without a good PROXY protocol head", "peer", c.Conn.RemoteAddr().String(), "error", c.err)
}

// NetConn returns the connection itself, to be used once Introduce has succeeded.
func (c *Conn) NetConn() net.Conn { return c.Conn }

// RemoteAddr is the client's address.
func (c *Conn) RemoteAddr() net.Addr {
	_ = c.Introduce() // then it is the balancer's, whose connection is closed
	return c.remote
}

func (c *Conn) Read(p []byte) (int, error) {
	if err := c.Introduce(); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// ReadFrom leaves it to the connection how to send what r has.
func (c *Conn) ReadFrom(r io.Reader) (int64, error) { return io.Copy(c.Conn, r) }

// SyscallConn is that of the connection itself, if it has one.
func (c *Conn) SyscallConn() (syscall.RawConn, error) {
	if conn, ok := c.Conn.(syscall.Conn); ok {
		return conn.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

// CloseWrite ends the gateway's direction of a connection that has two.
func (c *Conn) CloseWrite() error {
	if conn, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return conn.CloseWrite()
	}
	return errors.ErrUnsupported
}
