package ribboncmd

import (
	"time"

	"github.com/gozer-gateway/gozer/fallback"
	"github.com/gozer-gateway/gozer/internal/window"
)

// policy is what one configuration says about a command. Immutable.
type policy struct {
	Settings
	provider   fallback.Provider // nil: none
	generation uint64            // later ones have higher numbers
	key        *Key              // that it stands for; nil for a service
}

// newer tells whether a policy replaces the one in force, which is nil at first. A
// request that began before a reload does not bring the old one back.
func (p *policy) newer(inForce *policy) bool {
	return p != inForce && (inForce == nil || p.generation > inForce.generation)
}

// deadline is the limit of one call, zero for none.
func (p *policy) deadline() time.Duration {
	if !p.TimeoutEnabled {
		return 0
	}
	return max(p.Timeout, 0)
}

func (p *policy) group() string {
	if p.Group == "" {
		return DefaultGroup
	}
	return p.Group
}

func (p *policy) interval() time.Duration {
	return positive(p.SnapshotInterval, defaultSnapshotInterval)
}

// buckets of the health window, whole intervals only.
func (p *policy) buckets() int {
	return int(max(positive(p.Window, defaultWindow)/p.interval(), 1))
}

// counterInterval is the length of one bucket of the rolling counters.
func (p *policy) counterInterval() time.Duration {
	return max(positive(p.Window, defaultWindow)/time.Duration(p.counterBuckets()), 1)
}

func (p *policy) counterBuckets() int { return positive(p.Buckets, defaultBuckets) }

// latencyInterval is the length of one bucket of the latencies.
func (p *policy) latencyInterval() time.Duration {
	return max(positive(p.Percentile.Window, defaultPercentileWindow)/time.Duration(p.latencyBuckets()), 1)
}

func (p *policy) latencyBuckets() int {
	return positive(p.Percentile.Buckets, defaultPercentileBuckets)
}

// positive gives the default for what is not set.
func positive[N int | time.Duration](n, otherwise N) N {
	if n <= 0 {
		return otherwise
	}
	return n
}

// guard is how long a trial may keep others out.
func (p *policy) guard() time.Duration {
	return max(p.deadline(), p.Breaker.SleepWindow)
}

// trips is the verdict on a window of health.
func (p *policy) trips(c window.Counts) bool {
	if c.Total < int64(p.Breaker.RequestVolumeThreshold) {
		return false
	}
	return c.ErrorPercentage() >= p.Breaker.ErrorThresholdPercentage ||
		p.SlowCall.Percentage > 0 && c.SlowPercentage() >= p.SlowCall.Percentage
}

// slow is true of a call that took too long to be healthy.
func (p *policy) slow(took time.Duration) bool {
	return p.SlowCall.Percentage > 0 && took > p.SlowCall.Duration
}
