// Package window counts successes and errors over a rolling stretch of time.
package window

import (
	"sync"
	"sync/atomic"
)

// Counts are the events of a stretch of time.
type Counts struct {
	Total, Errors int64
}

// ErrorPercentage is the share of errors in whole percent, rounded down, and
// zero without any event.
func (c Counts) ErrorPercentage() int {
	if c.Total == 0 {
		return 0
	}
	return int(c.Errors * 100 / c.Total)
}

func (c Counts) plus(d Counts) Counts {
	return Counts{Total: c.Total + d.Total, Errors: c.Errors + d.Errors}
}

func (c Counts) minus(d Counts) Counts {
	return Counts{Total: c.Total - d.Total, Errors: c.Errors - d.Errors}
}

// Window sums the last closed buckets. Events go into the current bucket,
// which no sum shows until Roll closes it; whoever owns the window calls Roll
// at a fixed interval. All methods may be called at once; adding an event
// takes no lock.
type Window struct {
	successes, errors atomic.Int64 // the current bucket

	mu     sync.Mutex
	closed []Counts // guarded by mu; a ring
	oldest int      // guarded by mu; index of the bucket to be replaced
	sum    Counts   // guarded by mu; over closed
}

// New returns an empty window over the given number of closed buckets, one at
// least.
func New(buckets int) *Window {
	return &Window{closed: make([]Counts, max(buckets, 1))}
}

// Success adds a success to the current bucket.
func (w *Window) Success() { w.successes.Add(1) }

// Error adds an error to the current bucket.
func (w *Window) Error() { w.errors.Add(1) }

// Counts returns the sum over the closed buckets.
func (w *Window) Counts() Counts {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sum
}

// Roll closes the current bucket, forgets the oldest one and returns the new
// sum.
func (w *Window) Roll() Counts {
	w.mu.Lock()
	defer w.mu.Unlock()
	bucket := w.take()
	w.sum = w.sum.plus(bucket).minus(w.closed[w.oldest])
	w.closed[w.oldest] = bucket
	w.oldest = (w.oldest + 1) % len(w.closed)
	return w.sum
}

// Reset forgets everything, the current bucket too.
func (w *Window) Reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.take()
	clear(w.closed)
	w.sum = Counts{}
}

func (w *Window) take() Counts {
	errors := w.errors.Swap(0)
	return Counts{Total: w.successes.Swap(0) + errors, Errors: errors}
}
