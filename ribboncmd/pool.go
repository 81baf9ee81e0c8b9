package ribboncmd

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// pool bounds the calls of all commands with one pool key. Beyond that a
// bounded number of calls wait, first come, first served. Its size is what the
// latest call has brought with it.
type pool struct {
	mu      sync.Mutex
	sizes   PoolSettings // guarded by mu; of the latest call
	active  int          // guarded by mu
	waiters list.List    // guarded by mu; of chan struct{}, closed to hand over a place

	largest int // guarded by mu; most active ever
	tally       // guarded by mu
}

func newPool(sizes PoolSettings, now time.Duration) *pool {
	p := &pool{sizes: sizes}
	p.begin(now, sizes)
	return p
}

// enter takes a place, waits for one until ctx ends, or is rejected at once.
// waited tells whether it had to queue.
func (p *pool) enter(ctx context.Context, sizes PoolSettings) (waited bool, err error) {
	p.mu.Lock()
	p.sizes = sizes
	p.handOver()
	if p.active < p.sizes.Workers() { // then nobody waits any more
		p.occupy()
		p.mu.Unlock()
		return false, nil
	}
	if p.waiters.Len() >= sizes.Places() {
		p.rejected++
		p.mu.Unlock()
		return false, ErrThreadPoolRejected
	}
	ready := make(chan struct{})
	waiter := p.waiters.PushBack(ready)
	p.mu.Unlock()

	select {
	case <-ready:
		return true, nil
	case <-ctx.Done():
		p.abandon(waiter, ready)
		return true, endOf(ctx)
	}
}

// resize does not wait for the next call, which would bring its sizes along.
func (p *pool) resize(sizes PoolSettings) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sizes = sizes
	p.handOver()
}

func (p *pool) occupy() {
	p.active++
	p.largest = max(p.largest, p.active)
	p.peak = max(p.peak, p.active)
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
	p.completed++
	p.handOver()
}

func (p *pool) handOver() {
	for p.active < p.sizes.Workers() && p.waiters.Len() > 0 {
		first := p.waiters.Front()
		close(p.waiters.Remove(first).(chan struct{}))
		p.occupy()
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

// advance rolls the counters of the pool up to now and tells when the next bucket
// ends.
func (p *pool) advance(now time.Duration) (next time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended(now, p.sizes)
}
