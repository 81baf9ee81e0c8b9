package lb

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/gozer-gateway/gozer/internal/rescue"
)

// Lists, pings, filters and rules may be those of others, and what a balancer does with
// them at intervals has nobody above it: a panic there must not end the process.

// What the log says of failures that are met at intervals.
const (
	listUnread   = "server list read in part or not at all"
	pingPanicked = "ping panicked, which counts as not alive"
	workPanicked = "work on the servers panicked, they stay as they were"
)

// complaints remembers what was logged last under each message.
type complaints struct {
	mu   sync.Mutex
	last map[string]string
}

// news reports that an error differs from the last one of that message. No error means
// that all is well again.
func (c *complaints) news(message string, err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		delete(c.last, message)
		return false
	}
	text := err.Error()
	if c.last[message] == text {
		return false
	}
	if c.last == nil {
		c.last = map[string]string{}
	}
	c.last[message] = text
	return true
}

// about is what the log says of an error, of a panic with its stack.
func (b *Balancer) about(err error) []any {
	fields := []any{"service", b.name, "error", err}
	if panicked, ok := errors.AsType[*rescue.PanicError](err); ok {
		fields = append(fields, "stack", string(panicked.Stack))
	}
	return fields
}

// sheltered is do without its panics, which are logged.
func (b *Balancer) sheltered(ctx context.Context, p *policy, do func()) func() {
	return func() {
		err := rescue.Do(func() error {
			do()
			return nil
		})
		if b.complaints.news(workPanicked, err) {
			p.Logger.ErrorContext(ctx, workPanicked, b.about(err)...)
		}
	}
}

// shelteredPing is a ping whose panics are handed to failed.
type shelteredPing struct {
	ping     Ping
	failed   func(error)
	panicked atomic.Bool
}

// Alive implements Ping.
func (s *shelteredPing) Alive(ctx context.Context, server *Server) (alive bool) {
	err := rescue.Do(func() error {
		alive = s.ping.Alive(ctx, server)
		return nil
	})
	if err != nil {
		s.panicked.Store(true)
		s.failed(err)
	}
	return alive
}
