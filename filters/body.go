package filters

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"
)

// clientBody is a request body on its way upstream. It remembers why it could
// not be read, which is the client's failure and not the upstream's.
type clientBody struct {
	io.ReadCloser
	request     *http.Request
	ignored     ignored // kept apart: another goroutine may read the body
	reserved    []string
	limit, left int64 // bytes; no limit if limit is 0
	failure     atomic.Pointer[error]
	waiting     atomic.Bool // for the client
	read        atomic.Int64
}

func (b *clientBody) Read(p []byte) (int, error) {
	b.waiting.Store(true)
	defer b.waiting.Store(false) // last: a failure is known before nobody waits any more
	n, err := b.ReadCloser.Read(p)
	if b.limit > 0 {
		if b.left -= int64(n); b.left < 0 {
			n, err = max(0, n+int(b.left)), &http.MaxBytesError{Limit: b.limit}
		}
	}
	b.read.Add(int64(n))
	switch {
	case err == nil:
	case errors.Is(err, io.EOF):
		b.cleanTrailer()
	default:
		b.failure.CompareAndSwap(nil, &err)
	}
	return n, err
}

// LimitBody bounds the request body to a number of bytes. It returns an
// *http.MaxBytesError if the client has announced more; a body of unknown
// length fails with one when it turns out to be longer. The front door calls
// it; a filter may lower the limit before anything has been read.
func (c *Context) LimitBody(limit int64) error {
	if c.Request.ContentLength > limit {
		return &http.MaxBytesError{Limit: limit}
	}
	if c.body != nil {
		c.body.limit, c.body.left = limit, limit
	}
	return nil
}

// BodyError tells why the client's body could not be read to its end, nil if
// nothing of the kind has happened. Route filters ask it when a call has
// failed: the upstream is not to blame then.
func (c *Context) BodyError() error {
	if c.body == nil {
		return nil
	}
	if failure := c.body.failure.Load(); failure != nil {
		return *failure
	}
	return nil
}

// AwaitsBody reports that at this moment somebody waits for the client to send
// more of its body: if the call has failed for lack of time, the client had it.
func (c *Context) AwaitsBody() bool { return c.body != nil && c.body.waiting.Load() }

// SendsOwnBody reports that Out.Body is still the client's, and no filter's.
func (c *Context) SendsOwnBody() bool { return c.body != nil && c.Out.Body == io.ReadCloser(c.body) }

// ownBody puts the client's body under observation.
func (c *Context) ownBody() {
	if c.Out.Body == nil || c.Out.Body == http.NoBody {
		return
	}
	c.body = &clientBody{ReadCloser: c.Out.Body, request: c.Request}
	c.Out.Body = c.body
}
