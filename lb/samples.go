package lb

import (
	"math"
	"slices"
	"sync/atomic"
	"time"
)

const (
	sampleWindow = int64(time.Second)
	fewSamples   = 8
	maxSamples   = 1000
)

// RecentTimes describe the response times of the last second that is over; all zero if
// there were none.
type RecentTimes struct {
	Count int // of the samples, at most 1000
	Mean  time.Duration
	// The percentiles that Ribbon publishes.
	P10, P25, P50, P75, P90, P95, P98, P99, P995 time.Duration
	At                                           time.Time // when the second was over
}

// sampler keeps the response times of the current second and of the one before, in two
// buffers that take turns and grow with the number of requests.
type sampler struct {
	filling, filled atomic.Pointer[samples]
	rolling         atomic.Bool
	own             [2]samples
}

type samples struct {
	began atomic.Int64 // unix nanoseconds
	next  atomic.Int64
	few   [fewSamples]atomic.Int64
	many  []atomic.Int64 // instead of few, if not nil; never changes
}

func (b *samples) slots() []atomic.Int64 {
	if b.many != nil {
		return b.many
	}
	return b.few[:]
}

func (s *sampler) add(now, took int64) {
	buffer := s.filling.Load()
	if buffer == nil || now-buffer.began.Load() >= sampleWindow {
		if buffer = s.roll(buffer, now); buffer == nil {
			return
		}
	}
	i, slots := buffer.next.Add(1)-1, buffer.slots()
	slots[i%int64(len(slots))].Store(took)
}

// roll begins the second of now in the buffer that was filled before the last one, unless
// that is too small by now. Another goroutine that does so already gets its way.
func (s *sampler) roll(old *samples, now int64) *samples {
	if !s.rolling.CompareAndSwap(false, true) {
		return old
	}
	defer s.rolling.Store(false)
	if latest := s.filling.Load(); latest != old {
		return latest
	}
	next := s.filled.Load()
	switch {
	case old == nil:
		next = &s.own[0]
	case next == nil:
		next = &s.own[1]
	}
	if old != nil {
		if n := min(old.next.Load(), maxSamples); n > int64(len(next.slots())) {
			next = &samples{many: make([]atomic.Int64, n)}
		}
	}
	next.next.Store(0)
	next.began.Store(now)
	s.filled.Store(old)
	s.filling.Store(next)
	return next
}

// last is the buffer of the last second that is over, nil if that is long ago.
func (s *sampler) last(now int64) *samples {
	for _, buffer := range [...]*samples{s.filling.Load(), s.filled.Load()} {
		if buffer == nil {
			continue
		}
		if age := now - buffer.began.Load(); age >= sampleWindow && age < 2*sampleWindow {
			return buffer
		}
	}
	return nil
}

// Recent describes the response times of the last second. It sorts them: it is for people
// and for the slow side.
func (s *ServerStats) Recent(now time.Time) RecentTimes {
	buffer := s.samples.last(now.UnixNano())
	if buffer == nil {
		return RecentTimes{}
	}
	slots := buffer.slots()
	n := min(int(buffer.next.Load()), len(slots))
	values := make([]int64, n)
	sum := int64(0)
	for i := range values {
		values[i] = slots[i].Load()
		sum += values[i]
	}
	slices.Sort(values)
	t := RecentTimes{Count: n, At: time.Unix(0, buffer.began.Load()+sampleWindow)}
	if n > 0 {
		t.Mean = time.Duration(sum / int64(n))
	}
	for p, field := range map[float64]*time.Duration{
		10: &t.P10, 25: &t.P25, 50: &t.P50, 75: &t.P75, 90: &t.P90, 95: &t.P95, 98: &t.P98, 99: &t.P99, 99.5: &t.P995,
	} {
		*field = percentile(values, p)
	}
	return t
}

// percentile is that of sorted values, linear between two of them (ribbon.md 7.2).
func percentile(sorted []int64, p float64) time.Duration {
	n := len(sorted)
	if n == 0 {
		return 0
	}
	index := p / 100 * float64(n)
	low, high := int(math.Floor(index)), int(math.Ceil(index))
	if high >= n {
		return time.Duration(sorted[n-1])
	}
	between := float64(sorted[high]-sorted[low]) * (index - float64(low))
	return time.Duration(sorted[low]) + time.Duration(between)
}
