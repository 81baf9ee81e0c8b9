package gozer

import (
	"context"
	"slices"
)

// followDiscovery rebuilds routes and server lists whenever the discovered
// instances have changed, until ctx ends. A rebuild that fails leaves
// everything as it was.
func (g *Gateway) followDiscovery(ctx context.Context) {
	changed, stop := g.hub.Changes()
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			g.rediscover()
		}
	}
}

func (g *Gateway) rediscover() {
	before := g.snapshot.Load()
	if err := g.Reload(before.config); err != nil {
		g.options.logger.Error("discovered instances not applied", "error", err)
		return
	}
	for _, warning := range g.snapshot.Load().warnings {
		if !slices.Contains(before.warnings, warning) {
			g.options.logger.Warn("discovery", "problem", warning)
		}
	}
}
