package filters

import (
	"errors"
	"net/http"
)

// Client calls other services on behalf of a filter: in http://user-service/path the host
// is the id of a service, and the request goes to one of its servers, with the balancer,
// the statistics and the connections of routed requests. It repeats what may be repeated
// (GET, HEAD, OPTIONS) and follows no redirects; no circuit breaker and no deadline are
// around it, so give the request a context: c.Request.Context(), or one that ends earlier.
// A host that is no service is refused. Package lb/rest makes typed calls with it, and
// lb.ClientOf gives what is under it.
func (c *Context) Client() *http.Client {
	if c.chain == nil || c.chain.client == nil {
		return &http.Client{Transport: noServices{}}
	}
	return c.chain.client
}

// noServices is the transport of a chain without a client.
type noServices struct{}

func (noServices) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
	return nil, errors.New("filters: this chain calls no services")
}
