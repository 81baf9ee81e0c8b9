package http1

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/gozer-gateway/gozer/internal/tlsout"
)

// clientConn is a connection to an upstream server. One exchange uses it at a
// time. Its embedded Conn writes; reads go through reader, which calls Read.
type clientConn struct {
	net.Conn
	reader reader
	head   head
	prober *prober // nil without a socket
	asker  asker
	secure *tlsout.Socket // nil without TLS

	born, idleSince time.Time
	used            bool        // for an earlier exchange
	broken          atomic.Bool // cut off, never to be used again
	timer           time.Time   // the deadline that the socket has, zero: none

	exchangeState
}

// exchangeState is what a connection knows about the exchange that uses it.
type exchangeState struct {
	ctx      context.Context //nolint:containedctx // the response body is read after RoundTrip has returned
	began    time.Time
	watch    watch
	patience time.Duration // with the server; 0: for ever
	due      time.Time     // the end of the current wait, zero: none
	pacing   bool          // every read has its own deadline
	exact    bool          // deadlines are those of the socket
	heard    bool          // something has arrived
}

var _ deadliner = (*clientConn)(nil)

func newClientConn(conn net.Conn, pool *buffers, now time.Time) *clientConn {
	c := &clientConn{Conn: conn, born: now}
	c.reader.init(c, pool)
	if session, ok := conn.(*tls.Conn); ok {
		c.secure, _ = session.NetConn().(*tlsout.Socket)
		conn = c.secure.Conn
	}
	c.prober = newProber(conn)
	c.asker.init(c)
	return c
}

// begin starts an exchange. It returns false if ctx has ended already.
func (c *clientConn) begin(ctx context.Context, d *downstream, now time.Time, patience time.Duration) bool {
	c.exchangeState = exchangeState{ctx: ctx, began: now, patience: patience, exact: c.secure != nil}
	return c.watch.begin(ctx, d, c)
}

// rest ends the use of a connection that stays good.
func (c *clientConn) rest() {
	if c.exact {
		c.armExactly(time.Time{})
	}
	c.used, c.idleSince = true, c.began.Add(time.Since(c.began))
	c.exchangeState = exchangeState{}
	c.head.forget()
	c.reader.release()
}

// close ends the connection. Errors of close concern nobody any more.
func (c *clientConn) close() {
	c.reader.drop()
	_ = c.Close()
}

// Read is for the reader.
func (c *clientConn) Read(p []byte) (int, error) {
	if c.pacing {
		c.armNext(c.deadline())
	}
	n, err := c.Conn.Read(p)
	for n == 0 && c.early(err) {
		n, err = c.Conn.Read(p)
	}
	c.heard = c.heard || n > 0
	if c.secure != nil && c.secure.Ended() {
		err = unexpected(err)
	}
	return n, err
}

// deadline is the end of a wait that starts now; zero: none.
func (c *clientConn) deadline() time.Time { return deadline(c.ctx, time.Now(), c.patience) }

func deadline(ctx context.Context, now time.Time, patience time.Duration) time.Time {
	at, limited := ctx.Deadline()
	if patience == 0 {
		return at
	}
	own := now.Add(patience)
	if limited && at.Before(own) {
		return at
	}
	return own
}

// silentFor waits for the next byte, at most for a while.
func (c *clientConn) silentFor(while time.Duration) bool {
	before, patience := c.pacing, c.patience
	c.pacing, c.patience = true, while
	err := c.reader.fill()
	c.pacing, c.patience = before, patience
	return errors.Is(err, os.ErrDeadlineExceeded)
}

// send writes p, unless the connection has died since it was last used.
func (c *clientConn) send(p []byte) (int, error) {
	if c.used && !c.alive() {
		return 0, errDead
	}
	return c.write(p)
}

// write sends all of p.
func (c *clientConn) write(p []byte) (int, error) {
	n, err := c.Write(p)
	for c.early(err) {
		var more int
		more, err = c.Write(p[n:])
		n += more
	}
	return n, err
}

// arm bounds the waits that follow. To set a socket's deadline is dear, and most
// waits end long before: an earlier deadline is left as it is, and looked
// into if it ever passes (see early).
func (c *clientConn) arm(at time.Time) {
	c.due = at
	if c.exact || c.timer.IsZero() || !at.IsZero() && at.Before(c.timer) {
		c.armExactly(at)
	}
}

// armNext is arm for a read beside which somebody else may write.
func (c *clientConn) armNext(at time.Time) {
	if c.exact {
		c.due = at
		c.armRead(at)
		return
	}
	c.arm(at)
}

// early reports that err is the passing of an earlier deadline than the one
// that is due, which it sets.
func (c *clientConn) early(err error) bool {
	if err == nil || c.exact || !errors.Is(err, os.ErrDeadlineExceeded) || c.broken.Load() {
		return false
	}
	if !c.due.IsZero() && !time.Now().Before(c.due) {
		return false
	}
	c.armExactly(c.due)
	return true
}

// beExact makes every deadline of this exchange one of the socket's, for those
// who use it beside the goroutine that reads.
func (c *clientConn) beExact() {
	c.exact = true
	c.armExactly(c.due)
}

func (c *clientConn) armExactly(at time.Time) {
	c.timer = at
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
	c.armExactly(longAgo())
	n, err := c.Conn.Read(one[:])
	c.armExactly(c.due)
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded)
}
