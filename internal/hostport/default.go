package hostport

import "strings"

// OfURL is the host:port that a URL of http or https with that host leads to.
func OfURL(scheme, host string) string {
	if strings.LastIndexByte(host, ':') > strings.LastIndexByte(host, ']') {
		return host
	}
	if scheme == "https" {
		return host + ":443"
	}
	return host + ":80"
}
