package http1

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// clientConn is a connection to an upstream server. One exchange uses it at a
// time. Its embedded Conn writes; reads go through reader, which calls Read.
type clientConn struct {
	net.Conn
	reader reader
	head   head
	prober *prober    // nil without a socket
	secure *tlsSocket // nil without TLS

	born, idleSince time.Time
	used            bool        // for an earlier exchange
	broken          atomic.Bool // cut off, never to be used again

	exchangeState
}

// exchangeState is what a connection knows about the exchange that uses it.
type exchangeState struct {
	ctx      context.Context //nolint:containedctx // the response body is read after RoundTrip has returned
	watch    watch
	patience time.Duration // with the server; 0: for ever
	pacing   bool          // every read sets its own deadline
	heard    bool          // something has arrived
}

var _ deadliner = (*clientConn)(nil)

func newClientConn(conn net.Conn, pool *buffers, now time.Time) *clientConn {
	c := &clientConn{Conn: conn, born: now}
	c.reader.init(c, pool)
	if session, ok := conn.(*tls.Conn); ok {
		c.secure, _ = session.NetConn().(*tlsSocket)
		conn = c.secure.Conn
	}
	c.prober = newProber(conn)
	return c
}

// begin starts an exchange. It returns false if ctx has ended already.
func (c *clientConn) begin(ctx context.Context, patience time.Duration) bool {
	c.exchangeState = exchangeState{ctx: ctx, patience: patience}
	return c.watch.begin(ctx, c)
}

// rest ends the use of a connection that stays good.
func (c *clientConn) rest(now time.Time) {
	c.exchangeState = exchangeState{}
	c.head.forget()
	c.reader.release()
	c.used, c.idleSince = true, now
}

// close ends the connection. Errors of close concern nobody any more.
func (c *clientConn) close() {
	c.reader.drop()
	_ = c.Close()
}

// Read is for the reader.
func (c *clientConn) Read(p []byte) (int, error) {
	if c.pacing {
		c.armRead(c.deadline())
	}
	n, err := c.Conn.Read(p)
	c.heard = c.heard || n > 0
	if c.secure != nil && c.secure.ended {
		err = unexpected(err)
	}
	return n, err
}

// deadline is the end of a wait that starts now; zero: none.
func (c *clientConn) deadline() time.Time { return deadline(c.ctx, c.patience) }

func deadline(ctx context.Context, patience time.Duration) time.Time {
	at, limited := ctx.Deadline()
	if patience == 0 {
		return at
	}
	own := time.Now().Add(patience)
	if limited && at.Before(own) {
		return at
	}
	return own
}

func (c *clientConn) arm(at time.Time) {
	_ = c.Conn.SetDeadline(at) // fails on a closed connection, which blocks nobody; so below
	c.stayBroken()
}

func (c *clientConn) armRead(at time.Time) {
	_ = c.SetReadDeadline(at)
	c.stayBroken()
}

func (c *clientConn) armWrite(at time.Time) {
	_ = c.SetWriteDeadline(at)
	c.stayBroken()
}

// stayBroken repeats a cutOff that a new deadline may have undone.
func (c *clientConn) stayBroken() {
	if c.broken.Load() {
		_ = c.Conn.SetDeadline(longAgo())
	}
}

// cutOff ends what blocks on the connection, now and later. Any goroutine may
// call it.
func (c *clientConn) cutOff() {
	c.broken.Store(true)
	_ = c.Conn.SetDeadline(longAgo())
}

// SetDeadline is how an Interrupter cuts the connection off.
func (c *clientConn) SetDeadline(time.Time) error {
	c.cutOff()
	return nil
}

// alive reports whether an idle connection is still open and silent. What a
// server sends unasked would pass for the answer to the next request.
func (c *clientConn) alive() bool {
	if c.prober.peek() != quiet {
		return false
	}
	return c.prober != nil && c.secure == nil || c.silent()
}

// silent finds out by reading, without waiting, what cannot be seen at the
// socket.
func (c *clientConn) silent() bool {
	var one [1]byte
	_ = c.Conn.SetDeadline(longAgo())
	n, err := c.Conn.Read(one[:])
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded)
}
