package netserver

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// body is a request body that knows whether it has been read to its end. Others may still
// read and close it after the handler has returned.
type body struct {
	io.ReadCloser
	ended  atomic.Bool // without an error
	closed atomic.Bool
	mu     sync.Mutex // held while reading
}

func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.ended.Store(true)
	}
	return n, err
}

// Close makes later reads fail. The rest is for the server: if net/http closed the body for
// somebody else at the end of the response, it would interrupt itself and take what is left for a request.
func (b *body) Close() error {
	b.closed.Store(true)
	return nil
}

// fence returns when nobody reads any more, with a read deadline that has passed.
func (b *body) fence(control *http.ResponseController) {
	b.closed.Store(true)
	_ = control.SetReadDeadline(time.Unix(1, 0)) // fails on a closed connection
	b.mu.Lock()
	defer b.mu.Unlock()
}
