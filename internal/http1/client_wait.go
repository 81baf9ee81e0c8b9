package http1

import (
	"container/list"
	"context"
	"time"
)

// waiter is a request that waits for a place, first for one at its host and
// then for one in all.
type waiter struct {
	granted chan struct{}
	host    *poolHost
	queue   *list.List    // where it waits; nil once it has its place; guarded by pool.mu
	element *list.Element // guarded by pool.mu
}

func (w *waiter) enter(queue *list.List) {
	w.queue, w.element = queue, queue.PushBack(w)
}

func (w *waiter) leave() {
	w.queue.Remove(w.element)
	w.queue = nil
}

// first takes the waiter out that came first; nil if there is none.
func first(queue *list.List) *waiter {
	front := queue.Front()
	if front == nil {
		return nil
	}
	w := front.Value.(*waiter)
	w.leave()
	return w
}

// admit takes a place at h, or returns the waiter that will get one. It is
// called with p.mu held.
func (p *pool) admit(h *poolHost) *waiter {
	if h.busy == p.perHost {
		w := &waiter{granted: make(chan struct{}), host: h}
		w.enter(&h.waiting)
		return w
	}
	h.busy++
	if p.busy == p.total {
		w := &waiter{granted: make(chan struct{}), host: h}
		w.enter(&p.waiting)
		return w
	}
	p.busy++
	return nil
}

// await returns when the place is there.
func (p *pool) await(ctx context.Context, w *waiter) error {
	timer := time.NewTimer(p.patience)
	defer timer.Stop()
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
		p.abandon(w)
		return Unasked(context.Cause(ctx))
	case <-timer.C:
		p.abandon(w)
		return ErrPoolExhausted
	}
}

// abandon gives up a place that has not come, or has come just now.
func (p *pool) abandon(w *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch w.queue {
	case nil:
		p.busy--
		w.host.busy--
	case &p.waiting:
		w.leave()
		w.host.busy--
	default:
		w.leave()
	}
	p.grant(w.host)
}

// grant hands on the place that has become free at h, and the one in all. It is
// called with p.mu held.
func (p *pool) grant(h *poolHost) {
	if h.busy < p.perHost {
		if w := first(&h.waiting); w != nil {
			h.busy++
			w.enter(&p.waiting)
		}
	}
	for p.busy < p.total {
		w := first(&p.waiting)
		if w == nil {
			break
		}
		p.busy++
		close(w.granted)
	}
	p.tidy(h)
}
