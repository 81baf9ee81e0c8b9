package lb

import (
	"math/rand/v2"
	"time"
)

// DefaultMaxBackoff is the longest pause of a Backoff that names none.
const DefaultMaxBackoff = time.Second

// Backoff spaces the attempts of a command. The zero value lets them follow at once.
type Backoff struct {
	// Interval is the pause before the first retry; it doubles with every further one, ten
	// times at most (BackoffInterval). The actual pause is between half of that and all of
	// it, at random, so that requests that failed together do not return together.
	Interval time.Duration
	// Max is the longest pause; 0 means DefaultMaxBackoff.
	Max time.Duration
}

// maxBackoffDoublings is Ribbon's.
const maxBackoffDoublings = 10

// Longest is the pause before another attempt after so many failed ones without its
// random part: min(2^min(failures-1, 10) * Interval, Max).
func (b Backoff) Longest(failures int) time.Duration {
	if b.Interval <= 0 || failures <= 0 {
		return 0
	}
	most := b.Max
	if most <= 0 {
		most = DefaultMaxBackoff
	}
	doublings := min(failures-1, maxBackoffDoublings)
	if b.Interval > most>>doublings {
		return most
	}
	return b.Interval << doublings
}

// pause draws the pause before another attempt.
func (b Backoff) pause(failures int) time.Duration {
	d := b.Longest(failures)
	if d < 2 {
		return d
	}
	return d/2 + rand.N(d-d/2+1)
}
