package ribboncmd

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// A histogram has a bucket for each of the first 64 microseconds, then 64
// buckets for each doubling, up to longest: every value is known within 1/128.
const (
	subBits    = 6
	subBuckets = 1 << subBits
	topBits    = 32 // 2^32 µs are 71 minutes
	numBuckets = subBuckets * (topBits - subBits + 1)
)

type histogram [numBuckets]atomic.Uint32

// bucketOf finds the bucket of a duration.
func bucketOf(d time.Duration) int {
	us := uint64(max(d, 0) / time.Microsecond)
	if us >= 1<<topBits {
		return numBuckets - 1
	}
	exponent := max(bits.Len64(us)-subBits-1, 0)
	return exponent<<subBits + int(us>>exponent)
}

// valueOf is the middle of a bucket.
func valueOf(bucket int) time.Duration {
	if bucket < 2*subBuckets {
		return time.Duration(bucket) * time.Microsecond
	}
	exponent := bucket>>subBits - 1
	low := uint64(bucket-exponent<<subBits) << exponent
	return time.Duration(low+1<<exponent/2) * time.Microsecond
}

// latencies counts durations in stripes. Histograms are large, so there is only
// one until two processors meet in a bucket.
type latencies struct {
	striped [latencyStripes]atomic.Pointer[histogram]
	mask    atomic.Uint32 // of the stripes in use
}

// latencyStripes is a power of two, at most stripes.
const latencyStripes = 4

func (l *latencies) add(stripe int, d time.Duration) {
	slot := &l.striped[stripe&int(l.mask.Load())]
	h := slot.Load()
	if h == nil {
		slot.CompareAndSwap(nil, new(histogram))
		h = slot.Load()
	}
	count := &h[bucketOf(d)]
	if n := count.Load(); !count.CompareAndSwap(n, n+1) {
		count.Add(1)
		l.mask.Store(latencyStripes - 1)
	}
}

// take empties the histograms and returns what they held.
func (l *latencies) take() distribution {
	var d distribution
	var sum [numBuckets]uint32
	used := false
	for i := range l.striped {
		h := l.striped[i].Load()
		if h == nil {
			continue
		}
		used = true
		for b := range h {
			if h[b].Load() != 0 {
				sum[b] += h[b].Swap(0)
			}
		}
	}
	if !used {
		return nil
	}
	for b, n := range sum {
		if n != 0 {
			d = append(d, cell{bucket: uint16(b), count: n})
		}
	}
	return d
}

// distribution is a histogram at rest: only the buckets that hold something, in
// order.
type distribution []cell

type cell struct {
	bucket uint16
	count  uint32
}
