package lb

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/gozer-gateway/gozer/internal/rescue"
)

// Lists, pings, filters and rules may be those of others, and what a balancer does with
// them at intervals, or when its policy is replaced, has nobody above it: a panic there
// must not end the process.

// What the log says of failures that may be met again and again.
const (
	listUnread   = "server list read in part or not at all"
	pingPanicked = "ping panicked, which counts as not alive"
	workPanicked = "work on the servers panicked, what is known stays as it was"
)

// What the work was.
const (
	atIntervals    = "at intervals"
	choicePrepared = "the choice is prepared"
	policyReplaced = "the policy is replaced"
)

// complaints remembers what was logged last about each matter.
type complaints struct {
	mu   sync.Mutex
	last map[string]string
}

// news reports that an error differs from the last one of that matter. No error means
// that all is well again.
func (c *complaints) news(matter string, err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		delete(c.last, matter)
		return false
	}
	text := err.Error()
	if c.last[matter] == text {
		return false
	}
	if c.last == nil {
		c.last = map[string]string{}
	}
	c.last[matter] = text
	return true
}

// about is what the log says of an error, of a panic with its stack.
func (b *Balancer) about(err error) []any {
	return append([]any{"service", b.name, "error", err}, rescue.Stack(err)...)
}

// sheltered is do without its panics, which are logged.
func (b *Balancer) sheltered(p *policy, do func()) func() {
	return func() { b.guard(p, atIntervals, do) }
}

// guard does some work on the servers. Its panic is logged, unless it is the same as before.
func (b *Balancer) guard(p *policy, work string, do func()) {
	err := rescue.Do(func() error {
		do()
		return nil
	})
	if b.complaints.news(work, err) {
		p.Logger.Error(workPanicked, append(b.about(err), "when", work)...)
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
