package ribboncmd

import (
	"time"

	"github.com/gozer-gateway/gozer/fallback"
)

// policy is what one configuration says about a command. Immutable.
type policy struct {
	Settings
	provider fallback.Provider // nil: none
}

// deadline is the limit of one call, zero for none.
func (p *policy) deadline() time.Duration {
	if !p.TimeoutEnabled {
		return 0
	}
	return max(p.Timeout, 0)
}

func (p *policy) interval() time.Duration {
	if p.SnapshotInterval <= 0 {
		return defaultSnapshotInterval
	}
	return p.SnapshotInterval
}

// buckets of the health window, whole intervals only.
func (p *policy) buckets() int {
	window := p.Window
	if window <= 0 {
		window = defaultWindow
	}
	return int(max(window/p.interval(), 1))
}

// guard is how long a trial may keep others out.
func (p *policy) guard() time.Duration {
	return max(p.deadline(), p.Breaker.SleepWindow)
}
