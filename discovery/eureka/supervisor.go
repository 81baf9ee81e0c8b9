package eureka

import (
	"context"
	"errors"
	"time"
)

// supervisor runs a task again and again. A run that takes longer than the interval is
// cancelled, and the next one waits twice as long as before (section 5.5).
type supervisor struct {
	interval, most time.Duration
	delay          time.Duration
}

func newSupervisor(interval time.Duration, bound int) *supervisor {
	return &supervisor{interval: interval, most: interval * time.Duration(max(bound, 1)), delay: interval}
}

// run runs the task once and returns how long to wait until the next time. An ordinary
// error changes nothing about that.
func (s *supervisor) run(ctx context.Context, task func(ctx context.Context) error) time.Duration {
	limited, cancel := context.WithTimeout(ctx, s.interval)
	defer cancel()
	err := task(limited)
	switch {
	case err == nil:
		s.delay = s.interval
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		s.delay = min(s.most, 2*s.delay)
	}
	return s.delay
}
