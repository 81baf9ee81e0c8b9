package filters

import (
	"net/http"
	"net/netip"

	"github.com/gozer-gateway/gozer/internal/forwarded"
)

// Origin is where a request comes from, as far as it can be believed: what the
// connection shows, and what trusted proxies say about those behind them
// (server.forward-headers.*).
type Origin struct {
	// Addr is the client's address: IPv4 in its own form, none with a zone.
	// It is invalid for a peer that has no IP address.
	Addr netip.Addr

	// Scheme is what the client used to reach the outermost trusted proxy, or
	// the gateway: "http" or "https".
	Scheme string

	// Host is the authority that the client asked for, with the port if it had
	// one.
	Host string

	// Chain is the believed way from the client to the peer, as X-Forwarded-For
	// has it, where Forwarded is what is believed; empty otherwise.
	Chain string

	// Proxied says that the peer is a trusted proxy.
	Proxied bool
}

// Origin tells where the request comes from. It is the same for all filters of
// a request, whatever they change.
func (c *Context) Origin() Origin {
	if !c.judged {
		c.origin, c.judged = direct(c.Request), true
	}
	return c.origin
}

// direct is what the connection shows.
func direct(r *http.Request) Origin {
	o := Origin{Addr: forwarded.PeerAddr(r.RemoteAddr), Scheme: "http", Host: r.Host}
	if r.TLS != nil {
		o.Scheme = "https"
	}
	return o
}
