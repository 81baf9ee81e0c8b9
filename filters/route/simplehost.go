package route

import (
	"context"
	"net/http"
	"time"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/lb"
	"github.com/gozer-gateway/gozer/routing"
)

// SimpleHostSettings configure SimpleHostRouting.
type SimpleHostSettings struct {
	// Transport carries the requests.
	Transport http.RoundTripper

	// ByRoute replaces it for the requests of some routes, by id. May be nil.
	ByRoute map[string]http.RoundTripper

	// ForceOriginalQuery is zuul.force-original-query-string-encoding: the
	// client's query is sent even if a filter has changed Out.Query.
	ForceOriginalQuery bool

	// Tracer follows the requests; nil: nobody does.
	Tracer lb.Tracer
}

// SimpleHostRouting returns the filter that sends the requests of URL routes
// straight to their host: no load balancing, no command, no fallback (zuul.md 7).
// Errors are *lb.Error with the target's host as the service.
func SimpleHostRouting(s SimpleHostSettings) filters.Spec {
	return filters.Instance("SimpleHostRoutingFilter", filters.Route, 100, simpleHost{s})
}

type simpleHost struct{ settings SimpleHostSettings }

var _ filters.Filter = simpleHost{}

func (simpleHost) ShouldFilter(c *filters.Context) bool {
	return c.Out.URL != nil && c.Response == nil
}

func (f simpleHost) Run(c *filters.Context) error {
	target := c.Out.URL
	if f.settings.ForceOriginalQuery {
		c.Out.Query, c.Out.ForceQuery = c.Request.URL.RawQuery, c.Request.URL.ForceQuery
	}
	transport := f.transport(c)
	ctx, end := callDeadline(c)
	req, err := newRequest(c, routing.JoinURLPath(target.EscapedPath(), c.Out.Path), transport)
	if err != nil {
		endWith(nil, end)
		return err
	}
	req.URL.Scheme, req.URL.Host = target.Scheme, target.Host
	start := time.Now()
	span := f.start(ctx, req)
	res, err := lb.Carry(ctx, transport, req, c.SpareHeader()) //nolint:bodyclose // the context closes it
	if err != nil {
		defer endWith(nil, end) // until then the context tells whose fault it is
	} else {
		endWith(res, end)
	}
	note(c, target.Host, start, res, err)
	if span != nil {
		ended(ctx, span, res, err)
	}
	if failure := clientsFailure(c, err); failure != nil {
		return failure
	}
	if err != nil {
		return lb.Direct(ctx, target.Host, err)
	}
	c.Receive(res)
	return nil
}

// note keeps the account of the only attempt there is.
func note(c *filters.Context, host string, start time.Time, res *http.Response, err error) {
	a := filters.Attempt{Server: host, Start: start, Took: time.Since(start), Err: err}
	if err != nil {
		a.Cause = lb.CauseOf(lb.Direct(c.Request.Context(), host, err).Kind, err)
	}
	if res != nil {
		a.Status = res.StatusCode
	}
	c.Attempted(a)
}

func (f simpleHost) transport(c *filters.Context) http.RoundTripper {
	if len(f.settings.ByRoute) > 0 && c.Route != nil {
		if own := f.settings.ByRoute[c.Route.ID]; own != nil {
			return own
		}
	}
	return f.settings.Transport
}

// start begins the span of the only attempt there is; nil if it is not recorded.
func (f simpleHost) start(ctx context.Context, req *http.Request) lb.AttemptSpan {
	if f.settings.Tracer == nil {
		return nil
	}
	span := f.settings.Tracer.StartAttempt(ctx, lb.AttemptStart{Request: req, Routed: true})
	if span != nil {
		span.Inject(req.Header)
	}
	return span
}

func ended(ctx context.Context, span lb.AttemptSpan, res *http.Response, err error) {
	if err != nil {
		span.Failed(0, lb.Direct(ctx, "", err).Kind, err)
		return
	}
	span.Answered(res)
}
