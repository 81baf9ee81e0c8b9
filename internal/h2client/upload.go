package h2client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/gozer-gateway/gozer/internal/http1"
)

// shortBody is the length up to which a request body is read before anything is sent.
const shortBody = 16 << 10

var errUploadOver = errors.New("h2client: the stream has ended")

// short reads a body of a known, small length.
func short(req *http.Request) ([]byte, error) {
	content := make([]byte, req.ContentLength)
	n, err := io.ReadFull(req.Body, content)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return content[:n], errShortBody
	case err != nil:
		return nil, err
	}
	return content, nil
}

// memoryBody is a body that is there as a whole.
type memoryBody struct{ bytes.Reader }

func (*memoryBody) Close() error { return nil }

func newMemoryBody(content []byte) io.ReadCloser {
	b := new(memoryBody)
	b.Reset(content)
	return b
}

// upload is the body of one stream. Its source is read by a goroutine of its own, so that
// the stream can end at once while the source has nothing to give: net/http resets a
// stream only when Read has returned. That goroutine ends when the source gives something.
type upload struct {
	source   io.ReadCloser
	length   int64                   // as declared, -1 if unknown
	patience time.Duration           // how long the server may take nothing; 0: for ever
	cancel   context.CancelCauseFunc // ends the stream

	mu      sync.Mutex
	begun   bool // to read the source
	settled bool // no further attempt will read it

	pieces chan piece    // what the source gave
	taken  chan struct{} // says that the buffer of the last piece is free
	over   chan struct{} // closed by Close
	once   sync.Once

	rest piece // of the reader
}

// piece is the result of a Read.
type piece struct {
	bytes []byte
	err   error
}

func newUpload(source io.ReadCloser, length int64) *upload {
	return &upload{source: source, length: length, pieces: make(chan piece), taken: make(chan struct{}), over: make(chan struct{})}
}

// begin starts the goroutine at the first Read. It returns false after Close.
func (u *upload) begin() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	select {
	case <-u.over:
		return false
	default:
	}
	if !u.begun {
		u.begun = true
		go u.pump()
	}
	return true
}

// touched reports that something may have been read of the source.
func (u *upload) touched() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.begun
}

func (u *upload) Read(p []byte) (int, error) {
	if !u.begin() {
		return 0, errUploadOver
	}
	if len(u.rest.bytes) == 0 && u.rest.err == nil {
		select {
		case u.rest = <-u.pieces:
		case <-u.over:
			return 0, errUploadOver
		}
	}
	n := copy(p, u.rest.bytes)
	u.rest.bytes = u.rest.bytes[n:]
	if len(u.rest.bytes) > 0 {
		return n, nil
	}
	if u.rest.err == nil {
		select {
		case u.taken <- struct{}{}:
		case <-u.over:
		}
	}
	return n, u.rest.err
}

// Close ends the stream's use of the source.
func (u *upload) Close() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.once.Do(func() { close(u.over) })
	u.letGo()
	return nil
}

// settle says that there will be no further attempt.
func (u *upload) settle() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.settled = true
	u.letGo()
}

// letGo closes a source that nobody has read and nobody will. It needs mu.
func (u *upload) letGo() {
	select {
	case <-u.over:
		if u.settled && !u.begun {
			_ = u.source.Close() // nothing was wanted of it
		}
	default:
	}
}

func (u *upload) pump() {
	defer func() { _ = u.source.Close() }() // it has given what it had
	buf := make([]byte, shortBody)
	left := u.length
	for {
		n, err := u.source.Read(buf)
		if left -= int64(n); u.length >= 0 && errors.Is(err, io.EOF) && left > 0 {
			err = errShortBody
		}
		if !u.offer(piece{buf[:n], err}) || err != nil {
			return
		}
		select {
		case <-u.taken:
		case <-u.over:
			return
		}
	}
}

// offer waits until the stream takes a piece, which it does not while the server takes
// nothing of it.
func (u *upload) offer(p piece) bool {
	var late <-chan time.Time
	if u.patience > 0 {
		timer := time.NewTimer(u.patience)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case u.pieces <- p:
		return true
	case <-u.over:
	case <-late:
		u.cancel(http1.ErrReadTimeout)
	}
	return false
}
