package filtertest

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/routing"
)

// Option adds to the request that New makes.
type Option func(*exchange)

type exchange struct {
	request *http.Request
	route   *routing.Route
	trust   *filters.Trust
}

// Header adds a field to the request. Give it twice for two lines.
func Header(name, value string) Option {
	return func(x *exchange) { x.request.Header.Add(name, value) }
}

// Body gives the request a body of known length.
func Body(body string) Option {
	return func(x *exchange) {
		x.request.Body = io.NopCloser(strings.NewReader(body))
		x.request.ContentLength = int64(len(body))
	}
}

// RemoteAddr sets the client's "address:port"; the default is 192.0.2.1:1234.
func RemoteAddr(addr string) Option {
	return func(x *exchange) { x.request.RemoteAddr = addr }
}

// Trust says whose word about the client is believed; by default nobody's is.
func Trust(t *filters.Trust) Option {
	return func(x *exchange) { x.trust = t }
}

// Route makes the context look as PreDecoration leaves it after r has matched,
// except that Out.Path stays the whole path.
func Route(r *routing.Route) Option {
	return func(x *exchange) { x.route = r }
}

// Services answers what filters ask other services with c.Client(). h sees the name of
// the service as the request's Host.
func Services(h http.Handler) Option {
	return func(x *exchange) {
		x.request = x.request.WithContext(context.WithValue(x.request.Context(), servicesKey{}, h))
	}
}

// New returns the context of a request as the gateway's front doors make it.
// request is a method and a target: "GET /users/1?x=2" comes for example.com
// over plain HTTP, "GET https://shop.test/users/1" for shop.test over TLS. As
// at a front door, a path that is not safe starts the context with Err set.
func New(tb testing.TB, request string, opts ...Option) *filters.Context {
	tb.Helper()
	x := &exchange{request: newRequest(tb, request)}
	for _, o := range opts {
		o(x)
	}
	target, _, _ := strings.Cut(x.request.RequestURI, "?")
	path, err := routing.ParsePath(target, routing.PathOptions{})
	c := filters.NewContext(httptest.NewRecorder(), x.request, path, time.Now())
	c.Err = x.trust.Judge(c)
	if err != nil {
		c.Err = &filters.StatusError{Status: http.StatusBadRequest, Cause: "Unsafe path", Err: err}
	}
	if x.route != nil {
		decorate(c, x.route)
	}
	tb.Cleanup(c.Release)
	return c
}

func newRequest(tb testing.TB, request string) *http.Request {
	tb.Helper()
	method, target, found := strings.Cut(request, " ")
	if !found {
		tb.Fatalf("filtertest: %q is not a method and a target", request)
	}
	scheme, host := "http", "example.com"
	if s, rest, absolute := strings.Cut(target, "://"); absolute && !strings.Contains(s, "/") {
		end := strings.IndexAny(rest+"/", "/?")
		scheme, host, target = s, rest[:end], "/"+strings.TrimPrefix(rest[end:], "/")
	}
	r := httptest.NewRequestWithContext(tb.Context(), method, target, nil)
	r.Host = host
	if scheme == "https" {
		r.TLS = &tls.ConnectionState{HandshakeComplete: true}
	}
	return r
}

func decorate(c *filters.Context, r *routing.Route) {
	c.Route, c.ServiceID, c.Out.URL, c.ForwardTo, c.Retryable = r, r.ServiceID, r.URL, r.Forward, r.Retryable
}

// Client returns what the client of a context made by New has got so far.
func Client(c *filters.Context) *httptest.ResponseRecorder {
	w, _ := c.Writer().(interface{ Unwrap() http.ResponseWriter })
	client, _ := w.Unwrap().(*httptest.ResponseRecorder)
	return client
}
