package lb

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// SecurePolicy decides whether a server is called over TLS. The zero value has Ribbon's defaults.
type SecurePolicy struct {
	// IsSecure, if not nil, decides. false leaves a server alone whose scheme was written out.
	IsSecure *bool
	// Ports are those that speak TLS on servers about which nothing else is known
	// (ribbon.securePorts); nil means 443 and 8443.
	Ports []int
}

// scheme is https or http.
func (p *SecurePolicy) scheme(s *Server) string {
	switch {
	case p.IsSecure != nil && *p.IsSecure:
		return "https"
	case s.Scheme != "":
		return s.Scheme
	case p.IsSecure != nil:
		return "http"
	case s.Secure, p.securePort(s.Port):
		return "https"
	}
	return "http"
}

func (p *SecurePolicy) securePort(port int) bool {
	if p.Ports == nil {
		return port == 443 || port == 8443
	}
	return slices.Contains(p.Ports, port)
}

// outbound is the request of one attempt, in one piece with its URL.
type outbound struct {
	req http.Request
	url url.URL
}

// outbound addresses a copy of the request to the current server.
func (x *exchange) outbound() *http.Request {
	o := &outbound{req: *x.req, url: *x.req.URL}
	o.req.URL = &o.url
	o.url.Scheme = x.cmd.Secure.schemeFor(x.server, x.req.URL.Scheme)
	o.url.Host = x.server.HostPort()
	keepSlashes(&o.url)
	if o.req.Host == "" {
		o.req.Host = x.server.hostHeader()
	}
	o.req.Header = hideIdempotencyKey(o.req.Method, o.req.Header)
	o.req.Body, o.req.GetBody = nil, nil
	if x.body != nil {
		o.req.Body, o.req.GetBody = x.body.open(), x.body.reopen
	}
	return &o.req
}

// keepSlashes moves an Opaque that begins with two slashes, which net/http would send
// as an absolute URL with the wrong host, to the path. Bytes that a URL's path cannot
// carry unchanged go out in the absolute form, with the right host.
func keepSlashes(u *url.URL) {
	if !strings.HasPrefix(u.Opaque, "//") {
		return
	}
	raw := u.Opaque
	if path, err := url.PathUnescape(raw); err == nil {
		u.Path, u.RawPath = path, raw
		if u.EscapedPath() == raw {
			u.Opaque = ""
			return
		}
	}
	u.Opaque = "//" + u.Host + raw
}

// hideIdempotencyKey respells the two fields that net/http takes as a permission to
// repeat a request. Field names have no case, so the server sees no difference.
func hideIdempotencyKey(method string, h http.Header) http.Header {
	if readOnly(method) {
		return h
	}
	for _, name := range [...]string{"Idempotency-Key", "X-Idempotency-Key"} {
		if values, found := h[name]; found {
			h = maps.Clone(h)
			delete(h, name)
			h[strings.ToLower(name)] = values
		}
	}
	return h
}
