package lb

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gozer-gateway/gozer/internal/http1"
)

// Transport makes any http.Client a load-balanced one: in http://USER-SERVICE/path the
// host is the id of a service, and the request goes to one of its servers, with the
// statistics and retries of the service's command. It is what a @LoadBalanced
// RestTemplate was.
//
// A port in the URL has no meaning for a service. The scheme is that of the server if
// that is known, else that of the URL. A request of a read-only method may be repeated,
// and one of any method if the service has AllOperations, see RetryPolicy.
type Transport struct {
	services Services
	direct   http.RoundTripper
}

var _ http.RoundTripper = (*Transport)(nil)

// NewTransport makes a transport for these services. Requests to other hosts are carried
// by direct; if that is nil they are refused with ErrUnknownService.
func NewTransport(services Services, direct http.RoundTripper) *Transport {
	return &Transport{services: services, direct: direct}
}

// RoundTrip sends a request to a server of the service that its URL names. Errors are of
// type *Error. Request.Host, unless it is another than the URL's, becomes the server's.
// The Request of the response is req, so that a relative Location leads to the service.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	c := t.services.Command(req.URL.Hostname())
	switch {
	case c == nil && t.direct != nil:
		return t.direct.RoundTrip(req)
	case c == nil:
		closeBody(req)
		return nil, unknownService(req.URL.Hostname())
	case req.URL.Scheme != "http" && req.URL.Scheme != "https":
		closeBody(req)
		return nil, &Error{Service: c.Balancer.Name(), Err: fmt.Errorf("%w %q", errScheme, req.URL.Scheme)}
	}
	ctx := req.Context()
	call := callOf(ctx)
	call.descent = borrowed
	resp, err := c.send(http1.Apart(ctx), addressed(req), call, true) // its interim responses are not for the client
	if err != nil {
		return nil, err
	}
	resp.Request = req
	return resp, nil
}

var errScheme = errors.New("lb: unsupported protocol scheme")

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

// addressed is a copy of the request without a Host that only names the service.
func addressed(req *http.Request) *http.Request {
	own := copied(req)
	if own.Host == req.URL.Host {
		own.Host = ""
	}
	return own
}

type callKey struct{}

// WithCall makes the requests of a Transport with this context behave as call says, in
// place of Call{Retryable: true}.
func WithCall(ctx context.Context, call Call) context.Context {
	return context.WithValue(ctx, callKey{}, call)
}

func callOf(ctx context.Context) Call {
	if call, ok := ctx.Value(callKey{}).(Call); ok {
		return call
	}
	return Call{Retryable: true}
}
