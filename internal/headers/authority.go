package headers

import (
	"net/netip"
	"strconv"
	"strings"
)

// Authority is a Host field taken apart.
type Authority struct {
	// Name is a host name or an address; IPv6 addresses keep their brackets.
	Name string
	// Port is decimal and empty if the field has none.
	Port string
}

// ParseAuthority reads a Host field by RFC 9110 7.2 and RFC 3986 3.2.2. It
// returns false for an empty one and for what servers could take for something
// else than a host: user information, paths, broken ports and brackets.
func ParseAuthority(host string) (Authority, bool) {
	if strings.HasPrefix(host, "[") {
		return parseIPv6(host)
	}
	name, port, _ := strings.Cut(host, ":")
	return Authority{name, port}, name != "" && strings.IndexFunc(name, notInName) < 0 && isPort(port)
}

func parseIPv6(host string) (Authority, bool) {
	inner, rest, closed := strings.Cut(host[1:], "]")
	addr, err := netip.ParseAddr(inner)
	if !closed || err != nil || !addr.Is6() || addr.Zone() != "" {
		return Authority{}, false
	}
	port, separated := strings.CutPrefix(rest, ":")
	return Authority{host[:len(inner)+2], port}, (separated || rest == "") && isPort(port)
}

func notInName(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("-._~%!$&'()*+,;=", r)
}

func isPort(port string) bool {
	if port == "" {
		return true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}
