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
	r := localRequest(c)
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

// localRequest is what the handler sees: the request as pre filters have left
// it, not as the client sent it.
func localRequest(c *filters.Context) *http.Request {
	r := c.Request.Clone(c.Request.Context())
	r.Method, r.URL, r.Header = c.Out.Method, localURL(c), c.Out.Header
	r.Body, r.ContentLength = c.Out.Body, c.Out.ContentLength
	return r
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
