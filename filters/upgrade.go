package filters

import (
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/gozer-gateway/gozer/internal/headers"
)

// offered returns the protocols that a request offers to switch to, as the
// client wrote them; empty if it makes no offer that can be passed on. An
// offer of HTTP/2 is ignored: it would carry requests past all filters.
func offered(r *http.Request) string {
	offer := r.Header["Upgrade"]
	if len(offer) != 1 || !r.ProtoAtLeast(1, 1) || r.ContentLength != 0 || !headers.Lists(r.Header["Connection"], "upgrade") {
		return ""
	}
	for protocol := range strings.SplitSeq(offer[0], ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(protocol), "/")
		if strings.EqualFold(name, "h2c") || strings.EqualFold(name, "http") {
			return ""
		}
	}
	return offer[0]
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
