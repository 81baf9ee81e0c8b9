package ribboncmd

import "time"

// tally counts what happens in a pool, in all and over a rolling window. Its
// owner guards it.
type tally struct {
	completed, rejected int64
	peak                int // most active since the current bucket began

	roller roller
	last   poolBucket   // totals when the current bucket began
	closed []poolBucket // a ring
	oldest int
}

type poolBucket struct {
	completed, rejected int64
	peak                int
}

func (t *tally) begin(now time.Duration, s PoolSettings) {
	t.roller.begin(now, s.bucket())
	t.closed, t.oldest = make([]poolBucket, s.buckets()), 0
}

// ended rolls the window up to now and tells when the next bucket ends.
func (t *tally) ended(now time.Duration, s PoolSettings) (next time.Duration) {
	if len(t.closed) != s.buckets() {
		t.begin(now, s)
	}
	for range min(t.roller.ended(now, s.bucket()), s.buckets()) {
		t.closed[t.oldest] = poolBucket{t.completed - t.last.completed, t.rejected - t.last.rejected, t.peak}
		t.last = poolBucket{completed: t.completed, rejected: t.rejected}
		t.peak = 0
		t.oldest = (t.oldest + 1) % len(t.closed)
	}
	return t.roller.next
}

// rolling sums up the closed buckets.
func (t *tally) rolling() (sum poolBucket) {
	for _, b := range t.closed {
		sum.completed += b.completed
		sum.rejected += b.rejected
		sum.peak = max(sum.peak, b.peak)
	}
	return sum
}

func (p PoolSettings) bucket() time.Duration {
	return max(positive(p.Window, defaultWindow)/time.Duration(p.buckets()), 1)
}

func (p PoolSettings) buckets() int { return positive(p.Buckets, defaultBuckets) }

// PoolSnapshot is the state of a pool at one moment, for management.
type PoolSnapshot struct {
	Key               string
	Active, Waiting   int
	Largest           int   // most active ever
	Completed         int64 // calls that have returned
	Rejected          int64
	RollingExecuted   int64 // of the closed buckets of the window
	RollingRejected   int64
	RollingMostActive int
	Settings          PoolSettings // in force: those of the latest call
}

func (p *pool) snapshot(key string) PoolSnapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	window := p.rolling()
	return PoolSnapshot{
		Key: key, Active: p.active, Waiting: p.waiters.Len(), Largest: p.largest,
		Completed: p.completed, Rejected: p.rejected,
		RollingExecuted: window.completed, RollingRejected: window.rejected, RollingMostActive: window.peak,
		Settings: p.sizes,
	}
}
