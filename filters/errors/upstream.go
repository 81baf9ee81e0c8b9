package errorfilter

import (
	"errors"
	"net/http"

	"github.com/gozer-gateway/gozer/internal/http1"
	"github.com/gozer-gateway/gozer/lb"
	"github.com/gozer-gateway/gozer/ribboncmd"
)

// current is the gateway's own mapping: 502 for an upstream that could not be
// understood or reached, 503 for one that was not asked, 504 for one that took
// too long. command is nil on URL routes; call may be nil on service routes.
func current(command *ribboncmd.Error, call *lb.Error) Answer {
	if command == nil {
		return called(call)
	}
	cause := command.Outcome.String()
	switch command.Outcome {
	case ribboncmd.Timeout:
		return Answer{http.StatusGatewayTimeout, cause}
	case ribboncmd.ShortCircuited, ribboncmd.SemaphoreRejected, ribboncmd.ThreadPoolRejected, ribboncmd.FallbackRejected:
		return Answer{http.StatusServiceUnavailable, cause}
	case ribboncmd.BadRequest:
		return Answer{http.StatusBadRequest, cause}
	case ribboncmd.Success, ribboncmd.Failure, ribboncmd.Cancelled:
	}
	if call == nil {
		return Answer{http.StatusInternalServerError, cause}
	}
	return called(call)
}

func called(call *lb.Error) Answer {
	if call.Kind == lb.NoServer {
		return Answer{http.StatusServiceUnavailable, "NO_SERVER"} // Ribbon has no name for it
	}
	return Answer{calledStatus(call), call.Kind.String()}
}

func calledStatus(call *lb.Error) int {
	if errors.Is(call, http1.ErrPoolExhausted) {
		return http.StatusServiceUnavailable
	}
	switch call.Last() {
	case lb.NoServer, lb.ClientThrottled, lb.ServerThrottled:
		return http.StatusServiceUnavailable
	case lb.SocketTimeout, lb.ReadTimeout:
		return http.StatusGatewayTimeout
	case lb.Configuration, lb.Aborted:
		return http.StatusInternalServerError
	default: // not reached, or not understood
	}
	if call.Timeout() {
		return http.StatusGatewayTimeout
	}
	return http.StatusBadGateway
}
