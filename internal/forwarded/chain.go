package forwarded

import (
	"net/netip"
	"slices"
	"strings"
)

// Walk follows a chain of addresses from its end, where the peer stands, to the
// client: the last address that is not of a trusted proxy. lines are those of
// X-Forwarded-For. It returns the client's address, that of the outermost proxy
// if no other is known, and how many trusted proxies the request has passed,
// peer included. It looks at no more than most members: who has sent more than
// that is one of the proxies.
func (p Proxies) Walk(peer netip.Addr, lines []string, most int) (client netip.Addr, hops int) {
	client, hops = peer, 1
	for member := range backward(lines) {
		addr, ok := ParseAddr(member)
		if !ok || most <= 0 {
			return client, hops
		}
		most--
		if client = addr; !p.Include(addr) {
			return client, hops
		}
		hops++
	}
	return client, hops
}

// backward yields the members of a list field from the last to the first,
// without empty ones.
func backward(lines []string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for _, line := range slices.Backward(lines) {
			for rest, more := line, true; more; {
				comma := strings.LastIndexByte(rest, ',')
				member := strings.Trim(rest[comma+1:], " \t")
				rest, more = rest[:max(comma, 0)], comma >= 0
				if member != "" && !yield(member) {
					return
				}
			}
		}
	}
}

// FromEnd returns the member of a list field that stands n-th from the end, the
// first one if there are fewer, or "" if there is none.
func FromEnd(lines []string, n int) (member string) {
	for m := range backward(lines) {
		member = m
		if n--; n <= 0 {
			break
		}
	}
	return member
}
