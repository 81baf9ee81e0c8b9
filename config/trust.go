package config

import (
	"net/netip"
	"time"
)

// RequestID is gateway.request-id.*: the name that every request gets.
type RequestID struct {
	Enabled bool
	Header  string // carries the id upstream, and from trusted proxies here
	Echo    bool   // in responses too
}

// ProxyProtocol is server.proxy-protocol.*: a head before each connection, in which a
// balancer says whose connection it passes on.
type ProxyProtocol struct {
	Enabled bool
	// TrustedProxies are the peers that send the head, and must.
	TrustedProxies []netip.Prefix
	HeaderTimeout  time.Duration
	Others         string // Refuse or Serve: what becomes of connections of other peers
}

// The values of server.proxy-protocol.others.
const (
	Refuse = "refuse"
	Serve  = "serve"
)

// checkTrust finds what makes no sense together.
func (b *builder) checkTrust() {
	p := b.config.Server.ProxyProtocol
	if s := b.setting("server.proxy-protocol.enabled"); s != nil && p.Enabled && len(p.TrustedProxies) == 0 {
		b.report.errorf(s.name(), s.at, "needs server.proxy-protocol.trusted-proxies: the networks whose word is believed")
	}
}
