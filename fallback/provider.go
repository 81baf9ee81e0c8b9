// Package fallback answers in place of a service whose command has failed:
// providers in Go, static responses, and the lookup by service id.
package fallback

import (
	"context"
	"net/http"
)

// Provider makes the response that a client gets when the command around a
// service has failed, timed out, been rejected or been refused by an open
// circuit. HTTP error statuses of the service never come here.
//
// The command calls it on the request's own goroutine, so many calls run at
// once, up to the fallback limit of the command, and without a deadline of
// its own: it should answer from memory and must stop when ctx ends. The
// service is the service id, not the route's. The cause is never nil; it is a
// *ribboncmd.Error whose chain leads to the error of the call. The caller
// closes the response's body. On an error, a panic, or a response that cannot end
// a request (status 200 to 999) the original failure stands. Header and Body may be
// nil.
type Provider interface {
	Fallback(ctx context.Context, service string, cause error) (*http.Response, error)
}

// Func makes a function a Provider.
type Func func(ctx context.Context, service string, cause error) (*http.Response, error)

var _ Provider = Func(nil)

// Fallback calls f.
func (f Func) Fallback(ctx context.Context, service string, cause error) (*http.Response, error) {
	return f(ctx, service, cause)
}
