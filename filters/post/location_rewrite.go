package post

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gozer-gateway/gozer/filters"
)

// LocationRewriteSettings tell LocationRewrite what it cannot see in a request.
type LocationRewriteSettings struct {
	// Prefix is zuul.prefix, the prefix of all routes.
	Prefix string

	// StripPrefix is zuul.strip-prefix: upstreams do not know Prefix.
	StripPrefix bool

	// Owns reports whether host, with its port if it has one, is a server of
	// service. It is called from any goroutine. Nil means that servers are not
	// known; then every host in a Location is taken for one, as Zuul does.
	Owns func(service, host string) bool
}

// LocationRewrite returns the filter that makes a redirect to the upstream a
// redirect to the gateway (zuul.md 2.9). It does nothing until
// gateway.filters.LocationRewriteFilter.enabled is true. Redirects to hosts
// that are not the upstream's stay as they are.
func LocationRewrite(s LocationRewriteSettings) filters.Spec {
	s.Prefix = cleanPrefix(s.Prefix)
	return filters.Spec{
		Name: "LocationRewriteFilter", Phase: filters.Post, Order: 900,
		New: func(decode func(into any) error) (filters.Filter, error) {
			f := &locationRewrite{settings: s}
			return f, decode(&f.own)
		},
	}
}

type locationRewrite struct {
	settings LocationRewriteSettings
	own      struct {
		Enabled bool
	}
}

var _ filters.Filter = (*locationRewrite)(nil)

func (f *locationRewrite) ShouldFilter(c *filters.Context) bool {
	return f.own.Enabled && c.Err == nil && c.Route != nil && c.Response != nil &&
		(c.Response.Status/100 == 3 || c.Response.Status == http.StatusCreated)
}

func (f *locationRewrite) Run(c *filters.Context) error {
	if values := c.Response.Header["Location"]; len(values) > 0 {
		c.Response.Header.Set("Location", f.rewrite(c, values[0]))
	}
	return nil
}

// rewrite returns what the client is told instead of location. What follows
// the path is kept byte for byte.
func (f *locationRewrite) rewrite(c *filters.Context, location string) string {
	u, err := url.Parse(location)
	if err != nil {
		return location
	}
	path, rest := splitLocation(location, u)
	switch {
	case u.Host != "":
		if !f.toUpstream(c, u, path) {
			return location
		}
	case u.Scheme != "" || !strings.HasPrefix(path, "/"):
		return location // of another kind, or relative to where the client is
	}
	local, ok := f.outer(c, path)
	if !ok {
		return location
	}
	if u.Host == "" {
		return "/" + strings.TrimLeft(local, `/\`) + rest // two slashes would name a host
	}
	return origin(c) + local + rest
}

// toUpstream reports whether u leads to the server that answered. An upstream
// that was sent the client's own Host means itself by it, unless it has put
// the route's prefix in front of the path already.
func (f *locationRewrite) toUpstream(c *filters.Context, u *url.URL, path string) bool {
	switch {
	case u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https":
		return false
	case c.Out.Host != "" && strings.EqualFold(u.Host, c.Out.Host):
		_, there := cutSegments(path, escape(c.Route.Prefix))
		return !there || c.Route.Prefix == ""
	case c.Out.URL != nil:
		return authority(u, c.Out.URL.Scheme) == authority(c.Out.URL, "")
	}
	return f.settings.Owns == nil || f.settings.Owns(c.ServiceID, u.Host)
}

// outer maps an upstream path to the path under which clients reach it. It is
// false for a path outside of the one that a URL route leads to.
func (f *locationRewrite) outer(c *filters.Context, path string) (string, bool) {
	if c.Out.URL != nil {
		local, inside := cutSegments(path, strings.TrimSuffix(c.Out.URL.EscapedPath(), "/"))
		if !inside {
			return "", false
		}
		path = local
	}
	prefix := escape(c.Route.Prefix)
	if !f.settings.StripPrefix {
		path, _ = cutSegments(path, escape(f.settings.Prefix))
	}
	if prefix != "" && path != "" && path[0] != '/' {
		path = "/" + path
	}
	return prefix + path, true
}

// cutSegments removes whole leading segments from an escaped path.
func cutSegments(path, prefix string) (string, bool) {
	rest, found := strings.CutPrefix(path, prefix)
	if !found || rest != "" && rest[0] != '/' {
		return path, false
	}
	return rest, true
}

func escape(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// cleanPrefix gives a prefix the slashes that package routing gives it.
func cleanPrefix(prefix string) string {
	prefix = strings.Trim(prefix, "/")
	if prefix == "" {
		return ""
	}
	return "/" + prefix
}

// splitLocation returns the path of a location, as it is written, and the
// query and fragment behind it.
func splitLocation(location string, u *url.URL) (path, rest string) {
	if u.Host != "" {
		_, location, _ = strings.Cut(location, "//")
		location = location[firstOf(location, "/?#"):]
	}
	end := firstOf(location, "?#")
	return location[:end], location[end:]
}

// firstOf is strings.IndexAny with the length of s for "nowhere".
func firstOf(s, chars string) int {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return i
	}
	return len(s)
}
