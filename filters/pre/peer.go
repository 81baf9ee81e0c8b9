package pre

import "strings"

// addressOf returns the address of a peer "address:port" as X-Forwarded-For
// has it: IPv6 without brackets or zone, IPv4 in its own form. It is empty for
// a peer without an address, such as one behind a Unix socket.
func addressOf(remote string) string {
	colon := strings.LastIndexByte(remote, ':')
	if colon < 0 {
		return ""
	}
	address := strings.TrimSuffix(strings.TrimPrefix(remote[:colon], "["), "]")
	address, _, _ = strings.Cut(address, "%")
	if v4, mapped := strings.CutPrefix(address, "::ffff:"); mapped && strings.Contains(v4, ".") {
		return v4
	}
	return address
}
