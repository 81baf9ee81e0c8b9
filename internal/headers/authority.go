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
	return Authority{name, port}, isName(name) && isPort(port)
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

// isName accepts a reg-name. Only bytes beyond ASCII may be escaped, so that a
// name has one spelling; package net/url does the same.
func isName(name string) bool {
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case isAlphanumeric(c), strings.IndexByte("-._~!$&'()*+,;=", c) >= 0:
		case c == '%' && isHighEscape(name[i+1:]):
			i += 2
		default:
			return false
		}
	}
	return name != ""
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// isHighEscape reports whether s begins with the two digits of a byte from 0x80 on.
func isHighEscape(s string) bool {
	if len(s) < 2 {
		return false
	}
	n, err := strconv.ParseUint(s[:2], 16, 8)
	return err == nil && n >= 0x80
}

func isPort(port string) bool {
	if port == "" {
		return true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}
