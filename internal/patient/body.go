// Package patient bounds the pauses in what net/http reads from upstreams.
package patient

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gozer-gateway/gozer/internal/http1"
)

// Body is a response body that may pause for so long and no longer, and that ends what
// belongs to it when it is closed. Read and Close may be called at once; the fields must
// not change once Read has been called.
type Body struct {
	io.ReadCloser

	// Patience is how long a Read may take before it fails with http1.ErrReadTimeout;
	// 0: for ever.
	Patience time.Duration

	// Cancel ends the request's context, with http1.ErrReadTimeout after a pause that was too
	// long and with nil when the body is closed.
	Cancel context.CancelCauseFunc

	// Release is called once, when the body is closed.
	Release func()

	// Explain makes the error that the caller gets of one that is neither the end nor a
	// pause; nil: that itself.
	Explain func(error) error

	timer *time.Timer
	late  atomic.Bool
	once  sync.Once
}

func (b *Body) Read(p []byte) (int, error) {
	b.arm()
	n, err := b.ReadCloser.Read(p)
	if b.timer != nil {
		b.timer.Stop()
	}
	switch {
	case err == nil, errors.Is(err, io.EOF):
	case b.late.Load():
		err = http1.ErrReadTimeout
	case b.Explain != nil:
		err = b.Explain(err)
	}
	return n, err
}

func (b *Body) arm() {
	switch {
	case b.Patience == 0:
	case b.timer == nil:
		b.timer = time.AfterFunc(b.Patience, b.expire)
	default:
		b.timer.Reset(b.Patience)
	}
}

func (b *Body) expire() {
	b.late.Store(true)
	b.Cancel(http1.ErrReadTimeout)
}

// Close closes the body, which ends a stream or connection that has not been read to its
// end, and then what belongs to it.
func (b *Body) Close() error {
	err := b.ReadCloser.Close()
	b.once.Do(func() {
		if b.timer != nil {
			b.timer.Stop()
		}
		b.Cancel(nil)
		b.Release()
	})
	return err
}
