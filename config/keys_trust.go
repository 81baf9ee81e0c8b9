package config

import (
	"net/http"
	"net/netip"
	"time"
)

func trustKeys() []Key {
	return append(
		lift("server.proxy-protocol.", proxyProtocol,
			boolean("enabled", "false", "expect a PROXY protocol head, version 1 or 2, at the start of each connection to the proxy port, before TLS", func(p *ProxyProtocol) *bool { return &p.Enabled }),
			row[ProxyProtocol]{name: "trusted-proxies", kind: "list of CIDRs", doc: "peers that must send the head and are believed; nobody else's is read", set: parsed(prefixesOf, func(p *ProxyProtocol) *[]netip.Prefix { return &p.TrustedProxies })},
			choice("others", Refuse, "what becomes of connections of all other peers: closed, or served without a head", []string{Refuse, Serve}, func(p *ProxyProtocol) *string { return &p.Others }),
			duration("header-timeout", "5s", "time for the head to arrive", time.Millisecond, time.Millisecond, func(p *ProxyProtocol) *time.Duration { return &p.HeaderTimeout }),
			dead[ProxyProtocol](Refused, "**", "of the PROXY protocol only those listed here"),
		),
		lift("gateway.request-id.", func(b *builder, _ []string) *RequestID { return &b.config.Gateway.RequestID },
			boolean("enabled", "true", "give each request an id: a trusted proxy's if it is harmless, else a random one", func(r *RequestID) *bool { return &r.Enabled }),
			row[RequestID]{name: "header", kind: "header name", def: "X-Request-Id", doc: "the field that carries the id upstream, and from trusted proxies here", set: parsed(headerNameOf, func(r *RequestID) *string { return &r.Header })},
			boolean("echo", "false", "put the field into responses too", func(r *RequestID) *bool { return &r.Echo }),
		)...,
	)
}

func proxyProtocol(b *builder, _ []string) *ProxyProtocol { return &b.config.Server.ProxyProtocol }

func prefixesOf(v *node) ([]netip.Prefix, error) { return each(v, prefixOf) }

func headerNameOf(v *node) (string, error) {
	name, err := filled(v)
	if err == nil && !headerName.MatchString(name) {
		err = fault(v, "is no header name")
	}
	return http.CanonicalHeaderKey(name), err
}
