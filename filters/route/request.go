// Package route holds the built-in filters of the route phase, which send a
// request where pre filters decided: to a service, to a URL or to a handler of
// the gateway itself.
package route

import (
	"net/http"
	"net/url"

	"github.com/gozer-gateway/gozer/filters"
)

// request is one upstream request with its URL, allocated together.
type request struct {
	http.Request
	target url.URL
}

// newRequest turns c.Out into the request that goes upstream, for the escaped
// path. It has no context, and scheme and host of its URL are still empty.
func newRequest(c *filters.Context, path string) (*http.Request, error) {
	c.DropIgnored()
	if err := check(c, path); err != nil {
		return nil, err
	}
	if _, sent := c.Out.Header["User-Agent"]; !sent {
		c.Out.SetField("User-Agent", "") // keeps net/http from naming itself
	}
	if c.Upgrade != "" {
		c.Out.SetField("Connection", "Upgrade")
		c.Out.SetField("Upgrade", c.Upgrade)
	}
	r := &request{target: url.URL{RawQuery: c.Out.Query, ForceQuery: c.Out.ForceQuery}}
	setPath(&r.target, path)
	r.Request = http.Request{
		Method:        c.Out.Method,
		URL:           &r.target,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        c.Out.Header,
		Host:          c.Out.Host,
		Body:          c.Out.Body,
		ContentLength: c.Out.ContentLength,
		Trailer:       c.Request.Trailer,
	}
	if r.ContentLength == 0 {
		r.Body = nil
	} else {
		answerWhileSending(c)
	}
	if r.ContentLength > 0 && !c.SendsOwnBody() {
		r.Body = &exactBody{c.Out.Body, c.Out.ContentLength}
	}
	return &r.Request, nil
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
