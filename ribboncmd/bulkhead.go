package ribboncmd

import (
	"context"
	"sync/atomic"
)

// permits count the calls in progress. Limits belong to settings and come with
// each attempt, so they may change at any time.
type permits struct {
	held atomic.Int64
	peak atomic.Int64 // most at once since it was last taken
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
			p.noteMost(held + 1)
			return true
		}
	}
}

func (p *permits) add() { p.noteMost(p.held.Add(1)) }

func (p *permits) noteMost(held int64) { raise(&p.peak, held) }

// raise makes most at least n.
func raise(most *atomic.Int64, n int64) {
	for {
		old := most.Load()
		if n <= old || most.CompareAndSwap(old, n) {
			return
		}
	}
}

// takePeak returns the most calls at once since it was called before. Calls that
// go on count again only when another one joins them.
func (p *permits) takePeak() int64 { return p.peak.Swap(0) }

func (p *permits) giveBack() { p.held.Add(-1) }

// enter takes the place of one call in the bulkhead. With Thread it may wait
// in the queue until ctx ends; waited tells whether it did. A nil error has to be
// answered by leave.
func (a *attachment) enter(ctx context.Context, settings *Settings) (waited bool, err error) {
	if a.pool == nil {
		if !a.state.running.take(a.state.limit(settings)) {
			return false, ErrSemaphoreRejected
		}
		return false, nil
	}
	if waited, err = a.pool.enter(ctx, settings.Pool); err != nil {
		return waited, err
	}
	a.state.running.add()
	return waited, nil
}

func (a *attachment) leave() {
	a.state.running.giveBack()
	if a.pool != nil {
		a.pool.leave()
	}
}
