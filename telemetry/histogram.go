package telemetry

import (
	"slices"
	"sync/atomic"
	"time"
)

// MaxBuckets is how many bounds a histogram may have.
const MaxBuckets = 20

// DefaultBuckets are those that the semantic conventions of OpenTelemetry give for the
// durations of HTTP requests.
func DefaultBuckets() []time.Duration {
	const ms = time.Millisecond
	return []time.Duration{
		5 * ms, 10 * ms, 25 * ms, 50 * ms, 75 * ms, 100 * ms, 250 * ms, 500 * ms, 750 * ms,
		time.Second, 2500 * ms, 5 * time.Second, 7500 * ms, 10 * time.Second,
	}
}

// stripes is a power of two: so many copies of what every request counts are there, so
// that processors do not fight for one cache line.
const stripes = 4

// histogram counts durations, and what else there is to add up for the same requests.
type histogram struct {
	bounds  []time.Duration // ascending, shared, at most MaxBuckets
	striped [stripes]stripe
	recent  recentMax
}

// stripe fills four cache lines.
type stripe struct {
	buckets [MaxBuckets + 1]atomic.Int64 // the last one in use is for what exceeds all bounds
	sum     atomic.Int64                 // nanoseconds
	in, out atomic.Int64                 // bytes
	_       [8]int64
}

func newHistogram(bounds []time.Duration) *histogram { return &histogram{bounds: bounds} }

// add counts a duration that ended at a time.
func (h *histogram) add(took time.Duration, end time.Time) *stripe {
	i := 0
	for i < len(h.bounds) && took > h.bounds[i] {
		i++
	}
	n := end.Nanosecond()
	s := &h.striped[(n^n>>4^n>>9)&(stripes-1)]
	s.buckets[i].Add(1)
	s.sum.Add(int64(took))
	h.recent.note(took, end)
	return s
}

// totals is a histogram read at one moment, or as good as that.
type totals struct {
	count      uint64
	sum        time.Duration
	cumulative []uint64 // by bound
	in, out    int64
	max        time.Duration
}

func (h *histogram) totals(now time.Time) totals {
	t := totals{cumulative: make([]uint64, len(h.bounds)), max: h.recent.read(now)}
	for i := range h.striped {
		s := &h.striped[i]
		for b := range len(h.bounds) + 1 {
			n := uint64(s.buckets[b].Load())
			t.count += n
			if b < len(h.bounds) {
				t.cumulative[b] += n
			}
		}
		t.sum += time.Duration(s.sum.Load())
		t.in += s.in.Load()
		t.out += s.out.Load()
	}
	for b := 1; b < len(t.cumulative); b++ {
		t.cumulative[b] += t.cumulative[b-1]
	}
	return t
}

// plus adds up the same histogram of several series; t is changed.
func (t *totals) plus(o totals) {
	if t.cumulative == nil {
		t.cumulative = slices.Clone(o.cumulative)
	} else {
		for b := range t.cumulative {
			t.cumulative[b] += o.cumulative[b]
		}
	}
	t.count, t.sum, t.in, t.out, t.max = t.count+o.count, t.sum+o.sum, t.in+o.in, t.out+o.out, max(t.max, o.max)
}

// recentMax is the longest duration of the last one to two minutes.
type recentMax struct {
	slots [2]struct{ minute, longest atomic.Int64 }
}

func (m *recentMax) note(took time.Duration, end time.Time) {
	minute := end.Unix() / 60
	slot := &m.slots[minute&1]
	if old := slot.minute.Load(); old < minute && slot.minute.CompareAndSwap(old, minute) {
		slot.longest.Store(0)
	}
	for {
		longest := slot.longest.Load()
		if int64(took) <= longest || slot.longest.CompareAndSwap(longest, int64(took)) {
			return
		}
	}
}

func (m *recentMax) read(now time.Time) time.Duration {
	minute, longest := now.Unix()/60, int64(0)
	for i := range m.slots {
		if slot := &m.slots[i]; slot.minute.Load() >= minute-1 {
			longest = max(longest, slot.longest.Load())
		}
	}
	return time.Duration(longest)
}
