package ribboncmd

import (
	"context"
	"sync/atomic"
)

// permits count the calls in progress. Limits belong to settings and come with
// each attempt, so they may change at any time.
type permits struct {
	held atomic.Int64
}

// take adds a call unless limit are in progress. It never waits, and never
// refuses because of another attempt that is being refused.
func (p *permits) take(limit int) bool {
	for {
		held := p.held.Load()
		if held >= int64(limit) {
			return false
		}
		if p.held.CompareAndSwap(held, held+1) {
			return true
		}
	}
}

func (p *permits) add() { p.held.Add(1) }

func (p *permits) giveBack() { p.held.Add(-1) }

// enter takes the place of one call in the bulkhead. With Thread it may wait
// in the queue until ctx ends. A nil error has to be answered by leave.
func (a *attachment) enter(ctx context.Context, settings *Settings) error {
	if a.pool == nil {
		if !a.state.running.take(settings.MaxConcurrent) {
			return ErrSemaphoreRejected
		}
		return nil
	}
	if err := a.pool.enter(ctx, settings.Pool); err != nil {
		return err
	}
	a.state.running.add()
	return nil
}

func (a *attachment) leave() {
	a.state.running.giveBack()
	if a.pool != nil {
		a.pool.leave()
	}
}
