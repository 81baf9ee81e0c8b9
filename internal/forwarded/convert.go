package forwarded

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/gozer-gateway/gozer/internal/headers"
)

// Unknown stands for a node that has no address (RFC 7239 6.2).
const Unknown = "unknown"

// ToFor writes elements as X-Forwarded-For has them, in their order: addresses
// without brackets and ports, other names as they are (RFC 7239 7.4).
func ToFor(elements []Element) string {
	members := make([]string, len(elements))
	for i, e := range elements {
		addr, isAddr := ParseAddr(e.For)
		switch {
		case isAddr:
			members[i] = addr.String()
		case headers.IsToken(e.For):
			members[i] = e.For
		default:
			members[i] = Unknown
		}
	}
	return strings.Join(members, ", ")
}

// FromFor writes the members of X-Forwarded-For as elements of Forwarded, in
// their order, with the quotes and brackets that addresses need there.
func FromFor(lines []string) string {
	members := slices.Collect(backward(lines))
	slices.Reverse(members)
	for i, m := range members {
		addr, isAddr := ParseAddr(m)
		switch {
		case isAddr:
			m = Node(addr, 0)
		case !strings.HasPrefix(m, "_") || !headers.IsToken(m):
			m = Unknown
		}
		members[i] = Pair("for", m)
	}
	return strings.Join(members, ", ")
}

// Node is an address as for and by name it, before it is quoted. Port 0 is left
// out; an invalid address is unknown.
func Node(addr netip.Addr, port uint16) string {
	switch {
	case !addr.IsValid():
		return Unknown
	case port != 0:
		return netip.AddrPortFrom(addr, port).String()
	case addr.Is6():
		return "[" + addr.String() + "]"
	}
	return addr.String()
}

// Pair is a parameter, its value quoted unless it is a token.
func Pair(name, value string) string {
	if headers.IsToken(value) {
		return name + "=" + value
	}
	return name + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}
