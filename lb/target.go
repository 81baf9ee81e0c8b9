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

// Secures reports that the server is called over TLS.
func (p *SecurePolicy) Secures(s *Server) bool { return p.scheme(s) == "https" }

// scheme is https or http.
func (p *SecurePolicy) scheme(s *Server) string {
	switch {
	case p.IsSecure != nil && *p.IsSecure:
		return "https"
	case s.Scheme != "":
		return s.Scheme
	case p.IsSecure != nil:
		return "http"
	case s.Secure, !s.Plain && p.securePort(s.Port):
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

// outbound is a request in one piece with its URL.
type outbound struct {
	req http.Request
	url url.URL
}

func copied(req *http.Request) *http.Request {
	o := &outbound{req: *req, url: *req.URL}
	o.req.URL = &o.url
	return &o.req
}

// outbound addresses the request to the current server. Each attempt but the first
// has a copy of its own, since the transport of an earlier one may not be done with it.
func (x *exchange) outbound() *http.Request {
	if x.given {
		x.req = copied(x.req)
	}
	x.given = true
	u := x.req.URL
	*u = x.url
	u.Scheme = x.cmd.Secure.schemeFor(x.server, x.url.Scheme)
	u.Host = x.server.HostPort()
	keepSlashes(u)
	if x.host == "" {
		x.req.Host = x.server.hostHeader()
	}
	x.req.Header = hideIdempotencyKey(x.req.Method, x.req.Header)
	x.req.Body, x.req.GetBody = nil, nil
	if x.body != nil {
		x.req.Body, x.req.GetBody = x.body.open(), x.body.reopen
	}
	return x.req
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

// TLSName returns the name that the server at host:port has to prove over TLS, "" if that
// is its host. A name is known if the source has one for a server listed by address.
func (b *Balancer) TLSName(address string) string {
	for _, s := range b.Servers() {
		if s.Name != "" && s.HostPort() == address {
			return s.Name
		}
	}
	return ""
}
