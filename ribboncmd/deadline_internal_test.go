package ribboncmd

import (
	"errors"
	"testing"
	"time"
)

// The timer of a context may be late; the clock is not.
func TestSettleGoesByTheClock(t *testing.T) {
	c := newCall(t.Context(), time.Now(), time.Hour)
	_ = c.ctx.Done() // makes the timer
	c.ctx.deadline = time.Now().Add(-time.Millisecond)
	if cause := c.ctx.settle(); !errors.Is(cause, ErrTimeout) {
		t.Errorf("the call ended with %v", cause)
	}
	c.ctx.release()
}
