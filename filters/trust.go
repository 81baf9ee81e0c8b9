package filters

import (
	"net"
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

	// MaxHops bounds how many members of a list are looked at and passed on.
	MaxHops int
}

// Judge decides where a request comes from and lets what a trusted proxy says
// through to Out. Nobody else's word gets there. The front doors call it before
// the filters run. Nil trusts nobody.
func (t *Trust) Judge(c *Context) {
	if t == nil || len(t.Proxies) == 0 {
		return
	}
	o := direct(c.Request)
	if o.Proxied = t.Proxies.Include(o.Addr); o.Proxied {
		t.believe(c, &o)
	}
	c.origin, c.judged = o, true
}

func (t *Trust) believe(c *Context, o *Origin) {
	h := c.Request.Header
	var hops int
	o.Addr, hops = t.Proxies.Walk(o.Addr, h[forwarded.For], t.MaxHops)
	o.believeScheme(forwarded.FromEnd(h[forwarded.Proto], hops))
	o.believeHost(forwarded.FromEnd(h[forwarded.Host], hops), forwarded.FromEnd(h[forwarded.Port], hops))
	for name, values := range h {
		if forwarded.IsClaim(name) {
			c.Out.Header[name] = slices.Clip(values)
		}
	}
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
