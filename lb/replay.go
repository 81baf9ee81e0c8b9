package lb

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
)

// Errors for a transport that uses the body wrongly.
var (
	errGivenUp = errors.New("lb: request body read after its attempt was over")
	errNotKept = errors.New("lb: request body is too large to be sent again")
)

// replay lets the attempts of one exchange read its request body one after the other.
// It streams, and keeps what it has read, up to a limit, in case another attempt wants
// it. A transport may go on reading after its attempt has failed; such reads are fenced
// off. The methods of a nil replay, for a request without a body, do nothing.
type replay struct {
	source io.ReadCloser
	length int64 // as declared, -1 if unknown
	limit  int64 // most bytes to keep
	closes bool  // source is closed once no attempt reads it any more

	mu     sync.Mutex
	reader *attemptBody  // of the current attempt; others are refused
	kept   []byte        // all that was read, unless lost
	lost   bool          // something was read and not kept
	over   bool          // there will be no further attempt
	err    error         // how source ended
	busy   bool          // a Read of source is going on
	idle   chan struct{} // closed when it is over; made by whoever waits for that
	first  attemptBody
}

// attemptBody is the body of one attempt. Closing it does not close the request's.
type attemptBody struct {
	replay *replay
	pos    int // bytes of kept already delivered; guarded by replay.mu
}

// openBody prepares the request's body, which it closes in the end if it is told to.
func openBody(req *http.Request, limit int64, closes bool) *replay {
	if req.Body == nil || req.Body == http.NoBody {
		return nil
	}
	return &replay{source: req.Body, length: req.ContentLength, limit: limit, closes: closes}
}

// open gives the body of the next attempt, from the start.
func (r *replay) open() io.ReadCloser {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reader = &r.first
	if r.first.replay != nil {
		r.reader = new(attemptBody)
	}
	r.reader.replay = r
	return r.reader
}

// reopen is the GetBody of an attempt: it gives up the reader handed out before for one
// that begins at the start.
func (r *replay) reopen() (io.ReadCloser, error) {
	r.mu.Lock()
	again := !r.busy && r.whole()
	r.mu.Unlock()
	if !again {
		return nil, errNotKept
	}
	return r.open(), nil
}

// whole reports that the body can be read from the start. It needs mu.
func (r *replay) whole() bool {
	return !r.lost && (r.err == nil || errors.Is(r.err, io.EOF))
}

func (b *attemptBody) Read(p []byte) (int, error) { return b.replay.read(b, p) }

// Close ends the attempt's use of the body.
func (b *attemptBody) Close() error {
	r := b.replay
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reader == b {
		r.reader = nil
		r.release()
	}
	return nil
}

// release closes the source when nobody reads it any more. It needs mu.
func (r *replay) release() {
	if r.closes && r.over && !r.busy && r.reader == nil {
		r.closes = false
		_ = r.source.Close() // all that was to be read has been
	}
}

func (r *replay) read(b *attemptBody, p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.reader != b:
		return 0, errGivenUp
	case b.pos < len(r.kept):
		n := copy(p, r.kept[b.pos:])
		b.pos += n
		return n, nil
	case r.err != nil:
		return 0, r.err
	}
	r.busy = true
	r.mu.Unlock()
	n, err := r.source.Read(p)
	r.mu.Lock()
	r.busy = false
	r.keep(p[:n])
	b.pos = len(r.kept)
	r.err = err
	if r.idle != nil {
		r.fenceIfWhole()
		close(r.idle)
		r.idle = nil
	}
	r.release()
	return n, err
}

// awaited reports that the source is being read at this moment.
func (r *replay) awaited() bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.busy
}

// keep remembers what was read, up to the limit.
func (r *replay) keep(p []byte) {
	switch {
	case r.lost || len(p) == 0:
	case int64(len(r.kept)+len(p)) > r.limit:
		r.kept, r.lost = nil, true
	default:
		if r.kept == nil {
			r.kept = make([]byte, 0, max(min(r.length, r.limit), int64(len(p))))
		}
		r.kept = append(r.kept, p...)
	}
}

// fence refuses all further reads: there will be no further attempt.
func (r *replay) fence() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reader, r.over = nil, true
	r.release()
}

// rewind ends the current attempt's use of the body and reports whether another attempt
// can send all of it. A read that is going on is waited for, until ctx ends. A body that
// cannot be sent again, which that read may decide, is left alone: its attempt may have
// answered and still be reading.
func (r *replay) rewind(ctx context.Context) bool {
	if r == nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.busy || !r.whole() {
		return r.fenceIfWhole()
	}
	idle := make(chan struct{})
	r.idle = idle
	r.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
	r.mu.Lock()
	r.idle = nil
	return !r.busy && r.reader == nil && r.whole()
}

// fenceIfWhole needs mu.
func (r *replay) fenceIfWhole() bool {
	if !r.whole() {
		return false
	}
	r.reader = nil
	return true
}

// settle says that no further attempt will be made: what was kept is let go as soon as
// the current attempt has read it.
func (r *replay) settle() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.limit, r.over = 0, true
	r.release()
	if r.reader == nil || r.reader.pos == len(r.kept) {
		r.kept, r.lost = nil, true
	}
}

// failed reports that the request's body itself could not be read to its end.
func (r *replay) failed() bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err != nil && !errors.Is(r.err, io.EOF)
}
