package inflight

import (
	"context"
	"sync/atomic"
)

// CutKey is the key of contexts under which servers keep an *atomic.Bool that is true once they
// have ended the request themselves.
type CutKey struct{}

// Cut reports that the server has ended the request of ctx, and not its client.
func Cut(ctx context.Context) bool {
	cut, _ := ctx.Value(CutKey{}).(*atomic.Bool)
	return cut != nil && cut.Load()
}
