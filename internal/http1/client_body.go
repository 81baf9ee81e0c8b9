package http1

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Body is the body of a response. At its end, or when it is closed, the
// connection goes back to the pool or is closed.
type Body struct {
	mu      sync.Mutex
	lease   lease // lease.conn is nil once it is over; guarded by mu
	reading bool  // guarded by mu
	closed  bool  // guarded by mu

	body    body // belongs to whoever has set reading, and so does limited
	limited io.LimitedReader
}

var (
	_ io.ReadCloser = (*Body)(nil)

	errBodyClosed = errors.New("http1: read on a closed response body")
	errBodyShared = errors.New("http1: response body read by two goroutines at once")
)

// start begins the body of r. An event stream may pause for ever.
func (b *Body) start(l lease, r *clientResponse) {
	b.lease = l
	h := &l.conn.head
	b.body.reset(&l.conn.reader, h.framing, h.length, &r.Trailer, &l.transport.limits)
	l.conn.pacing = true
	if isEventStream(r.Header) {
		l.conn.patience = 0
	}
}

func isEventStream(h http.Header) bool {
	media, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.EqualFold(strings.Trim(media, " \t"), "text/event-stream")
}

// Read returns ErrReadTimeout when the server pauses for too long, the cause of
// the request's end, *Error for a body against the rules, and
// io.ErrUnexpectedEOF when the connection ends before the body.
func (b *Body) Read(p []byte) (int, error) {
	c, err := b.claim()
	if c == nil {
		return 0, err
	}
	n, err := b.body.Read(p)
	return n, b.yield(c, err)
}

// Pauses reports whether nothing of the body, or of its end, has come within a
// while from now. Nothing is consumed: a failure shows at the next Read.
func (b *Body) Pauses(while time.Duration) bool {
	c, err := b.claim()
	if c == nil || err != nil {
		return false
	}
	pauses := len(c.reader.buffered()) == 0 && c.silentFor(while)
	_ = b.yield(c, nil) // no error ends the body here
	return pauses
}

// claim starts a use of the connection; nil with the body's end if it is over.
func (b *Body) claim() (*clientConn, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return nil, errBodyClosed
	case b.lease.conn == nil:
		return nil, b.body.err
	case b.reading:
		return nil, errBodyShared
	}
	b.reading = true
	return b.lease.conn, nil
}

// yield ends a use of the connection, and the lease if the body ends with err
// or has been closed.
func (b *Body) yield(c *clientConn, err error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reading = false
	if err == nil && !b.closed {
		return nil
	}
	if err != nil && !b.body.complete() {
		err = b.explain(c, err)
		b.body.err = err
	}
	b.lease.end(b.body.complete())
	return err
}

func (b *Body) explain(c *clientConn, err error) error {
	switch {
	case b.closed:
		return errBodyClosed
	case b.lease.upload.failure() != nil:
		return b.lease.upload.failure()
	}
	return asBadGateway(explain(c.ctx, err))
}

// Close ends the use of the connection. It never waits: what has arrived of the
// body is passed over, and if that is not all, the connection is closed.
func (b *Body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	b.closed = true
	switch c := b.lease.conn; {
	case c == nil:
	case b.reading:
		c.cutOff() // ends the Read, which then ends the lease
	default:
		b.lease.end(b.body.discardBuffered())
	}
	return nil
}
