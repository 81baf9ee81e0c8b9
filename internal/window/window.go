// Package window counts successes and errors over a rolling stretch of time.
package window

import "sync"

// Counts are the events of a stretch of time. Slow ones are counted among the
// others too.
type Counts struct {
	Total, Errors, Slow int64
}

// ErrorPercentage is the share of errors in whole percent, rounded down, and
// zero without any event.
func (c Counts) ErrorPercentage() int { return c.percentage(c.Errors) }

// SlowPercentage is the same for slow events.
func (c Counts) SlowPercentage() int { return c.percentage(c.Slow) }

func (c Counts) percentage(part int64) int {
	if c.Total == 0 {
		return 0
	}
	return int(part * 100 / c.Total)
}

func (c Counts) plus(d Counts) Counts {
	return Counts{Total: c.Total + d.Total, Errors: c.Errors + d.Errors, Slow: c.Slow + d.Slow}
}

func (c Counts) minus(d Counts) Counts {
	return Counts{Total: c.Total - d.Total, Errors: c.Errors - d.Errors, Slow: c.Slow - d.Slow}
}

// Window sums the last closed buckets. It is told running totals, so that
// counting an event costs nothing here: whoever owns the window calls Roll at a
// fixed interval, and the bucket that it closes holds what has been added since
// the call before. All methods may be called at once.
type Window struct {
	mu     sync.Mutex
	last   Counts   // guarded by mu; totals when the current bucket began
	closed []Counts // guarded by mu; a ring
	oldest int      // guarded by mu; index of the bucket to be replaced
	sum    Counts   // guarded by mu; over closed
}

// New returns an empty window over the given number of closed buckets, one at
// least. What total counts already does not belong to it.
func New(buckets int, total Counts) *Window {
	return &Window{closed: make([]Counts, max(buckets, 1)), last: total}
}

// Counts returns the sum over the closed buckets.
func (w *Window) Counts() Counts {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sum
}

// Current returns the sum over the closed buckets and the current one.
func (w *Window) Current(total Counts) Counts {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sum.plus(total.minus(w.last))
}

// Roll closes the current bucket, forgets the oldest one and returns the new
// sum.
func (w *Window) Roll(total Counts) Counts {
	w.mu.Lock()
	defer w.mu.Unlock()
	bucket := total.minus(w.last)
	w.last = total
	w.sum = w.sum.plus(bucket).minus(w.closed[w.oldest])
	w.closed[w.oldest] = bucket
	w.oldest = (w.oldest + 1) % len(w.closed)
	return w.sum
}

// Reset forgets everything that total counts.
func (w *Window) Reset(total Counts) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = total
	clear(w.closed)
	w.sum = Counts{}
}
