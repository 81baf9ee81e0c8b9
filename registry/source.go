package registry

import (
	"context"

	"github.com/gozer-gateway/gozer/discovery"
	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// Source is the registry as a gateway in the same process sees it: every change
// within a moment, nothing before the list is complete. Zone is that of instances
// that name none.
func (r *Registry) Source(zone string) discovery.Source {
	return discovery.SourceFunc(func(ctx context.Context, updates chan<- discovery.Update) error {
		r.Follow(ctx, func(list *eureka.Applications) {
			select {
			case updates <- list.Update(zone):
			case <-ctx.Done():
			}
		})
		return nil
	})
}
