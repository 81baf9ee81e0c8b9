package h2client

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gozer-gateway/gozer/internal/http1"
)

// body bounds the pauses of a response body and gives its stream back when it is closed.
type body struct {
	io.ReadCloser
	patience time.Duration // 0: may pause for ever
	timer    *time.Timer
	late     atomic.Bool
	ctx      context.Context //nolint:containedctx // of the stream, which the body ends
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
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return n, err
	case b.late.Load():
		return n, http1.ErrReadTimeout
	}
	return n, explain(b.ctx, err)
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

// Close resets the stream if it has not ended, and then ends its context.
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

// pausing reports that a body of that type comes when there is something to say, and not
// as fast as it can.
func pausing(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	return media == "text/event-stream" || isGRPC(media)
}

func isGRPC(media string) bool {
	rest, ok := strings.CutPrefix(media, "application/grpc")
	return ok && (rest == "" || rest[0] == '+')
}
