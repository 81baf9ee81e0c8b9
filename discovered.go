package gozer

import (
	"context"
	"slices"

	"github.com/gozer-gateway/gozer/internal/rescue"
)

// followDiscovery applies what discovery learns, until ctx ends.
func (g *Gateway) followDiscovery(ctx context.Context, changed <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			g.rediscover()
		}
	}
}

// rediscover moves the balancers to the servers that there are now, after it has
// built a new snapshot if a service came or went. If that fails, everything stays
// as it was.
func (g *Gateway) rediscover() {
	g.reload.Lock()
	defer g.reload.Unlock()
	before := g.snapshot.Load()
	if slices.Equal(before.discovered, g.hub.Services()) {
		before.enlist()
		return
	}
	if err := g.replace(before.config); err != nil {
		g.options.logger.Error("discovered instances not applied", append([]any{"error", err}, rescue.Stack(err)...)...)
		return
	}
	for _, warning := range g.snapshot.Load().warnings {
		if !slices.Contains(before.warnings, warning) {
			g.options.logger.Warn("discovery", "problem", warning.String())
		}
	}
}
