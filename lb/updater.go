package lb

import (
	"context"
	"log/slog"
	"sync"

	"github.com/gozer-gateway/gozer/discovery"
)

// Updater keeps balancers in step with a hub.
type Updater struct {
	hub *discovery.Hub
	log *slog.Logger

	mu        sync.Mutex // guards balancers and serialises their updates
	balancers map[string]*Balancer
}

// NewUpdater makes an updater that follows hub. It starts nothing. A nil log means slog.Default.
func NewUpdater(hub *discovery.Hub, log *slog.Logger) *Updater {
	if log == nil {
		log = slog.Default()
	}
	return &Updater{hub: hub, log: log, balancers: make(map[string]*Balancer)}
}

// Follow fills b with the instances of the service it is named after, as they are known
// now, and adds it to those that Run updates. Another balancer of that name is let go.
func (u *Updater) Follow(b *Balancer) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.balancers[b.Name()] = b
	u.update(b, u.hub.Instances(b.Name()))
}

// Run updates the balancers whenever the hub's knowledge changes, until ctx ends.
func (u *Updater) Run(ctx context.Context) error {
	changed, stop := u.hub.Changes()
	defer stop()
	u.updateAll()
	for {
		select {
		case <-changed:
			u.updateAll()
		case <-ctx.Done():
			return nil
		}
	}
}

func (u *Updater) updateAll() {
	u.mu.Lock()
	defer u.mu.Unlock()
	snapshot := u.hub.Snapshot()
	for name, b := range u.balancers {
		u.update(b, snapshot.Instances(name))
	}
}

func (u *Updater) update(b *Balancer, instances []discovery.Instance) {
	servers, err := ServersFrom(instances)
	if err != nil {
		u.log.Warn("instances left out", "service", b.Name(), "error", err)
	}
	b.SetServers(servers)
}
