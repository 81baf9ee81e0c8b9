package lb

import "time"

// TripPolicy says when successive connection failures take a server out of rotation
// and for how long. Zero fields mean Ribbon's defaults: 3 failures, 10 s, 30 s.
type TripPolicy struct {
	Failures int           // successive failures that trip the server
	Factor   time.Duration // first blackout; it doubles with every further failure
	Max      time.Duration // longest blackout
}

// maxDoublings caps the exponent of the blackout.
const maxDoublings = 16

func (p TripPolicy) withDefaults() TripPolicy {
	if p.Failures <= 0 {
		p.Failures = 3
	}
	if p.Factor <= 0 {
		p.Factor = 10 * time.Second
	}
	if p.Max <= 0 {
		p.Max = 30 * time.Second
	}
	return p
}

// Blackout is how long a server is avoided after so many successive failures:
// min(2^min(failures-threshold, 16) * factor, max), and nothing below the threshold.
func (p TripPolicy) Blackout(failures int64) time.Duration {
	p = p.withDefaults()
	over := failures - int64(p.Failures)
	if over < 0 {
		return 0
	}
	doublings := min(over, maxDoublings)
	if p.Factor > p.Max>>doublings {
		return p.Max
	}
	return p.Factor << doublings
}
