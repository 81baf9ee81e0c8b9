package http1

import (
	"context"
	"slices"
	"sync"
)

// Interrupter ends the blocking work that is done for one request when nobody
// wants its outcome any more: whoever learns of that calls interrupt, and no
// goroutine has to wait for it. The zero value is ready. Any number of
// goroutines may use it.
type Interrupter struct {
	mu      sync.Mutex
	over    bool            // guarded by mu
	targets []interruptible // guarded by mu
}

// interruptible is work under way. interrupt must not block, and does nothing
// to work that is over.
type interruptible interface{ interrupt() }

// interrupt cuts short what is under way and what is still begun. The context
// that carries the Interrupter must have ended before.
func (i *Interrupter) interrupt() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.over = true
	for _, t := range i.targets {
		t.interrupt()
	}
}

// reset makes the Interrupter as good as new, for the next request.
func (i *Interrupter) reset() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.over = false
	clear(i.targets)
	i.targets = i.targets[:0]
}

// register puts t at the mercy of interrupt until unregister.
func (i *Interrupter) register(t interruptible) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.targets = append(i.targets, t)
	if i.over {
		t.interrupt()
	}
}

// unregister returns when no interrupt of t is going on or can come any more.
func (i *Interrupter) unregister(t interruptible) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if n := slices.Index(i.targets, t); n >= 0 {
		i.targets = slices.Delete(i.targets, n, n+1)
	}
}

// interrupterKey is the key of the *Interrupter among a context's values.
type interrupterKey struct{}

// interruptibleContext is a context that ends in no other ways than by its
// deadline and together with the Interrupter among its values, so that nobody
// has to watch its Done channel. A context derived from one by package context
// has an end of its own, and lacks the method.
type interruptibleContext interface {
	context.Context
	Interruptible() bool
}

// interrupterOf returns nil if only Done tells about the end of ctx.
func interrupterOf(ctx context.Context) *Interrupter {
	if c, ok := ctx.(interruptibleContext); !ok || !c.Interruptible() {
		return nil
	}
	i, _ := ctx.Value(interrupterKey{}).(*Interrupter)
	return i
}

// watch is the tie between a context and the work that ends with it.
type watch struct {
	interrupter *Interrupter
	stop        func() bool // of a context without one; nil if it never ends
}

// begin ties t to ctx.
func (w *watch) begin(ctx context.Context, t interruptible) {
	*w = watch{interrupter: interrupterOf(ctx)}
	switch {
	case w.interrupter != nil:
		w.interrupter.register(t)
	case ctx.Done() != nil:
		w.stop = context.AfterFunc(ctx, t.interrupt)
	}
}

// end unties t. It reports false when an interrupt may still be going on.
func (w *watch) end(t interruptible) bool {
	switch {
	case w.interrupter != nil:
		w.interrupter.unregister(t)
	case w.stop != nil:
		return w.stop()
	}
	return true
}
