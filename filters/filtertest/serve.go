package filtertest

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/routing"
)

// Serve sends c through these filters and on to upstream, and returns what the
// client gets. upstream sees what a real one would: Out, without ignored
// fields. It is asked in the route phase, at order 10, unless there is a
// Response already. After the last phase a plain stand-in for SendResponse and
// SendError answers the client, if no filter has done so: with the Response, or
// with the status, fields and cause of the failure. The context is released then.
func Serve(tb testing.TB, c *filters.Context, upstream http.Handler, specs ...filters.Spec) *httptest.ResponseRecorder {
	tb.Helper()
	defer c.Release()
	_ = Run(tb, c, append([]filters.Spec{ask(upstream)}, specs...)...) // answer looks at c.Err
	if !c.Committed() {
		answer(c)
	}
	return Client(c)
}

func ask(upstream http.Handler) filters.Spec {
	return filters.Func("Upstream", filters.Route, 10, func(c *filters.Context) error {
		if c.Response != nil {
			return nil
		}
		c.DropIgnored()
		seen := httptest.NewRecorder()
		upstream.ServeHTTP(seen, outgoing(c))
		c.Receive(seen.Result())
		return nil
	})
}

func outgoing(c *filters.Context) *http.Request {
	host, base := "upstream.test", ""
	if c.Out.URL != nil {
		host, base = c.Out.URL.Host, c.Out.URL.EscapedPath()
	}
	target := routing.JoinURLPath(base, c.Out.Path)
	if c.Out.Query != "" || c.Out.ForceQuery {
		target += "?" + c.Out.Query
	}
	r := httptest.NewRequestWithContext(c.Request.Context(), c.Out.Method, target, c.Out.Body)
	r.Header, r.ContentLength = c.Out.Header.Clone(), c.Out.ContentLength
	r.Host = cmp.Or(c.Out.Host, host)
	return r
}

func answer(c *filters.Context) {
	w := c.Writer()
	switch {
	case c.Err != nil:
		failure := &filters.StatusError{Status: http.StatusInternalServerError, Cause: c.Err.Error()}
		if chosen, ok := errors.AsType[*filters.StatusError](c.Err); ok {
			failure = chosen
		}
		maps.Copy(w.Header(), failure.Header)
		w.WriteHeader(failure.Status)
		_, _ = io.WriteString(w, failure.Cause) // a recorder takes everything
	case c.Response != nil:
		maps.Copy(w.Header(), c.Response.Header)
		w.WriteHeader(c.Response.Status)
		if c.Response.Body != nil {
			_, _ = io.Copy(w, c.Response.Body) // as above; a broken body shows as a short one
		}
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}
