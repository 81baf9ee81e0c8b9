package gozer

import (
	"net"
	"net/http"

	"github.com/gozer-gateway/gozer/admin"
	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/proxyproto"
)

// trust is nil if nobody is trusted.
func trust(cfg *config.Config) *filters.Trust {
	f := &cfg.Server.Forward
	proxies := f.Proxies()
	if len(proxies) == 0 {
		return nil
	}
	return &filters.Trust{Proxies: proxies, MaxHops: f.MaxHops, Forwarded: f.Believe == config.Forwarded}
}

// requestIDs is nil if requests are to have none.
func requestIDs(cfg *config.Config) *filters.RequestIDs {
	ids := cfg.Gateway.RequestID
	if !ids.Enabled {
		return nil
	}
	return &filters.RequestIDs{Header: http.CanonicalHeaderKey(ids.Header), Echo: ids.Echo}
}

// introduced is the stage of the clients' listeners that takes PROXY protocol heads,
// before TLS: it returns l itself when none are expected.
func (g *Gateway) introduced(name string, l net.Listener) net.Listener {
	p := g.config.Server.ProxyProtocol
	if !p.Enabled || name != proxy && name != redirect {
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

// guard is that of the management endpoints.
func guard(m *config.Management) admin.Guard {
	return admin.Guard{Token: m.Token, Open: m.Loopback(), Reads: m.Protect == config.All, Certificates: asksForCertificates(m)}
}

// asksForCertificates tells whether a client can show one at all.
func asksForCertificates(m *config.Management) bool { return m.SSL.On() && m.SSL.ClientAuth != "none" }

// warnOfOpenManagement says at the start that nobody will be able to change anything.
func (g *Gateway) warnOfOpenManagement() {
	if m := &g.config.Management; m.Port >= 0 && !m.Loopback() && m.Token == "" && !asksForCertificates(m) {
		g.options.logger.Warn("the management listener is not on loopback: "+
			"what changes something is refused until there is a management.server.token or management.server.ssl.client-auth", "address", m.Address)
	}
}
