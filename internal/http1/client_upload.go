package http1

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// uploadBuffer is how much of a body is sent at a time.
	uploadBuffer = 32 << 10
	// lastWrite bounds the wait for the end of an upload whose last piece is
	// being written when the response is complete.
	lastWrite = 50 * time.Millisecond
	// writeLook is how often a write that does not end is looked into.
	writeLook = 200 * time.Millisecond
)

// upload sends a request body while its answer is waited for. The methods of a
// nil upload are those of one that was over before the answer.
type upload struct {
	ctx      context.Context //nolint:containedctx // of the request
	conn     *clientConn
	patience time.Duration // with the server
	farewell time.Duration // with the last write, when the response is complete
	body     io.ReadCloser
	left     int64 // -1 if chunked
	trailer  http.Header
	buffers  *buffers

	last    atomic.Bool // the last piece is being written
	stop    atomic.Bool // the server wants no more
	failed  atomic.Pointer[error]
	done    chan struct{}
	sent    bool // all of it; valid once done is closed
	mu      sync.Mutex
	replied bool // guarded by mu; the response head is there
}

// startUpload sends the body of x.req on a goroutine of its own.
func startUpload(x *trip) *upload {
	u := &upload{
		ctx:      x.ctx,
		conn:     x.conn,
		patience: x.transport.readTimeout,
		farewell: x.transport.lastWrite,
		body:     x.req.Body,
		left:     x.req.ContentLength,
		trailer:  x.req.Trailer,
		buffers:  x.transport.buffers,
		done:     make(chan struct{}),
	}
	if x.message.framing == chunkedBody {
		u.left = -1
	}
	x.conn.beExact()
	x.conn.armRead(deadline(x.ctx, time.Time{}, 0))
	go u.run()
	return u
}

func (u *upload) run() {
	defer close(u.done)
	defer u.body.Close()
	lent := u.buffers.get(uploadBuffer)
	defer u.buffers.put(lent)
	piece := lent.bytes[:uploadBuffer]
	var err error
	if u.left < 0 {
		err = u.sendChunks(piece)
	} else {
		err = u.sendLength(piece)
	}
	u.sent = err == nil
	u.awaitReply()
}

// awaitReply starts the server's time to answer.
func (u *upload) awaitReply() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.replied {
		u.conn.armRead(deadline(u.ctx, time.Now(), u.patience))
	}
}

func (u *upload) sendLength(piece []byte) error {
	for u.left > 0 {
		n, err := u.read(piece[:min(int64(len(piece)), u.left)])
		if err != nil {
			return err
		}
		if n == 0 {
			return u.fail(errShortBody)
		}
		u.left -= int64(n)
		u.last.Store(u.left == 0)
		if err := u.write(piece[:n]); err != nil {
			return err
		}
	}
	return nil
}

func (u *upload) sendChunks(piece []byte) error {
	for {
		n, err := u.read(piece[chunkRoom : len(piece)-chunkTail])
		if err != nil {
			return err
		}
		if n == 0 {
			return u.sendEnd(piece)
		}
		if err := u.write(frameChunk(piece, n)); err != nil {
			return err
		}
	}
}

func (u *upload) sendEnd(piece []byte) error {
	end, err := appendLastChunk(piece[:0], u.trailer)
	if err != nil {
		return u.fail(err)
	}
	u.last.Store(true)
	return u.write(end)
}

// read returns 0 at the end of the body only.
func (u *upload) read(p []byte) (int, error) {
	for {
		n, err := u.body.Read(p)
		switch {
		case n > 0: // the error, if it is one, comes again
			return n, nil
		case errors.Is(err, io.EOF):
			return 0, nil
		case err != nil:
			return 0, u.fail(err)
		}
	}
}

var errUnwanted = errors.New("http1: the server wants no more of the request")

func (u *upload) write(p []byte) error {
	if u.stop.Load() {
		return errUnwanted
	}
	err := u.writeAll(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return u.fail(explain(u.ctx, err))
	}
	return err // the answer, or its lack, tells more
}

// writeAll lets the server pause again and again, each time as long as patience. A write
// does not tell when its last byte was taken, so none waits long; but a TLS session
// survives no write that was given up.
func (u *upload) writeAll(p []byte) error {
	for moved := time.Now(); ; {
		due := deadline(u.ctx, moved, u.patience)
		at := due
		if look := time.Now().Add(writeLook); u.conn.secure == nil && look.Before(due) {
			at = look
		}
		u.conn.armWrite(at)
		n, err := u.conn.Write(p)
		p = p[n:]
		switch {
		case !errors.Is(err, os.ErrDeadlineExceeded) || u.conn.secure != nil || u.conn.broken.Load():
			return err
		case n > 0:
			moved = time.Now()
		case !time.Now().Before(due):
			return err
		}
	}
}

// fail ends the exchange because of the upload.
func (u *upload) fail(err error) error {
	u.failed.CompareAndSwap(nil, &err)
	u.conn.cutOff()
	return err
}

// failure is what made the exchange fail, nil if it was not the upload.
func (u *upload) failure() error {
	if u == nil {
		return nil
	}
	if failed := u.failed.Load(); failed != nil {
		return *failed
	}
	return nil
}

// answered says that the response head is there. A server that refuses the
// request and is going to close the connection gets no more of the body.
func (u *upload) answered(refusal bool) error {
	if u == nil {
		return nil
	}
	u.mu.Lock()
	u.replied = true
	u.mu.Unlock()
	if refusal {
		u.stop.Store(true)
	}
	return u.failure()
}

// finished reports whether all has been sent.
func (u *upload) finished() bool {
	if u == nil {
		return true
	}
	if u.last.Load() {
		timer := time.NewTimer(u.farewell)
		defer timer.Stop()
		select {
		case <-u.done:
		case <-timer.C:
		}
	}
	select {
	case <-u.done:
		return u.sent
	default:
		return false
	}
}
