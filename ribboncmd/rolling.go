package ribboncmd

import "sync"

// rolling sums running totals over the last closed buckets, as Hystrix's
// counters do: the current bucket does not show.
type rolling struct {
	mu     sync.Mutex
	last   [numCounters]int64   // guarded by mu; totals when the current bucket began
	closed [][numCounters]int64 // guarded by mu; a ring
	peaks  []int64              // guarded by mu; a ring beside it: most calls at once
	oldest int                  // guarded by mu
}

func newRolling(buckets int, totals [numCounters]int64) *rolling {
	buckets = max(buckets, 1)
	return &rolling{last: totals, closed: make([][numCounters]int64, buckets), peaks: make([]int64, buckets)}
}

// roll closes the current bucket.
func (r *rolling) roll(totals [numCounters]int64, peak int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	bucket := &r.closed[r.oldest]
	for e := range bucket {
		bucket[e] = totals[e] - r.last[e]
	}
	r.last = totals
	r.peaks[r.oldest] = peak
	r.oldest = (r.oldest + 1) % len(r.closed)
}

// sums returns the counts of the window and the most calls at once in it.
func (r *rolling) sums() (sums [numCounters]int64, peak int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.closed {
		for e := range sums {
			sums[e] += r.closed[i][e]
		}
		peak = max(peak, r.peaks[i])
	}
	return sums, peak
}
