package http1

import (
	"net/http"
	"sync/atomic"
	"time"
)

// tick is the period of the sweeper, and so the grain of all waits of a server.
const tick = 100 * time.Millisecond

// clock counts ticks and keeps the Date of responses. Reading it costs no
// system call.
type clock struct {
	ticks  atomic.Uint64
	second atomic.Int64
	text   atomic.Pointer[string]
}

func (c *clock) set(now time.Time) {
	if second := now.Unix(); c.text.Load() == nil || second != c.second.Load() {
		date := now.UTC().Format(http.TimeFormat)
		c.second.Store(second)
		c.text.Store(&date)
	}
}

// date is the value of the Date field, at most one tick old.
func (c *clock) date() string { return *c.text.Load() }

// after returns the first tick at which d has certainly passed; 0, which is
// never, for a d of 0 or less.
func (c *clock) after(d time.Duration) uint64 {
	if d <= 0 {
		return 0
	}
	return c.ticks.Load() + uint64((d+tick-1)/tick) + 1
}
