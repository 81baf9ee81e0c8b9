package config

import (
	"net/netip"
	"time"
)

// ForwardHeaders is server.forward-headers.* and server.forward-headers-strategy: whose
// word about clients is believed, and what upstreams are told.
type ForwardHeaders struct {
	Strategy string // "", "none", "native" or "framework"
	// TrustedProxies are the networks that are named; Proxies gives those that count.
	TrustedProxies []netip.Prefix
	Believe        string // "x-forwarded" or Forwarded
	MaxHops        int
	Forwarded      string // "none", "add" or "replace"
	ForwardedFor   string // "address", "address-port", "obfuscated" or "none"
	ForwardedBy    string // "none", "address" or a name that begins with "_"
}

// Forwarded is the value of server.forward-headers.believe for RFC 7239.
const Forwarded = "forwarded"

// All is the value of management.server.protect that guards reading too.
const All = "all"

// Proxies are the networks of the proxies that are believed.
func (f *ForwardHeaders) Proxies() []netip.Prefix {
	switch {
	case f.Strategy == "none":
		return nil
	case f.Strategy == "native" && len(f.TrustedProxies) == 0:
		return internalProxies()
	}
	return f.TrustedProxies
}

// internalProxies are those that Tomcat's RemoteIpValve believes by default.
func internalProxies() (networks []netip.Prefix) {
	for _, n := range []string{
		"10.0.0.0/8", "192.168.0.0/16", "169.254.0.0/16", "127.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12",
		"::1/128", "fe80::/10", "fc00::/7",
	} {
		networks = append(networks, netip.MustParsePrefix(n))
	}
	return networks
}

// Loopback reports whether the listener is reached from this host only.
func (m *Management) Loopback() bool {
	addr, err := netip.ParseAddr(m.Address)
	return m.Address == "localhost" || err == nil && addr.Unmap().IsLoopback()
}

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
