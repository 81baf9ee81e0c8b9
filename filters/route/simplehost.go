package route

import (
	"net/http"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/lb"
	"github.com/gozer-gateway/gozer/routing"
)

// SimpleHostRouting returns the filter that sends the requests of URL routes
// through transport: no load balancing, no command, no fallback (zuul.md 7).
// Errors are *lb.Error with the target's host as the service.
func SimpleHostRouting(transport http.RoundTripper) filters.Spec {
	return filters.Instance("SimpleHostRoutingFilter", filters.Route, 100, simpleHost{transport})
}

type simpleHost struct{ transport http.RoundTripper }

var _ filters.Filter = simpleHost{}

func (simpleHost) ShouldFilter(c *filters.Context) bool {
	return c.Out.URL != nil && c.Response == nil
}

func (f simpleHost) Run(c *filters.Context) error {
	target := c.Out.URL
	req := newRequest(c, routing.JoinURLPath(target.EscapedPath(), c.Out.Path))
	req.URL.Scheme, req.URL.Host = target.Scheme, target.Host
	res, err := f.transport.RoundTrip(req) //nolint:bodyclose // the context closes it
	if failure := c.BodyError(); err != nil && failure != nil {
		return brokenBody(failure)
	}
	if err != nil {
		return lb.Direct(req.Context(), target.Host, err)
	}
	c.Receive(res)
	return nil
}
