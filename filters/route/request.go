// Package route holds the built-in filters of the route phase, which send a
// request where pre filters decided: to a service, to a URL or to a handler of
// the gateway itself.
package route

import (
	"net/http"
	"net/url"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/http1"
)

// newRequest turns c.Out into the request that goes upstream by t, for the escaped
// path. It has no context, and scheme and host of its URL are still empty.
func newRequest(c *filters.Context, path string, t http.RoundTripper) (*http.Request, error) {
	c.DropIgnored()
	http1.CleanInterim(c.Request.Context(), c)
	if err := check(c, path, t); err != nil {
		return nil, err
	}
	if _, sent := c.Out.Header["User-Agent"]; !sent {
		c.Out.SetField("User-Agent", "") // keeps net/http from naming itself
	}
	if c.Upgrade != "" {
		c.Out.SetField("Connection", "Upgrade")
		c.Out.SetField("Upgrade", c.Upgrade)
	}
	r := c.SpareRequest(c.Out.ContentLength != 0)
	r.Method = c.Out.Method
	r.URL.RawQuery, r.URL.ForceQuery = c.Out.Query, c.Out.ForceQuery
	setPath(r.URL, path)
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.1", 1, 1
	r.Header = c.Out.Header
	r.Host = c.Out.Host
	r.ContentLength = c.Out.ContentLength
	r.Trailer = c.Request.Trailer
	if r.ContentLength != 0 {
		r.Body = c.Out.Body
		answerWhileSending(c)
	}
	if r.ContentLength > 0 && !c.SendsOwnBody() {
		r.Body = &exactBody{c.Out.Body, c.Out.ContentLength}
	}
	return r, nil
}

// setPath makes u carry the escaped path byte for byte. An opaque URL is
// written as it is, except that net/http takes one with two leading slashes for
// a reference to a host; those go through RawPath instead.
func setPath(u *url.URL, path string) {
	switch {
	case path == "":
		u.Opaque = "/"
	case len(path) > 1 && path[1] == '/':
		u.RawPath = path
		u.Path, _ = url.PathUnescape(path) // cleaned by routing.ParsePath, so it does unescape
	default:
		u.Opaque = path
	}
}
