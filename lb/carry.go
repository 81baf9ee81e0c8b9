package lb

import (
	"context"
	"net/http"
)

// Carrier is a transport that spares Command the copies of a request. Carry is
// RoundTrip with ctx in the place of the request's own context; it neither changes
// nor keeps req, once the body has been sent. into, unless it is nil, is empty, and may
// serve as the header of the response.
//
// A request that cannot be sent as it is fails with an error whose method CallersFault
// returns true, one that found no free connection with an error whose method
// ServerUnasked does. Neither says anything about the server.
type Carrier interface {
	Carry(ctx context.Context, req *http.Request, into http.Header) (*http.Response, error)
}

// Carry sends req, which has no context of its own, by a transport that is a Carrier or
// not.
func Carry(ctx context.Context, t http.RoundTripper, req *http.Request, into http.Header) (*http.Response, error) {
	if carrier, ok := t.(Carrier); ok {
		return carrier.Carry(ctx, req, into)
	}
	return orDefault(t).RoundTrip(copied(req).WithContext(ctx))
}

// orDefault is net/http's own transport in the place of none, as in an http.Client.
func orDefault(t http.RoundTripper) http.RoundTripper {
	if t == nil {
		return http.DefaultTransport //nolint:forbidigo // as net/http does; who wants time-outs brings a transport
	}
	return t
}
