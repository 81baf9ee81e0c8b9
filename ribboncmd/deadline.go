package ribboncmd

import (
	"context"
	"errors"
	"sync"
	"time"
)

// callContext is the context of one call: the caller's, plus a deadline that
// ends with the response head, plus an end of its own when the body is closed.
//
// It costs nothing but itself until somebody asks for Done, which builds the
// standard context and the timer behind it. A call that goes by Deadline
// alone, such as one that sets it on a connection, never pays for them.
type callContext struct {
	parent   context.Context //nolint:containedctx // this is a context: it has a parent
	deadline time.Time       // zero: none

	mu      sync.Mutex
	armed   context.Context //nolint:containedctx // guarded by mu; nil until Done is asked for
	cancel  context.CancelCauseFunc
	timer   *time.Timer
	settled bool // guarded by mu; the call has returned, the deadline is off
}

var _ context.Context = (*callContext)(nil)

// Deadline is the earlier of the caller's deadline and the command's, which no
// longer counts once the call has returned.
func (c *callContext) Deadline() (time.Time, bool) {
	theirs, ok := c.parent.Deadline()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.settled || c.deadline.IsZero() || (ok && theirs.Before(c.deadline)) {
		return theirs, ok
	}
	return c.deadline, true
}

// Interruptible tells internal/http1, which asks contexts for this method, that
// Deadline and the caller's interrupter tell of every end while the call lasts,
// so that it need not ask for Done.
func (c *callContext) Interruptible() bool {
	parent, ok := c.parent.(interface{ Interruptible() bool })
	return ok && parent.Interruptible()
}

// Done ends at the deadline with the cause ErrTimeout, with the caller's
// context, or when the body has been closed.
func (c *callContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.armed == nil {
		c.arm()
	}
	return c.armed.Done()
}

func (c *callContext) arm() {
	if c.settled {
		c.armed = c.parent
		return
	}
	c.armed, c.cancel = context.WithCancelCause(c.parent)
	if !c.deadline.IsZero() {
		c.timer = time.AfterFunc(time.Until(c.deadline), c.expire)
	}
}

func (c *callContext) expire() { c.cancel(ErrTimeout) }

// Err is DeadlineExceeded after the deadline, Canceled after any other end.
func (c *callContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.armed == nil {
		return c.unarmedErr()
	}
	if errors.Is(context.Cause(c.armed), ErrTimeout) {
		return context.DeadlineExceeded
	}
	return c.armed.Err()
}

func (c *callContext) unarmedErr() error {
	if err := c.parent.Err(); err != nil {
		return err
	}
	if c.expired() {
		return context.DeadlineExceeded
	}
	return nil
}

func (c *callContext) expired() bool {
	return !c.settled && !c.deadline.IsZero() && time.Until(c.deadline) <= 0
}

// Value goes through the standard context, if there is one, so that contexts
// derived from this one attach to it without a goroutine and find its cause.
func (c *callContext) Value(key any) any {
	c.mu.Lock()
	armed := c.armed
	c.mu.Unlock()
	if armed != nil {
		return armed.Value(key)
	}
	return c.parent.Value(key)
}

// settle switches the deadline off once the call has returned and tells what
// had cut it short by then: ErrTimeout, why the caller's context ended, or nil.
func (c *callContext) settle() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	cause := c.cutShort()
	c.settled = true
	return cause
}

func (c *callContext) cutShort() error {
	if c.armed == nil {
		if c.parent.Err() == nil && c.expired() {
			return ErrTimeout
		}
		return endOf(c.parent)
	}
	late := c.timer != nil && !c.timer.Stop()
	if cause := endOf(c.armed); cause != nil {
		return cause
	}
	if late || c.expired() { // a connection may have noticed before the timer
		return ErrTimeout
	}
	return nil
}

// endOf tells why a context has ended. A deadline of the caller is as good as
// one of ours: the service was too slow for it.
func endOf(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ErrTimeout
	}
	return context.Cause(ctx)
}

// bound is true when the context holds something that release gives back.
func (c *callContext) bound() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cancel != nil
}

// release ends the context. It may be called again.
func (c *callContext) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settled = true
	if c.cancel == nil {
		return
	}
	if c.timer != nil {
		c.timer.Stop()
	}
	c.cancel(nil)
}
