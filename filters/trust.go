package filters

import (
	"net"
	"net/http"
	"slices"
	"strings"

	"github.com/gozer-gateway/gozer/internal/forwarded"
	"github.com/gozer-gateway/gozer/internal/headers"
)

// Trust says whose word about clients is believed. The front doors ask it; a
// filter finds the result in [Context.Origin]. It is not changed after its
// making, and any goroutine may use it.
type Trust struct {
	// Proxies are the networks of the proxies that are believed.
	Proxies forwarded.Proxies

	// MaxHops bounds how many members of a list are looked at.
	MaxHops int

	// Forwarded makes Forwarded (RFC 7239) what is believed, instead of
	// X-Forwarded-*. Never both: most proxies write one and let clients
	// write the other.
	Forwarded bool
}

// Judge decides where a request comes from and lets what a trusted proxy says
// through to Out. Nobody else's word gets there. The front doors call it before
// the filters run. Nil trusts nobody. The error refuses a request of a trusted
// proxy that cannot be told from what its client may have written.
func (t *Trust) Judge(c *Context) error {
	if t == nil || len(t.Proxies) == 0 {
		return nil
	}
	o := direct(c.Request)
	var err error
	switch o.Proxied = t.Proxies.Include(o.Addr); {
	case o.Proxied && t.Forwarded:
		err = t.believeForwarded(c, &o)
	case o.Proxied:
		t.believe(c, &o)
	}
	c.origin, c.judged = o, true
	return err
}

func (t *Trust) believe(c *Context, o *Origin) {
	h := c.Request.Header
	var hops int
	o.Addr, hops = t.Proxies.Walk(o.Addr, h[forwarded.For], t.MaxHops)
	o.believeScheme(forwarded.FromEnd(h[forwarded.Proto], hops))
	o.believeHost(forwarded.FromEnd(h[forwarded.Host], hops), forwarded.FromEnd(h[forwarded.Port], hops))
	for name, values := range h {
		switch {
		case name == forwarded.Forwarded || !forwarded.IsClaim(name) || forwarded.IsDisguised(name):
		case name == forwarded.RealIP: // it may be the client's own invention
			if o.Addr.IsValid() {
				c.Out.SetField(name, o.Addr.String())
			}
		default:
			c.Out.Header[name] = slices.Clip(values)
		}
	}
}

func (t *Trust) believeForwarded(c *Context, o *Origin) error {
	lines := c.Request.Header[forwarded.Forwarded]
	if len(lines) == 0 {
		return nil
	}
	elements, ok := forwarded.Parse(lines)
	if !ok {
		return Refuse(http.StatusBadRequest, "Malformed Forwarded field")
	}
	var said forwarded.Element
	o.Addr, said = t.Proxies.WalkElements(o.Addr, elements, t.MaxHops)
	o.believeScheme(said.Proto)
	o.believeHost(said.Host, "")
	o.Chain = forwarded.ToFor(elements)
	c.Out.Header[forwarded.Forwarded] = slices.Clip(lines)
	return nil
}

func (o *Origin) believeScheme(proto string) {
	switch {
	case strings.EqualFold(proto, "https"), strings.EqualFold(proto, "wss"):
		o.Scheme = "https"
	case strings.EqualFold(proto, "http"), strings.EqualFold(proto, "ws"):
		o.Scheme = "http"
	}
}

// believeHost is to be called once the scheme is known.
func (o *Origin) believeHost(host, port string) {
	authority, ok := headers.ParseAuthority(host)
	if ok {
		o.Host = host
	}
	if !ok || authority.Port != "" || port == "" || port == defaultPort(o.Scheme) {
		return
	}
	if _, ok := headers.ParseAuthority("h:" + port); ok {
		o.Host = net.JoinHostPort(strings.Trim(authority.Name, "[]"), port)
	}
}

func defaultPort(scheme string) string {
	if scheme == "https" {
		return "443"
	}
	return "80"
}
