package http1

import "context"

// Apart returns a context for an upstream call that goes on beside the request it
// belongs to, on a goroutine of its own: with everything that ctx has, but for what ties
// a call to the client's connection, which one call at a time may use.
func Apart(ctx context.Context) context.Context { return apart{ctx} }

type apart struct{ context.Context } //nolint:containedctx // this is a context: it has a parent

func (c apart) Value(key any) any {
	if key == downstreamKey {
		return nil
	}
	return c.Context.Value(key)
}
