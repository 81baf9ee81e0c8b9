package http1

import (
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"syscall"
	"time"
)

// movable returns how many bytes move can take from the connection straight to
// another one, false if it cannot.
func (b *Body) movable() (left int64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if runtime.GOOS != "linux" || b.closed || b.reading || b.lease.conn == nil {
		return 0, false
	}
	if _, plain := b.lease.conn.Conn.(*net.TCPConn); !plain || len(b.lease.conn.reader.buffered()) > 0 {
		return 0, false
	}
	return b.body.remaining()
}

// move lets the kernel carry up to limit bytes, at most what movable has told,
// from the server to dst. It waits for the server as Read does, and for dst as
// long as that's own deadline allows. readErr is what Read would return, io.EOF
// with the last byte; writeErr is dst's failure.
func (b *Body) move(dst *net.TCPConn, limit int64) (n int64, readErr, writeErr error) {
	c, err := b.claim()
	if c == nil {
		return 0, err, nil
	}
	until := c.deadline()
	if !c.exact {
		c.beExact()
	}
	c.armRead(until)
	b.limited = io.LimitedReader{R: c.Conn, N: limit}
	n, err = dst.ReadFrom(&b.limited)
	b.body.advance(n)
	switch {
	case b.body.complete():
		return n, b.yield(c, io.EOF), nil
	case err == nil && n < limit:
		return n, b.yield(c, io.ErrUnexpectedEOF), nil
	case err == nil, n > 0 && errors.Is(err, os.ErrDeadlineExceeded):
		return n, b.yield(c, nil), nil
	case c.failedToRead(err, until):
		return n, b.yield(c, err), nil
	}
	return n, b.yield(c, nil), err
}

// failedToRead tells whose failure ended a move: both ends give the same errors.
func (c *clientConn) failedToRead(err error, until time.Time) bool {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return c.broken.Load() || !until.IsZero() && !time.Now().Before(until)
	case errors.Is(err, syscall.ECONNRESET):
		return c.prober.peek() == gone
	}
	return false
}
