package ribboncmd

import (
	"container/list"
	"context"
	"sync"
)

// pool bounds the calls of all commands with one pool key. Beyond that a
// bounded number of calls wait, first come, first served. The zero value is an
// empty pool; its size is what the latest call has brought with it.
type pool struct {
	mu      sync.Mutex
	workers int       // guarded by mu
	active  int       // guarded by mu
	waiters list.List // guarded by mu; of chan struct{}, closed to hand over a place
}

// enter takes a place, waits for one until ctx ends, or is rejected at once.
func (p *pool) enter(ctx context.Context, sizes PoolSettings) error {
	p.mu.Lock()
	p.workers = sizes.Workers()
	p.handOver()
	if p.active < p.workers { // then nobody waits any more
		p.active++
		p.mu.Unlock()
		return nil
	}
	if p.waiters.Len() >= sizes.Places() {
		p.mu.Unlock()
		return ErrThreadPoolRejected
	}
	ready := make(chan struct{})
	waiter := p.waiters.PushBack(ready)
	p.mu.Unlock()

	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		p.abandon(waiter, ready)
		return endOf(ctx)
	}
}

// abandon leaves the queue, or gives back the place that was handed over in
// the same moment.
func (p *pool) abandon(waiter *list.Element, ready <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-ready:
		p.active--
		p.handOver()
	default:
		p.waiters.Remove(waiter)
	}
}

// leave gives a place back, to the longest waiting call first.
func (p *pool) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active--
	p.handOver()
}

func (p *pool) handOver() {
	for p.active < p.workers && p.waiters.Len() > 0 {
		first := p.waiters.Front()
		close(p.waiters.Remove(first).(chan struct{}))
		p.active++
	}
}

// waiting is the length of the queue.
func (p *pool) waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiters.Len()
}

// idle is true of a pool that nobody uses.
func (p *pool) idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.active == 0 && p.waiters.Len() == 0
}
