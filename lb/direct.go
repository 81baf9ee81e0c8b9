package lb

import (
	"context"
	"errors"
)

// Direct makes an *Error of a failed request that was sent to a fixed server,
// without a Command: err is classified just as a Command's would be. ctx is the
// request's context.
func Direct(ctx context.Context, service string, err error) *Error {
	e := &Error{Service: service, Kind: classify(err).kind, Err: err}
	switch {
	case errors.Is(err, ErrNoServer):
		e.Kind = NoServer
	case ctx.Err() != nil:
		e.Kind = ended(ctx).kind
	}
	return e
}
