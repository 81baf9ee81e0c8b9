package gozer

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/routing"
)

// ServeHTTP is the front door: it sends one request through the filters of the
// current configuration.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s := g.snapshot.Load()
	c := s.open(&g.state.contexts, w, r)
	defer g.state.contexts.Recycle(c)
	for _, o := range s.observers {
		o.Begin(c)
	}
	s.chain.Serve(c)
	finish(c)
	g.log(c)
	c.End()
	for _, o := range s.observers {
		o.End(c)
	}
	if c.Aborted() {
		panic(http.ErrAbortHandler) // net/http's way to cut a connection
	}
}

// open makes the context of a request. What cannot be served at all starts as a
// failure, so that the error filters answer it.
func (s *snapshot) open(contexts *filters.Contexts, w http.ResponseWriter, r *http.Request) *filters.Context {
	start := time.Now()
	path, err := s.path(r)
	if s.edge != nil {
		s.edge.strip(r)
	}
	c := contexts.New(w, r, path, start)
	c.Err = cmp.Or(err, s.trust.Judge(c))
	s.requestIDs.Assign(c)
	if s.edge != nil {
		if misplaced := s.edge.enter(c); c.Err == nil {
			c.Err = misplaced
		}
	}
	if limit := s.config.Gateway.Limits.MaxRequestBody; limit > 0 && c.Err == nil {
		c.Err = c.LimitBody(limit)
	}
	if c.Err == nil {
		c.Err = s.hop(c)
	}
	return c
}

// path judges the path of a request. What is refused has its raw form all the same, for
// whoever tells of it.
func (s *snapshot) path(r *http.Request) (routing.Path, error) {
	raw := rawPath(r)
	if r.Method == http.MethodConnect || r.Method == http.MethodTrace {
		return routing.Path{Raw: raw}, filters.Refuse(http.StatusMethodNotAllowed, "Method not allowed")
	}
	if raw == everything && r.Method == http.MethodOptions {
		return routing.Path{Raw: raw, Clean: raw}, nil
	}
	path, err := routing.ParsePath(raw, s.paths)
	if err != nil {
		return routing.Path{Raw: raw}, &filters.StatusError{Status: http.StatusBadRequest, Cause: "Unsafe path", Err: err}
	}
	if bad := strings.IndexFunc(r.URL.RawQuery, notInQuery); bad >= 0 {
		return path, filters.Refuse(http.StatusBadRequest, "Invalid character in query")
	}
	return path, nil
}

// notInQuery reports bytes that no request target may hold (RFC 9112 3.2). What
// else stands in a query is the upstream's affair.
func notInQuery(r rune) bool { return r <= ' ' || r >= 0x7f || r == '#' }

// everything is the path of a request about the server itself: OPTIONS, and
// either "*" or a URL without path and query (RFC 9112 3.2.4).
const everything = "*"

// rawPath returns the path of the request target as received.
func rawPath(r *http.Request) string {
	target, _, query := strings.Cut(r.RequestURI, "?")
	if strings.HasPrefix(target, "/") {
		return target
	}
	_, rest, found := strings.Cut(target, "://")
	if !found {
		return r.URL.EscapedPath() // "*", or no request target: the request was not read by a server
	}
	if slash := strings.IndexByte(rest, '/'); slash >= 0 {
		return rest[slash:]
	}
	if r.Method == http.MethodOptions && !query {
		return everything
	}
	return "/"
}

// finish answers a request that no filter has answered: an error without error
// filters keeps its failure, everything else was for nobody here.
func finish(c *filters.Context) {
	if c.Committed() || c.Aborted() {
		return
	}
	if c.Err != nil {
		c.Writer().WriteHeader(http.StatusInternalServerError)
		return
	}
	if c.Response == nil {
		c.Writer().WriteHeader(http.StatusNotFound)
	}
}

// log tells about failures: those of the gateway and its upstreams as warnings,
// those of clients for whoever wants to see them.
func (g *Gateway) log(c *filters.Context) {
	if c.Err == nil {
		return
	}
	level, logger := slog.LevelWarn, g.options.logger
	if clientsFault(c) {
		level = slog.LevelDebug
	}
	if !logger.Enabled(c.Request.Context(), level) {
		return
	}
	route := ""
	if c.Route != nil {
		route = c.Route.ID
	}
	c.Trace.Mark(logger).Log(c.Request.Context(), level, "request failed", "method", c.Request.Method, "path", c.Path.Raw,
		"route", route, "service", c.ServiceID, "status", c.Status(), "took", time.Since(c.Start), "request", c.RequestID, "error", c.Err)
}

// clientsFault is not true of a response cut short: its status was good.
func clientsFault(c *filters.Context) bool {
	gone := errors.Is(c.Err, filters.ErrClientGone) || c.Request.Context().Err() != nil
	return gone && !c.Cut() || c.Committed() && c.Status() < http.StatusInternalServerError && !c.Aborted()
}
