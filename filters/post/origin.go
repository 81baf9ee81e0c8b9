package post

import (
	"net"
	"net/url"
	"strings"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/headers"
)

// origin returns scheme, host and port that the client used for the gateway,
// without a default port.
func origin(c *filters.Context) string {
	if o := c.Origin(); o.Proxied {
		return o.Scheme + "://" + withoutDefaultPort(&url.URL{Scheme: o.Scheme, Host: o.Host})
	}
	scheme := forwarded(c, "X-Forwarded-Proto")
	if scheme == "" {
		scheme = "http"
		if c.Request.TLS != nil {
			scheme = "https"
		}
	}
	host := forwarded(c, "X-Forwarded-Host")
	if host == "" {
		host = c.Request.Host
	}
	u := url.URL{Scheme: scheme, Host: host}
	if port := forwarded(c, "X-Forwarded-Port"); u.Port() == "" && port != "" {
		u.Host = net.JoinHostPort(u.Hostname(), port)
	}
	return scheme + "://" + withoutDefaultPort(&u)
}

// forwarded returns the first member of a field that the gateway has set for
// the upstream: what the outermost trusted proxy saw. A value that came from
// the client as it is proves nothing and does not count.
func forwarded(c *filters.Context, name string) string {
	values := c.Out.Header[name]
	if len(values) == 0 || headers.Inherited(values, c.Request.Header[name]) {
		return ""
	}
	first, _, _ := strings.Cut(values[0], ",")
	return strings.TrimSpace(first)
}

// authority returns host and port of u in a form that can be compared. scheme
// stands in for the scheme of a scheme-relative reference.
func authority(u *url.URL, scheme string) string {
	if u.Scheme != "" {
		scheme = u.Scheme
	}
	return strings.ToLower(withoutDefaultPort(&url.URL{Scheme: scheme, Host: u.Host}))
}

func withoutDefaultPort(u *url.URL) string {
	switch {
	case u.Scheme == "http" && u.Port() == "80", u.Scheme == "https" && u.Port() == "443":
		return strings.TrimSuffix(u.Host, ":"+u.Port())
	}
	return strings.TrimSuffix(u.Host, ":")
}
