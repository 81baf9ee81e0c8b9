package filters

import (
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/gozer-gateway/gozer/internal/headers"
)

// offered returns the protocols that a request offers to switch to and that are passed
// on; empty if there are none, or if it has a body, which makes it an ordinary request.
func offered(r *http.Request) string {
	if len(r.Header["Upgrade"]) == 0 || !r.ProtoAtLeast(1, 1) || r.ContentLength != 0 || !headers.Lists(r.Header["Connection"], "upgrade") {
		return ""
	}
	return withoutHTTP(r.Header["Upgrade"])
}

// withoutHTTP joins the protocols of Upgrade fields, as they are written, but for HTTP
// itself, which would carry requests past all filters.
func withoutHTTP(upgrade []string) string {
	var kept []string
	for _, line := range upgrade {
		for protocol := range strings.SplitSeq(line, ",") {
			protocol = strings.TrimSpace(protocol)
			name, _, _ := strings.Cut(protocol, "/")
			if name != "" && !strings.EqualFold(name, "h2c") && !strings.EqualFold(name, "http") {
				kept = append(kept, protocol)
			}
		}
	}
	return strings.Join(kept, ", ")
}

// requiredUpgrade returns the protocols that a 426 asks for, as far as they are passed on
// (RFC 9110 15.5.22).
func requiredUpgrade(res *http.Response) string {
	if res.StatusCode != http.StatusUpgradeRequired {
		return ""
	}
	return withoutHTTP(res.Header["Upgrade"])
}

// Switched returns the protocol that the upstream has switched to, empty if it
// has not or if the client did not offer it.
func (c *Context) Switched() string {
	if c.Response == nil || c.Response.Status != http.StatusSwitchingProtocols || c.switched == "" {
		return ""
	}
	if !headers.Lists([]string{c.Upgrade}, c.switched) {
		return ""
	}
	return c.switched
}

// TunnelCount counts the connections that have switched protocols. They are no
// requests any more and count as none.
type TunnelCount struct {
	Opened, Active           atomic.Int64
	FromClient, FromUpstream atomic.Int64 // bytes
}
