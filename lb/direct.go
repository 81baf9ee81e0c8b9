package lb

import (
	"context"
	"errors"
)

// Direct describes the failure of a request that was sent to a fixed server, without a
// Command, as a Command would have described it. ctx is the request's context.
func Direct(ctx context.Context, service string, err error) *Error {
	e := NewError(service, err)
	if e.Kind != NoServer && ctx.Err() != nil {
		e.Kind = ended(ctx).kind
	}
	return e
}

// NewError is Direct for a caller without the request's context: the error alone tells
// whether that has ended.
func NewError(service string, err error) *Error {
	switch {
	case errors.Is(err, ErrNoServer):
		return noServer(service)
	case errors.Is(err, context.Canceled):
		return &Error{Service: service, Kind: Cancelled, Err: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Service: service, Kind: SocketTimeout, Err: err}
	}
	return &Error{Service: service, Kind: classify(err).kind, Err: err}
}
