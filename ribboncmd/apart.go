package ribboncmd

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
)

// delivery is what a call has returned.
type delivery[T any] struct {
	value T
	err   error
}

var (
	errGivenUp = errors.New("ribboncmd: call has not returned yet")
	errGoexit  = errors.New("ribboncmd: call ended its goroutine")
)

// apart runs the call on a goroutine of its own and returns what it delivers, or
// errGivenUp when patience has ended before. The place in the bulkhead is given
// back when the call has returned.
func (t *Task[T]) apart(ctx, patience context.Context, c *Command, a *attachment) delivery[T] {
	done := make(chan delivery[T], 1)
	var settled atomic.Bool // by whoever comes first
	work, release := c.leash(ctx, patience)
	go func() {
		d := delivery[T]{err: errGoexit}
		defer func() { // also when the call ends its goroutine
			release()
			a.leave()
			switch {
			case settled.CompareAndSwap(false, true):
				done <- d
			case d.err == nil:
				t.discard(d.value)
			}
		}()
		d.value, d.err = protect(work, t.Run)
	}()
	select {
	case d := <-done:
		return d
	case <-patience.Done():
	}
	if settled.CompareAndSwap(false, true) {
		return delivery[T]{err: errGivenUp}
	}
	return <-done
}

// leash is the context of a call on its own goroutine: what of its caller's end
// and of the deadline reaches it is a matter of settings.
func (c *Command) leash(ctx, patience context.Context) (context.Context, context.CancelFunc) {
	s := &c.policy.Settings
	switch {
	case s.InterruptOnTimeout && s.InterruptOnCancel:
		return patience, func() {}
	case s.InterruptOnCancel:
		return context.WithCancel(ctx)
	}
	free := context.WithoutCancel(ctx)
	deadline, ok := patience.Deadline()
	if s.InterruptOnTimeout && ok {
		return context.WithDeadlineCause(free, deadline, ErrTimeout)
	}
	return free, func() {}
}

// protect turns a panic of run into an error.
func protect[T any](ctx context.Context, run func(context.Context) (T, error)) (value T, err error) {
	defer func() {
		if p := recover(); p != nil {
			var none T
			value, err = none, fmt.Errorf("ribboncmd: panic: %v", p)
		}
	}()
	return run(ctx)
}
