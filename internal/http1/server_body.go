package http1

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// largestDrain is how much of a body that nobody wanted is read over to
	// keep the connection.
	largestDrain = 256 << 10
	// drainTime bounds the time for that.
	drainTime = 2 * time.Second
)

// requestBody is the body of a request as its handler sees it.
type requestBody struct {
	exchange *exchange
	closed   atomic.Bool

	mu      sync.Mutex // held while reading; guards the rest
	body    body
	awaited bool // the client waits to be told to send the body
}

// Read asks the client for the body first, if it waits for that. A body that is
// malformed or too slow is an *Error.
func (b *requestBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	if b.awaited {
		b.awaited = false
		if err := b.exchange.response.sendContinue(); err != nil {
			return 0, err
		}
	}
	return b.read(p)
}

func (b *requestBody) read(p []byte) (int, error) {
	if b.body.complete() {
		return b.body.Read(p)
	}
	c := b.exchange.conn
	clock := &c.server.clock
	if !c.reading.keep(phaseBody, clock.after(c.server.BodyTimeout)) {
		return 0, errSlowBody()
	}
	n, err := b.body.Read(p)
	next := phaseUnread
	if b.body.complete() {
		next = phaseHandler
	}
	if !c.reading.keep(next, clock.ticks.Load()+patience) && n == 0 {
		err = errSlowBody()
	}
	return n, err
}

func errSlowBody() error { return refuse(http.StatusRequestTimeout, "request body too slow") }

// Close makes later reads fail. What is left of the body is dealt with when the
// handler has returned.
func (b *requestBody) Close() error {
	b.closed.Store(true)
	return nil
}

// abandoned reports that so much of the body is left that the connection had
// better be closed, or that another goroutine is reading it.
func (b *requestBody) abandoned() bool {
	if !b.mu.TryLock() {
		return true
	}
	defer b.mu.Unlock()
	return b.beyondDrain()
}

func (b *requestBody) beyondDrain() bool {
	if b.body.complete() {
		return false
	}
	left, known := b.body.remaining()
	return b.awaited || b.body.err != nil || known && left > largestDrain
}

// finishBody ends the handler's use of the body and reads over the rest. It
// returns true if that was possible within bounds.
func (x *exchange) finishBody() bool {
	if x.body == nil {
		return true
	}
	b := x.body
	b.fence()
	defer b.mu.Unlock()
	if b.beyondDrain() {
		return false
	}
	return b.body.complete() || b.drain()
}

// leaveBody ends the handler's use of the body of a connection that is given up.
func (x *exchange) leaveBody() {
	if x.body != nil {
		x.body.fence()
		x.body.mu.Unlock()
	}
}

// fence returns with mu held. From then on no goroutine that the handler has
// left behind touches the connection's buffer.
func (b *requestBody) fence() {
	b.closed.Store(true)
	if b.mu.TryLock() {
		return
	}
	conn := b.exchange.conn.conn
	_ = conn.SetReadDeadline(longAgo()) // fails on a closed connection
	b.mu.Lock()
	_ = conn.SetReadDeadline(time.Time{}) // as above
}

// drain reads over a body within bounds.
func (b *requestBody) drain() bool {
	c := b.exchange.conn
	c.reading.keep(phaseLinger, c.server.clock.after(drainTime))
	lent := c.server.pool.get(smallestBuffer)
	defer c.server.pool.put(lent)
	for total := 0; total < largestDrain; {
		n, err := b.body.Read(lent.bytes)
		if total += n; err != nil {
			break
		}
	}
	return b.body.complete()
}
