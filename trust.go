package gozer

import (
	"net"
	"net/http"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/proxyproto"
)

// maxHops is more than there are proxies in any row.
const maxHops = 64

// trust is nil if nobody is trusted.
func trust(cfg *config.Config) *filters.Trust {
	if len(cfg.Server.TrustedProxies) == 0 {
		return nil
	}
	return &filters.Trust{Proxies: cfg.Server.TrustedProxies, MaxHops: maxHops}
}

// requestIDs is nil if requests are to have none.
func requestIDs(cfg *config.Config) *filters.RequestIDs {
	ids := cfg.Gateway.RequestID
	if !ids.Enabled {
		return nil
	}
	return &filters.RequestIDs{Header: http.CanonicalHeaderKey(ids.Header), Echo: ids.Echo}
}

// introduced is the stage of the proxy's listener that takes PROXY protocol heads,
// before TLS: it returns l itself when none are expected.
func (g *Gateway) introduced(name string, l net.Listener) net.Listener {
	p := g.config.Server.ProxyProtocol
	if !p.Enabled || name != proxy {
		return l
	}
	return proxyproto.Listen(l, proxyproto.Settings{
		Trusted:       p.TrustedProxies,
		ServeOthers:   p.Others == config.Serve,
		HeaderTimeout: p.HeaderTimeout,
		Counts:        &g.state.introductions,
		Log:           g.options.logger,
	})
}
