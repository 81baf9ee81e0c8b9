package lb

import (
	"net/http"
	"slices"
)

// DefaultMaxReplayBytes is how much of a body DefaultRetryPolicy keeps.
const DefaultMaxReplayBytes = 64 << 10

// RetryPolicy says what a Command repeats, and how often. The zero value repeats nothing.
//
// A failure before any byte was sent (refused, unreachable, unresolved, no TLS session)
// is repeated within the two bounds for every method and call, since the server cannot
// have seen the request. Anything else is repeated only if the call is Retryable and
// its method is GET, HEAD or OPTIONS, or AllOperations is set.
type RetryPolicy struct {
	// MaxSame bounds the further attempts on a server that failed (MaxAutoRetries).
	MaxSame int
	// MaxNext bounds the further servers (MaxAutoRetriesNextServer). At most
	// (MaxSame+1)*(MaxNext+1) attempts are made.
	MaxNext int
	// AllOperations allows every method to be repeated (OkToRetryOnAllOperations).
	AllOperations bool
	// StatusCodes are responses to be repeated like errors. The last one is returned as it is.
	StatusCodes []int
	// ThrottledStatus are responses that count as failures of the server, of Kind
	// ServerThrottled: they are repeated like errors, and never returned. RestClient does
	// this to 503.
	ThrottledStatus []int
	// TurnedAway tells which responses, by their header, say that the server has not done
	// what it was asked for: they are repeated, within the two bounds, whatever the method and
	// the call. The last one is returned as it is. Nil: none does.
	TurnedAway func(header http.Header) bool
	// Backoff spaces the attempts.
	Backoff Backoff
	// Handler narrows what is repeated, and judges what counts against a server; nil means
	// that everything allowed is repeated, as Spring does.
	Handler RetryHandler
	// MaxReplayBytes is how much of a request body is kept for another attempt; 0 keeps
	// nothing. A request of which more has been read is not repeated.
	MaxReplayBytes int64
}

// DefaultRetryPolicy is Ribbon's: one further server, no further attempt on the same.
func DefaultRetryPolicy() RetryPolicy {
	return RetryPolicy{MaxNext: 1, MaxReplayBytes: DefaultMaxReplayBytes}
}

// repeats reports that a request with this method may be delivered more than once.
func (p *RetryPolicy) repeats(call Call, method string) bool {
	if !call.Retryable || p.MaxSame <= 0 && p.MaxNext <= 0 {
		return false
	}
	return p.AllOperations || readOnly(method)
}

func (p *RetryPolicy) repeatsStatus(status int) bool {
	return len(p.StatusCodes) > 0 && slices.Contains(p.StatusCodes, status)
}

func (p *RetryPolicy) throttled(status int) bool {
	return len(p.ThrottledStatus) > 0 && slices.Contains(p.ThrottledStatus, status)
}

func readOnly(method string) bool {
	switch method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	}
	return false
}
