package route

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/gorilla/mux"

	"github.com/gozer-gateway/gozer/filters"
)

// SendForward returns the filter that answers "forward:" routes, and requests
// without a route, from handlers of the gateway itself (zuul.md 2.7). local is
// read at every request and must not change any more. A path without a handler
// is refused with 404, a wrong method with 405.
func SendForward(local *mux.Router) filters.Spec {
	return filters.Instance("SendForwardFilter", filters.Route, 500, sendForward{local})
}

type sendForward struct{ local *mux.Router }

var _ filters.Filter = sendForward{}

func (sendForward) ShouldFilter(c *filters.Context) bool {
	return c.ForwardTo != "" && c.Response == nil && !c.Committed()
}

func (f sendForward) Run(c *filters.Context) error {
	r := c.Request.Clone(c.Request.Context())
	r.URL, r.Body, r.ContentLength = localURL(c), c.Out.Body, c.Out.ContentLength
	var match mux.RouteMatch
	if !f.local.Match(r, &match) || match.Handler == nil {
		return refuseLocal(match)
	}
	f.local.ServeHTTP(c.Writer(), r)
	if !c.Committed() {
		c.Writer().WriteHeader(http.StatusOK)
	}
	return nil
}

func localURL(c *filters.Context) *url.URL {
	u := &url.URL{RawPath: c.ForwardTo, RawQuery: c.Out.Query, ForceQuery: c.Out.ForceQuery}
	u.Path, _ = url.PathUnescape(c.ForwardTo)
	return u
}

func refuseLocal(match mux.RouteMatch) error {
	if errors.Is(match.MatchErr, mux.ErrMethodMismatch) {
		return filters.Refuse(http.StatusMethodNotAllowed, "Method not allowed")
	}
	return filters.Refuse(http.StatusNotFound, "No route and no local handler for this path")
}
