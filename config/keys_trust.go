package config

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gozer-gateway/gozer/internal/forwarded"
	"github.com/gozer-gateway/gozer/internal/headers"
)

func trustKeys() []Key {
	return slices.Concat(
		lift("", root, forwardStrategy()),
		lift("server.forward-headers.", func(b *builder, _ []string) *ForwardHeaders { return &b.config.Server.Forward }, forwardKeys()...),
		lift("server.proxy-protocol.", proxyProtocol,
			boolean("enabled", "false", "expect a PROXY protocol head, version 1 or 2, at the start of each connection to the proxy port and the redirecting one, before TLS", func(p *ProxyProtocol) *bool { return &p.Enabled }),
			row[ProxyProtocol]{name: "trusted-proxies", kind: "list of CIDRs", doc: "peers that must send the head and are believed; nobody else's is read", set: parsed(prefixesOf, func(p *ProxyProtocol) *[]netip.Prefix { return &p.TrustedProxies })},
			choice("others", Refuse, "what becomes of connections of all other peers: closed, or served without a head", []string{Refuse, Serve}, func(p *ProxyProtocol) *string { return &p.Others }),
			duration("header-timeout", "5s", "time for the head to arrive", time.Millisecond, time.Millisecond, func(p *ProxyProtocol) *time.Duration { return &p.HeaderTimeout }),
			dead[ProxyProtocol](Refused, "**", "of the PROXY protocol only those listed here"),
		),
		lift("gateway.request-id.", func(b *builder, _ []string) *RequestID { return &b.config.Gateway.RequestID },
			boolean("enabled", "true", "give each request an id: a trusted proxy's if it is harmless, else a random one", func(r *RequestID) *bool { return &r.Enabled }),
			row[RequestID]{name: "header", kind: "header name", def: "X-Request-Id", doc: "the field that carries the id upstream, and from trusted proxies here", set: parsed(headerNameOf, func(r *RequestID) *string { return &r.Header })},
			boolean("echo", "false", "put the field into responses too", func(r *RequestID) *bool { return &r.Echo }),
		),
	)
}

func proxyProtocol(b *builder, _ []string) *ProxyProtocol { return &b.config.Server.ProxyProtocol }

func prefixesOf(v *node) ([]netip.Prefix, error) { return each(v, prefixOf) }

func headerNameOf(v *node) (string, error) {
	name, err := filled(v)
	if err == nil && !headerName.MatchString(name) {
		err = fault(v, "is no header name")
	}
	name = http.CanonicalHeaderKey(name)
	if err == nil && (headers.IsHopByHop(name) || headers.MustLead(name) || forwarded.IsClaim(name)) {
		err = fault(v, "has a meaning of its own")
	}
	return name, err
}

func forwardKeys() []row[ForwardHeaders] {
	return []row[ForwardHeaders]{
		{name: "trusted-proxies", kind: "list of CIDRs", doc: "peers that are believed when they tell of their clients; what anybody else says is dropped", set: parsed(prefixesOf, func(f *ForwardHeaders) *[]netip.Prefix { return &f.TrustedProxies })},
		choice("believe", "x-forwarded", "which fields of theirs: X-Forwarded-\\*, or Forwarded (RFC 7239); those of the other family are dropped", []string{"x-forwarded", Forwarded}, func(f *ForwardHeaders) *string { return &f.Believe }),
		number("max-hops", "64", "most proxies in a row that are followed back to the client", 1, 1000, func(f *ForwardHeaders) *int { return &f.MaxHops }),
		choice("forwarded", "none", "whether upstreams get Forwarded (RFC 7239): no, added to what has been received, or one element about the client", []string{"none", "add", "replace"}, func(f *ForwardHeaders) *string { return &f.Forwarded }),
		choice("forwarded-for", "address", "how that names the client; `obfuscated` is a random name for each request", []string{"address", "address-port", "obfuscated", "none"}, func(f *ForwardHeaders) *string { return &f.ForwardedFor }),
		{name: "forwarded-by", kind: "none, address or _name", def: "none", doc: "how that names the gateway: not at all, by the address that was reached, or by a name", set: parsed(forwardedByOf, func(f *ForwardHeaders) *string { return &f.ForwardedBy })},
	}
}

var obfuscated = regexp.MustCompile("^_[A-Za-z0-9._-]{1,64}$")

func forwardedByOf(v *node) (string, error) {
	by, err := filled(v)
	if err == nil && by != "none" && by != "address" && !obfuscated.MatchString(by) {
		err = fault(v, "is neither none nor address nor a name such as _gateway")
	}
	return by, err
}

// forwardStrategy is Spring's key. Its framework believes everybody.
func forwardStrategy() row[Config] {
	r := choice("server.forward-headers-strategy", "", "`none` believes nobody, `native` the networks of Tomcat's RemoteIpValve (private and local addresses) unless `trusted-proxies` names others",
		[]string{"none", "native", "framework"}, func(c *Config) *string { return &c.Server.Forward.Strategy })
	set := r.set
	r.set = func(c *Config, v *node) error {
		err := set(c, v)
		if err == nil && c.Server.Forward.Strategy == "framework" {
			err = deviation{Ignored, "it believes everybody; name the proxies in `server.forward-headers.trusted-proxies`"}
		}
		return err
	}
	return r
}

// leastToken is the shortest token of management that is taken.
const leastToken = 16

// tokenOf never shows the value.
func tokenOf(v *node) (string, error) {
	token, err := textOf(v)
	switch {
	case err != nil:
		return "", err
	case token != "" && len(token) < leastToken:
		return "", fmt.Errorf("is too short (at least %d characters)", leastToken)
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return "", errors.New("has a character that cannot stand in a header")
	}
	return token, nil
}
