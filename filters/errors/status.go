package errorfilter

import (
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/lb"
	"github.com/gozer-gateway/gozer/ribboncmd"
	"github.com/gozer-gateway/gozer/routing"
)

// Answer is what a client is told about a failure.
type Answer struct {
	// Status is zero when the client went away and nobody is there to answer.
	Status int

	// Cause is a name, not a text, wherever the gateway chose it; empty if
	// nothing is known.
	Cause string
}

// Mapping turns the error of a request into an answer. The zero value is the
// gateway's own mapping.
type Mapping struct {
	// Compat is gateway.compat.error-status: Zuul's statuses and causes
	// (zuul.md 8.3), which are 500 for most failures of upstreams.
	Compat bool
}

// shuttingDown is for requests that a shutdown does not wait for any longer.
//
//nolint:gochecknoglobals // a constant
var shuttingDown = Answer{http.StatusServiceUnavailable, "Shutting down"}

// Answer judges c.Err, which must not be nil.
func (m Mapping) Answer(c *filters.Context) Answer {
	if c.Cut() {
		return shuttingDown
	}
	if clientGone(c) {
		return Answer{}
	}
	if _, ok := errors.AsType[*http.MaxBytesError](c.Err); ok {
		return Answer{http.StatusRequestEntityTooLarge, "Request body too large"}
	}
	if errors.Is(c.Err, routing.ErrUnsafePath) {
		return m.unsafePath()
	}
	if chosen, ok := errors.AsType[*filters.StatusError](c.Err); ok {
		return Answer{validStatus(chosen.Status), chosen.Cause}
	}
	filter, ok := errors.AsType[*filters.FilterError](c.Err)
	if !ok {
		return Answer{Status: http.StatusInternalServerError}
	}
	if answer, ok := m.upstream(c, filter); ok {
		return answer
	}
	return Answer{http.StatusInternalServerError, filter.Cause()}
}

// upstream answers failures of calls to upstreams. A post filter that fails is
// a fault of the gateway, whatever it has tried.
func (m Mapping) upstream(c *filters.Context, filter *filters.FilterError) (Answer, bool) {
	if filter.Phase == filters.Post {
		return Answer{}, false
	}
	command, _ := errors.AsType[*ribboncmd.Error](c.Err)
	call, _ := errors.AsType[*lb.Error](c.Err)
	if command == nil && call == nil {
		if call = netError(filter); call == nil {
			return Answer{}, false
		}
	}
	if m.Compat {
		return compat(c, command, call), true
	}
	return current(command, call), true
}

// netError judges a route filter that is not ours and returns what the network
// told it.
func netError(filter *filters.FilterError) *lb.Error {
	if _, ok := errors.AsType[net.Error](filter.Err); !ok || filter.Phase != filters.Route {
		return nil
	}
	return lb.NewError("", filter.Err)
}

func clientGone(c *filters.Context) bool {
	if errors.Is(c.Err, filters.ErrClientGone) || errors.Is(c.Request.Context().Err(), context.Canceled) {
		return true
	}
	command, ok := errors.AsType[*ribboncmd.Error](c.Err)
	return ok && command.Outcome == ribboncmd.Cancelled
}

func (m Mapping) unsafePath() Answer {
	if m.Compat {
		return Answer{http.StatusInternalServerError, "pre:PreDecorationFilter"}
	}
	return Answer{http.StatusBadRequest, "Unsafe path"}
}

// validStatus replaces what cannot be the status of an answer.
func validStatus(status int) int {
	if status < http.StatusOK || status > 999 {
		return http.StatusInternalServerError
	}
	return status
}
