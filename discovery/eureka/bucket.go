package eureka

import "time"

// bucket limits how often something happens: up to burst times at once, and on average
// rate times a minute (section 4.13). It is not safe for concurrent use.
type bucket struct {
	burst    int
	rate     float64 // per minute
	consumed int
	refilled time.Time
}

func (b *bucket) take(now time.Time) bool {
	if b.burst <= 0 || b.rate <= 0 {
		return true
	}
	if b.refilled.IsZero() {
		b.refilled = now
	}
	if back := int(now.Sub(b.refilled).Minutes() * b.rate); back > 0 {
		b.consumed = max(0, min(b.consumed, b.burst)-back)
		b.refilled = b.refilled.Add(time.Duration(float64(back) / b.rate * float64(time.Minute)))
	}
	if b.consumed >= b.burst {
		return false
	}
	b.consumed++
	return true
}
