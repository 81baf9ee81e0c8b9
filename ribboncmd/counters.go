package ribboncmd

import (
	"sync/atomic"
	"time"

	"github.com/gozer-gateway/gozer/internal/window"
)

const (
	// slowCalls is counted beside the events: calls longer than the limit of
	// SlowCallSettings.
	slowCalls   = numEvents
	numCounters = numEvents + 1
)

// stripes is a power of two: so many copies of what every call counts are there,
// so that processors do not fight for one cache line.
const stripes = 8

// stripeOf picks a stripe by a reading of the clock that is at hand anyway. Where
// the clock is coarse the stripes are used one after the other, which costs
// time, not truth.
func stripeOf(now time.Time) int {
	n := now.Nanosecond()
	return (n ^ n>>4 ^ n>>9) & (stripes - 1)
}

// counters of events, since the state was made.
type counters struct {
	striped [stripes]struct {
		n [numCounters]atomic.Int64
		_ [128 - numCounters*8%128]byte // up to the end of the cache line
	}
}

func (c *counters) add(stripe int, e Event) { c.striped[stripe].n[e].Add(1) }

// sums adds up the stripes.
func (c *counters) sums() (all [numCounters]int64) {
	for i := range c.striped {
		for e := range all {
			all[e] += c.striped[i].n[e].Load()
		}
	}
	return all
}

// health picks from sums what the breaker judges: total and errors of all calls
// that say something about the service.
func health(sums *[numCounters]int64) window.Counts {
	failed := sums[EventFailure] + sums[EventTimeout] + sums[EventThreadPoolRejected] + sums[EventSemaphoreRejected]
	return window.Counts{Total: sums[EventSuccess] + failed, Errors: failed, Slow: sums[slowCalls]}
}
