package post

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/http1"
)

var (
	errTooShort = errors.New("post: the response body is shorter than its length")
	errTooLong  = errors.New("post: the response body is longer than its length")
)

// headPatience is how long the head of a response of known length waits to leave
// together with the first bytes of the body.
const headPatience = 20 * time.Millisecond

// stream copies the body to the client and holds nothing back while the
// upstream pauses: whatever arrives is flushed, unless it is the end or fills
// the buffer, since then more is on its way. With a length of -1 the head is
// flushed before anything arrives.
func (f *sendResponse) stream(c *filters.Context, length int64) error {
	w := c.Writer()
	if length < 0 || length > 0 && pauses(c.Response.Body) {
		if err := flush(w); err != nil {
			return gone(c, err)
		}
	}
	if body, ok := c.Response.Body.(*http1.Body); ok && length >= int64(f.buffers.size) {
		return move(c, body, length)
	}
	buf := f.buffers.get()
	defer f.buffers.put(buf)
	for left := length; ; {
		n, err := c.Response.Body.Read(*buf)
		if length >= 0 {
			if left -= int64(n); left < 0 {
				return &filters.BodyError{Err: errTooLong}
			}
		}
		if werr := pass(w, (*buf)[:n], err == nil && left != 0 && n < len(*buf)); werr != nil {
			return gone(c, werr)
		}
		if err == io.EOF {
			return complete(left)
		}
		if err != nil {
			return failed(c, err)
		}
	}
}

// pauses reports whether the upstream has sent its head and now takes its time.
func pauses(body io.Reader) bool {
	upstream, able := body.(interface {
		Pauses(while time.Duration) bool
	})
	return able && upstream.Pauses(headPatience)
}

// move leaves a body that no filter has wrapped to the two connections, which
// pass on as it arrives, without a copy if they can.
func move(c *filters.Context, body *http1.Body, length int64) error {
	n, err := io.Copy(c.Writer(), body)
	if _, ours := errors.AsType[*http1.WriteError](err); ours {
		return gone(c, err)
	}
	if err != nil {
		return failed(c, err)
	}
	return complete(length - n)
}

// pass writes p to the client and flushes it if told to.
func pass(w http.ResponseWriter, p []byte, flushing bool) error {
	if len(p) == 0 {
		return nil
	}
	if _, err := w.Write(p); err != nil {
		return err
	}
	if !flushing {
		return nil
	}
	return flush(w)
}

// complete judges the end of a body with so many bytes left to come; left is
// negative when the length was not known.
func complete(left int64) error {
	if left > 0 {
		return &filters.BodyError{Err: errTooShort}
	}
	return nil
}

// failed says whose failure a body that breaks off is: when the client goes,
// the upstream's side is cancelled too.
func failed(c *filters.Context, err error) error {
	if errors.Is(c.Request.Context().Err(), context.Canceled) {
		return gone(c, err)
	}
	return &filters.BodyError{Err: fmt.Errorf("post: reading the response body: %w", err)}
}

// gone says who has ended the response: the client, unless it was the gateway itself.
func gone(c *filters.Context, err error) error {
	who := filters.ErrClientGone
	if c.Cut() {
		who = filters.ErrShutdown
	}
	return fmt.Errorf("%w: %w", who, err)
}

// flush hands over what is buffered. A writer that cannot flush holds nothing
// back.
func flush(w http.ResponseWriter) error {
	err := http.NewResponseController(w).Flush()
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

// buffers is a pool of copy buffers of one size.
type buffers struct {
	size int
	pool sync.Pool
}

func newBuffers(size int) *buffers {
	return &buffers{size, sync.Pool{New: func() any {
		b := make([]byte, size)
		return &b
	}}}
}

func (b *buffers) get() *[]byte  { return b.pool.Get().(*[]byte) }
func (b *buffers) put(p *[]byte) { b.pool.Put(p) }
