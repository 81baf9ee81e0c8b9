package forwarded

import (
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the networks of peers that are believed; nil: nobody is.
type Proxies []netip.Prefix

// Include reports whether an address, which must be a plain one, is in one of
// the networks. The invalid address is in none.
func (p Proxies) Include(addr netip.Addr) bool {
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(addr) })
}

// PeerAddr returns the address in a connection's "address:port", plain: an IPv4
// address in its own form, none with a zone. A peer that has no IP address, such
// as one behind a Unix socket, gives the invalid one.
func PeerAddr(remote string) netip.Addr {
	peer, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	return plain(peer.Addr())
}

func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// ParseAddr reads an address as proxies write it: alone, or with a port, then
// IPv6 in brackets. What else there may be, such as "unknown", is no address.
func ParseAddr(text string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(text); err == nil {
		return plain(a), true
	}
	if inner, ok := strings.CutPrefix(text, "["); ok {
		inner, rest, closed := strings.Cut(inner, "]")
		a, err := netip.ParseAddr(inner)
		return plain(a), closed && err == nil && a.Is6() && (rest == "" || rest[0] == ':' && isPort(rest[1:]))
	}
	host, port, _ := strings.Cut(text, ":")
	a, err := netip.ParseAddr(host)
	return plain(a), err == nil && isPort(port)
}

func isPort(s string) bool {
	return s != "" && len(s) <= 5 && strings.Trim(s, "0123456789") == ""
}
