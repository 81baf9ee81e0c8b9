package registry

import (
	"sync"
	"time"
)

// bucket is the original's token bucket (spec 4.13): it may be overdrawn by its
// burst, and gains tokens in steps of whole ones.
type bucket struct {
	burst int
	rate  int           // tokens per unit
	unit  time.Duration // a second, or a minute

	mu       sync.Mutex // guards the fields below
	consumed int
	refilled time.Time
}

func newBucket(burst, rate int, unit time.Duration) *bucket {
	return &bucket{burst: burst, rate: rate, unit: unit}
}

// acquire takes a token if there is one. A burst or rate of 0 or less never refuses.
func (b *bucket) acquire(now time.Time) bool {
	if b.burst <= 0 || b.rate <= 0 {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refill(now)
	if b.consumed >= b.burst {
		return false
	}
	b.consumed++
	return true
}

func (b *bucket) refill(now time.Time) {
	if b.refilled.IsZero() {
		b.refilled = now
		return
	}
	gained := int64(now.Sub(b.refilled)) * int64(b.rate) / int64(b.unit)
	if gained <= 0 {
		return
	}
	b.refilled = b.refilled.Add(time.Duration(gained) * b.unit / time.Duration(b.rate))
	b.consumed = int(max(0, int64(min(b.consumed, b.burst))-gained))
}
