package lb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// ErrNoServer is wrapped by the error of a command whose balancer had no server alive.
var ErrNoServer = errors.New("lb: no server available")

// Error is what Command.Do fails with.
type Error struct {
	Service  string
	Kind     Kind
	Attempts []Attempt // all that were made, in order; none if there was no server
	Err      error     // of the last attempt, or why there was none
}

// Attempt is one failed try.
type Attempt struct {
	Server   string // id
	Status   int    // of a response that was given up for another attempt, else 0
	Kind     Kind   // of Err
	Err      error
	Duration time.Duration
}

// NewError describes the failure of a request that was sent to a service, or to a host,
// without a Command: one attempt, classified like those of a Command.
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

func noServer(service string) *Error {
	return &Error{Service: service, Kind: NoServer, Err: fmt.Errorf("%w for service %q", ErrNoServer, service)}
}

func (e *Error) Error() string {
	switch {
	case e.Kind == NoServer:
		return e.Err.Error()
	case len(e.Attempts) == 0:
		return fmt.Sprintf("lb: service %q: %s: %v", e.Service, e.Kind, e.Err)
	}
	last := e.Attempts[len(e.Attempts)-1]
	return fmt.Sprintf("lb: service %q: %s: attempt %d on %s: %v", e.Service, e.Kind, len(e.Attempts), last.Server, e.Err)
}

// Unwrap gives the error of the last attempt.
func (e *Error) Unwrap() error { return e.Err }

// Timeout reports that the last attempt, whatever the Kind, ended for lack of time.
func (e *Error) Timeout() bool {
	var t net.Error
	return errors.As(e.Err, &t) && t.Timeout()
}

// Temporary is part of net.Error; nothing here is worth repeating above.
func (e *Error) Temporary() bool { return false }

var _ net.Error = (*Error)(nil)
