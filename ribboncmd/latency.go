package ribboncmd

import (
	"math"
	"sync"
	"time"
)

// Latency sums up durations over the rolling percentile window, each within one
// percent. It is zero when there were none.
type Latency struct {
	Count int64
	Mean  time.Duration
	// At is the duration below which the share of Percentiles() with the same
	// index lies.
	At [numPercentiles]time.Duration
}

const numPercentiles = 9

// Percentiles are the ones that Hystrix's stream shows.
func Percentiles() [numPercentiles]float64 {
	return [numPercentiles]float64{0, 25, 50, 75, 90, 95, 99, 99.5, 100}
}

// timings keeps the durations of the calls of a command.
//
// Most calls take as long to their caller as they run; for them one histogram
// tells both. Only a call that waited in a queue or had a fallback is entered
// twice.
type timings struct {
	plain      latencies // running time and total time in one
	run, total latencies // of the calls for which they differ

	mu     sync.Mutex
	closed []timing // guarded by mu; a ring
	oldest int      // guarded by mu
	shown  shown    // guarded by mu; over closed
}

type timing struct{ plain, run, total distribution }

type shown struct{ run, total Latency }

// reshape sets the number of closed buckets, and forgets what was in them if it
// changes.
func (t *timings) reshape(buckets int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if buckets = max(buckets, 1); buckets != len(t.closed) {
		t.closed, t.oldest, t.shown = make([]timing, buckets), 0, shown{}
	}
}

// roll closes the current bucket and sums up anew.
func (t *timings) roll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed[t.oldest] = timing{t.plain.take(), t.run.take(), t.total.take()}
	t.oldest = (t.oldest + 1) % len(t.closed)
	t.shown = shown{
		run:   t.sum(func(b timing) distribution { return b.run }),
		total: t.sum(func(b timing) distribution { return b.total }),
	}
}

// sum merges plain and one other kind over all buckets; t.mu is held.
func (t *timings) sum(other func(timing) distribution) Latency {
	var counts [numBuckets]uint32
	for _, b := range t.closed {
		for _, d := range []distribution{b.plain, other(b)} {
			for _, c := range d {
				counts[c.bucket] += c.count
			}
		}
	}
	return summary(&counts)
}

func (t *timings) show() shown {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shown
}

// summary ranks by the nearest rank: the smallest value that at least that share
// of all does not exceed.
func summary(counts *[numBuckets]uint32) (l Latency) {
	var sum float64
	for b, n := range counts {
		l.Count += int64(n)
		sum += float64(n) * float64(valueOf(b))
	}
	if l.Count == 0 {
		return l
	}
	l.Mean = time.Duration(sum / float64(l.Count))
	ranks := Percentiles()
	var seen int64
	next := 0
	for b, n := range counts {
		seen += int64(n)
		for next < numPercentiles && n > 0 && seen >= rank(ranks[next], l.Count) {
			l.At[next] = valueOf(b)
			next++
		}
	}
	return l
}

func rank(percentile float64, count int64) int64 {
	return max(1, int64(math.Ceil(percentile/100*float64(count))))
}
