package errorfilter

import (
	"net/http"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/lb"
	"github.com/gozer-gateway/gozer/ribboncmd"
)

// readTimedOut is the one timeout of a service route that Zuul answers with
// 504; the words are Zuul's.
const readTimedOut = "com.netflix.zuul.exception.ZuulException: Hystrix Readed time out"

// compat is the mapping of zuul.md 8.3 for Zuul's default HTTP client.
func compat(c *filters.Context, command *ribboncmd.Error, call *lb.Error) Answer {
	switch {
	case call != nil && call.Last() == lb.ServerThrottled:
		return Answer{http.StatusServiceUnavailable, lb.ServerThrottled.String()}
	case command == nil && c.Out.URL != nil:
		return Answer{http.StatusInternalServerError, urlCause(call)}
	case command != nil && command.Outcome != ribboncmd.Failure:
		return Answer{http.StatusInternalServerError, command.Outcome.String()}
	case call == nil:
		return Answer{http.StatusInternalServerError, ribboncmd.Failure.String()}
	case call.Last() == lb.NoServer:
		return Answer{http.StatusInternalServerError, lb.General.String()}
	case c.Retryable:
		return Answer{http.StatusInternalServerError, ribboncmd.Failure.String()}
	case call.Last() == lb.ReadTimeout:
		return Answer{http.StatusGatewayTimeout, readTimedOut}
	}
	return Answer{http.StatusInternalServerError, lb.General.String()}
}

// urlCause is the text of the exception, which names the upstream's address.
func urlCause(call *lb.Error) string {
	if call.Last() == lb.ReadTimeout {
		return "Read timed out"
	}
	return call.Err.Error()
}
