package http1

import (
	"errors"
	"os"
	"time"
)

// dozeAfter is how long a connection idles before it gives up the memory that
// it would use for its next request.
const dozeAfter = tick

// arrival is what the wait for a request has brought.
type arrival uint8

const (
	ended   arrival = iota // no request will come
	arrived                // a request has begun to come
	dozing                 // nothing has come for a while
)

// await waits for the first byte of a request.
func (c *serverConn) await() arrival {
	var err error
	if len(c.in.buffered()) == 0 {
		c.startIdling()
		if c.server.evict.Load() && c.served > 0 {
			return ended
		}
		err = c.in.await()
	}
	switch c.reading.pass(phaseHead, c.server.clock.after(c.server.HeaderTimeout)) {
	case phaseExpired:
		return ended
	case phaseWake:
		if c.wake(); len(c.in.buffered()) == 0 && errors.Is(err, os.ErrDeadlineExceeded) {
			return dozing
		}
	default:
	}
	if err != nil {
		return ended
	}
	return arrived
}

// startIdling begins the wait. The first request on a connection has
// HeaderTimeout to come.
func (c *serverConn) startIdling() {
	if c.served == 0 {
		return
	}
	clock, limit := &c.server.clock, c.server.IdleTimeout
	if c.work != nil {
		c.until = clock.after(limit)
	}
	if c.work != nil && (limit <= 0 || limit > dozeAfter) {
		c.reading.keep(phaseIdle, clock.after(dozeAfter))
		return
	}
	c.reading.keep(phaseDoze, c.until)
}

// startDozing is the sweeper's part of phaseIdle's end: it wakes the goroutine
// that waits, which then dozes until the connection ends or goes on.
func (c *serverConn) startDozing(state uint64) {
	c.waking.Lock()
	defer c.waking.Unlock()
	if c.reading.replace(state, phaseWake, 0) {
		_ = c.conn.SetReadDeadline(longAgo()) // fails on a closed connection, which blocks nobody
	}
}

// wake undoes what startDozing has done to the connection.
func (c *serverConn) wake() {
	c.waking.Lock()
	defer c.waking.Unlock()
	_ = c.conn.SetReadDeadline(time.Time{}) // fails on a closed connection, as the next read will
}
