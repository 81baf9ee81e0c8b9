package pre

import (
	"encoding/hex"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/forwarded"
)

// Forwarded says what upstreams are told in the field of that name (RFC 7239). The
// zero value tells nothing: the field is then not sent at all.
type Forwarded struct {
	// Mode is "" or "none", "add" to append to what trusted proxies have said,
	// or "replace" to say in one element what is known of the client.
	Mode string

	// For is how the client is named: "address" (also when empty),
	// "address-port", "obfuscated" by a name that is another one for each
	// request, or "none".
	For string

	// By names the gateway: "" or "none", "address" for the one that the client
	// has reached, or a name of its own that begins with "_".
	By string
}

// write sets the field, or takes away what has been received: a chain without the
// gateway's element would be wrong.
func (f Forwarded) write(c *filters.Context) {
	received, free := fields{c}.received(forwarded.Forwarded)
	switch {
	case !free:
	case f.Mode == "add":
		c.Out.SetField(forwarded.Forwarded, join(f.chain(c, received), ", ", f.element(c, direct(c))))
	case f.Mode == "replace":
		c.Out.SetField(forwarded.Forwarded, f.element(c, c.Origin()))
	default:
		delete(c.Out.Header, forwarded.Forwarded)
	}
}

// chain is what has been said before: in the field itself, or else in
// X-Forwarded-For.
func (f Forwarded) chain(c *filters.Context, received []string) string {
	if len(received) == 0 {
		return forwarded.FromFor(c.Out.Header[forwarded.For])
	}
	chain := ""
	for _, line := range received {
		chain = join(chain, ", ", trimList(line))
	}
	return chain
}

// direct is the hop from the peer to the gateway.
func direct(c *filters.Context) filters.Origin {
	return filters.Origin{Addr: forwarded.PeerAddr(c.Request.RemoteAddr), Scheme: schemeOf(c.Request), Host: c.Request.Host}
}

func (f Forwarded) element(c *filters.Context, o filters.Origin) string {
	element := ""
	if f.For != "none" {
		element = forwarded.Pair("for", f.node(c, o.Addr))
	}
	switch f.By {
	case "", "none":
	case "address":
		element = join(element, ";", forwarded.Pair("by", forwarded.Node(localAddr(c.Request), 0)))
	default:
		element = join(element, ";", forwarded.Pair("by", f.By))
	}
	if o.Host != "" {
		element = join(element, ";", forwarded.Pair("host", o.Host))
	}
	return join(element, ";", forwarded.Pair("proto", o.Scheme))
}

func (f Forwarded) node(c *filters.Context, addr netip.Addr) string {
	switch f.For {
	case "obfuscated":
		var random [8]byte
		for i := range random {
			random[i] = byte(rand.Uint32()) //nolint:gosec // ChaCha8, and a byte of it
		}
		return "_" + hex.EncodeToString(random[:])
	case "address-port":
		peer, err := netip.ParseAddrPort(c.Request.RemoteAddr)
		if err == nil && forwarded.PeerAddr(c.Request.RemoteAddr) == addr {
			return forwarded.Node(addr, peer.Port())
		}
	}
	return forwarded.Node(addr, 0)
}

func localAddr(r *http.Request) netip.Addr {
	if addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		return forwarded.PeerAddr(addr.String())
	}
	return netip.Addr{}
}
