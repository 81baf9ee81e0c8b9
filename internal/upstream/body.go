package upstream

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gozer-gateway/gozer/internal/http1"
)

// body bounds the pauses of a response body and gives its connection back when
// it is closed.
type body struct {
	io.ReadCloser
	patience time.Duration // 0: may pause for ever
	timer    *time.Timer
	late     atomic.Bool
	cancel   context.CancelCauseFunc
	release  func()
	once     sync.Once
}

func (b *body) Read(p []byte) (int, error) {
	b.arm()
	n, err := b.ReadCloser.Read(p)
	if b.timer != nil {
		b.timer.Stop()
	}
	if err != nil && !errors.Is(err, io.EOF) && b.late.Load() {
		err = http1.ErrReadTimeout
	}
	return n, err
}

func (b *body) arm() {
	switch {
	case b.patience == 0:
	case b.timer == nil:
		b.timer = time.AfterFunc(b.patience, b.expire)
	default:
		b.timer.Reset(b.patience)
	}
}

func (b *body) expire() {
	b.late.Store(true)
	b.cancel(http1.ErrReadTimeout)
}

func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.once.Do(func() {
		if b.timer != nil {
			b.timer.Stop()
		}
		b.cancel(nil)
		b.release()
	})
	return err
}

// duplex is what net/http gives as the body of a 101 response.
type duplex interface {
	io.Writer
	CloseWrite() error
}

// switched is the connection to a server that has switched protocols.
type switched struct {
	*body
	duplex
}
