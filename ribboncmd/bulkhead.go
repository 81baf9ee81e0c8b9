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
// in the queue until ctx ends. A nil error has to be answered by leave with
// the same pool, which is nil with Semaphore.
func (s *state) enter(ctx context.Context, settings *Settings) (*pool, error) {
	if settings.Isolation == Semaphore {
		if !s.running.take(settings.MaxConcurrent) {
			return nil, ErrSemaphoreRejected
		}
		return nil, nil //nolint:nilnil // no pool is what Semaphore means
	}
	p := s.pool.Load()
	if err := p.enter(ctx, settings.Pool); err != nil {
		return nil, err
	}
	s.running.add()
	return p, nil
}

func (s *state) leave(p *pool, settings *Settings) {
	s.running.giveBack()
	if p != nil {
		p.leave(settings.Pool)
	}
}
