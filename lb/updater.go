package lb

import (
	"context"
	"time"
)

// ListUpdater decides when a balancer reads its list again.
type ListUpdater interface {
	// Run calls update whenever the list may have changed, one call at a time, until ctx
	// ends. The balancer itself reads the list once before. The error of an update has been
	// logged already.
	Run(ctx context.Context, update func(context.Context) error)
}

// Ribbon's delays.
const (
	DefaultRefreshDelay    = time.Second
	DefaultRefreshInterval = 30 * time.Second
)

// PollingUpdater updates at intervals, counted from the end of one update to the
// beginning of the next.
type PollingUpdater struct {
	// Delay is the wait before the first update; 0 means DefaultRefreshDelay, a negative one none.
	Delay time.Duration
	// Interval is the wait between updates (ServerListRefreshInterval); 0 or less means
	// DefaultRefreshInterval.
	Interval time.Duration
}

var _ ListUpdater = PollingUpdater{}

// Run implements ListUpdater.
func (p PollingUpdater) Run(ctx context.Context, update func(context.Context) error) {
	delay, interval := p.Delay, p.Interval
	if delay == 0 {
		delay = DefaultRefreshDelay
	}
	if interval <= 0 {
		interval = DefaultRefreshInterval
	}
	timer := time.NewTimer(max(delay, 0))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		_ = update(ctx) // has been logged, the next one may do better
		timer.Reset(interval)
	}
}

// NotificationUpdater updates when it is told to. Notifications that come during an
// update lead to one more.
type NotificationUpdater struct {
	// Subscribe begins the notifications: one signal in the channel stands for any number of
	// changes, such as those of discovery.Hub.Changes. stop ends them. The end of the channel
	// ends the updates.
	Subscribe func() (changed <-chan struct{}, stop func())
}

var _ ListUpdater = NotificationUpdater{}

// Run implements ListUpdater.
func (n NotificationUpdater) Run(ctx context.Context, update func(context.Context) error) {
	changed, stop := n.Subscribe()
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return
		case _, open := <-changed:
			if !open {
				return
			}
		}
		_ = update(ctx) // has been logged, the next one may do better
	}
}
