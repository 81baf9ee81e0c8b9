package registry

import (
	"math/rand/v2"
	"time"
)

// threshold is the number of renewals a minute that must be exceeded for leases to
// expire, with expected clients renewing once per interval (spec 4.6).
func threshold(expected int, interval time.Duration, percent float64) int {
	return int(float64(expected) * (60.0 / interval.Seconds()) * percent)
}

// evictionLimit is how many of size leases one run may evict (spec 4.5).
func evictionLimit(size int, percent float64) int {
	return size - int(float64(size)*percent)
}

// pickRandom moves n random elements of all to the front and returns them.
func pickRandom[T any](all []T, n int) []T {
	for i := range n {
		j := i + rand.IntN(len(all)-i)
		all[i], all[j] = all[j], all[i]
	}
	return all[:n]
}

// delay measures by how much runs that should follow each other at an interval come
// late, so that a pause of the whole process does not expire leases (spec 4.5).
type delay struct {
	last time.Time
}

// late is 0 for the first run.
func (d *delay) late(now time.Time, interval time.Duration) time.Duration {
	last := d.last
	d.last = now
	if last.IsZero() {
		return 0
	}
	return max(0, now.Sub(last)-interval)
}
