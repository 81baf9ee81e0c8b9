package registry

import (
	"context"
	"time"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// followPause keeps a storm of changes from becoming a storm of lists.
const followPause = 50 * time.Millisecond

// Follow calls f with everything that is registered once the list is complete, and
// again soon after each change, until ctx ends. Changes that come while f runs are
// taken together. It is how a gateway in the same process sees the registry.
func (r *Registry) Follow(ctx context.Context, f func(*eureka.Applications)) {
	select {
	case <-ctx.Done():
		return
	case <-r.ready:
	}
	for {
		changed := r.change()
		f(r.Applications())
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
		if !wait(ctx, followPause) {
			return
		}
	}
}
