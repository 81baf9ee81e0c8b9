package http1

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gozer-gateway/gozer/internal/inflight"
)

// requestContext is the context of one request. It ends with context.Canceled
// when the client goes away, when the server is closed, and when the handler
// has returned. It is nothing but a few fields until somebody asks for Done.
type requestContext struct {
	exchange   *exchange
	ended      atomic.Bool
	downstream downstream

	mu    sync.Mutex
	done  chan struct{} // guarded by mu; nil until it is asked for
	after []*func()     // guarded by mu
}

var _ context.Context = (*requestContext)(nil)

func (c *requestContext) base() context.Context { return c.exchange.conn.base }

// Deadline is that of the server's base context, which usually has none.
func (c *requestContext) Deadline() (time.Time, bool) { return c.base().Deadline() }

func (c *requestContext) Err() error {
	if c.ended.Load() {
		return context.Canceled
	}
	return nil
}

func (c *requestContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.ended.Load() {
			close(c.done)
		}
	}
	return c.done
}

// Interruptible says that whoever blocks on a connection need not watch Done
// if it registers with the Interrupter of the downstream among the values.
func (*requestContext) Interruptible() bool { return true }

func (c *requestContext) Value(key any) any {
	switch key {
	case downstreamKey:
		return &c.downstream
	case inflight.CutKey{}:
		return &c.exchange.cut
	case http.ServerContextKey:
		return c.exchange.conn.server
	case http.LocalAddrContextKey:
		return c.exchange.conn.conn.LocalAddr()
	}
	return c.base().Value(key)
}

// AfterFunc runs f, which must not block, once the context has ended. Package
// context calls it for contexts derived from this one, which so need no
// goroutine to watch Done.
func (c *requestContext) AfterFunc(f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended.Load() {
		go f() // the caller holds locks that f takes
		return func() bool { return false }
	}
	entry := &f
	c.after = append(c.after, entry)
	return func() bool { return c.forget(entry) }
}

func (c *requestContext) forget(entry *func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := slices.Index(c.after, entry)
	if n < 0 {
		return false
	}
	c.after = slices.Delete(c.after, n, n+1)
	return true
}

// cancel ends the context because of the client or the server.
func (c *requestContext) cancel() {
	c.end()
	c.downstream.interrupter.interrupt()
}

// end ends the context. It may be called again.
func (c *requestContext) end() {
	c.mu.Lock()
	c.ended.Store(true)
	if c.done != nil {
		select {
		case <-c.done:
		default:
			close(c.done)
		}
	}
	after := c.after
	c.after = nil
	c.mu.Unlock()
	for _, f := range after {
		(*f)()
	}
}
