package gozer

import "context"

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
			if err := g.Reload(g.snapshot.Load().config); err != nil {
				g.options.logger.Error("discovered instances not applied", "error", err)
			}
		}
	}
}
