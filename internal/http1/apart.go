package http1

import (
	"context"
	"net/http"
)

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

// RelayInterim returns a context for requests that other servers than this package's have received:
// send is called for every interim response of an upstream that concerns the client, in the
// goroutine of RoundTrip and before that returns. It owns header.
func RelayInterim(ctx context.Context, send func(status int, header http.Header)) context.Context {
	return context.WithValue(ctx, downstreamKey, &downstream{interim: interimFunc(send)})
}

type interimFunc func(status int, header http.Header)

func (f interimFunc) sendInterim(status int, header http.Header) { f(status, header) }
