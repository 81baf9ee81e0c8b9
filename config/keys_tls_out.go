package config

import (
	"maps"
	"slices"
	"strings"
)

// UpstreamTLS is gateway.tls.<name>.*: how the upstreams of a service or a URL route are
// spoken to over TLS. Files hold PEM.
type UpstreamTLS struct {
	TrustCertificate string // authorities; "" means the system's
	Certificate      string
	PrivateKey       string
	ServerName       string // "" means the host's
	Verify           *bool  // nil means that nobody has said anything, which is true
	MinVersion       string // TLSv1.2 or TLSv1.3
}

// Verified reports that the certificates of the upstreams are verified.
func (u UpstreamTLS) Verified() bool { return u.Verify == nil || *u.Verify }

// UpstreamTLSs is gateway.tls. Use TLSFor and TLSForRoute.
type UpstreamTLSs struct {
	All UpstreamTLS             // "*"
	Own map[string]*UpstreamTLS // by service or route id, completed from All
}

// everyUpstream is the entry that the others are completed from.
const everyUpstream = "*"

// The versions of TLS that may be the least.
const (
	TLS12 = "TLSv1.2"
	TLS13 = "TLSv1.3"
)

const tlsPrefix = "gateway.tls.<upstream>."

func upstreamTLSKeys() []Key {
	return lift(tlsPrefix, upstreamTLS,
		text("trust-certificate", "(the system's)", "file (PEM) of the authorities that vouch for the upstreams; `<upstream>` is a service, the id of a URL route, or `*` for all", func(u *UpstreamTLS) *string { return &u.TrustCertificate }),
		text("certificate", "", "file (PEM) of the certificate, with its chain, that is shown to upstreams that ask for one", func(u *UpstreamTLS) *string { return &u.Certificate }),
		text("certificate-private-key", "", "file (PEM) of its key", func(u *UpstreamTLS) *string { return &u.PrivateKey }),
		row[UpstreamTLS]{name: "server-name", kind: "text", def: "(the host)", doc: "name that is sent in SNI and has to stand in the upstream's certificate", set: setServerName},
		row[UpstreamTLS]{name: "verify", kind: "bool", def: "true", doc: "`false`: accept any certificate, which lets anybody on the way read and change what is sent", set: setVerify},
		choice("min-version", TLS12, "least version of TLS", []string{TLS12, TLS13}, func(u *UpstreamTLS) *string { return &u.MinVersion }),
	)
}

func upstreamTLS(b *builder, values []string) *UpstreamTLS {
	t := &b.config.Gateway.TLS
	if values[0] == everyUpstream {
		return &t.All
	}
	own, ok := t.Own[values[0]]
	if !ok {
		completed := t.All
		own = &completed
		t.Own[values[0]] = own
	}
	return own
}

func setVerify(u *UpstreamTLS, v *node) error {
	verify, err := boolOf(v)
	if err == nil {
		u.Verify = &verify
	}
	return err
}

func setServerName(u *UpstreamTLS, v *node) error {
	name, err := textOf(v)
	name = strings.TrimSuffix(name, ".")
	if err == nil && strings.ContainsAny(name, "/:@ []") {
		err = fault(v, "is no host name; it has neither scheme nor port")
	}
	if err == nil {
		u.ServerName = name
	}
	return err
}

// TLSFor gives the settings of a service: its own over those of "*".
func (c *Config) TLSFor(service string) UpstreamTLS {
	if own, ok := c.Gateway.TLS.Own[service]; ok {
		return *own
	}
	return c.Gateway.TLS.All
}

// TLSForRoute gives the settings of a URL route. Whether it verifies is decided by its own
// gateway.tls.<id>.verify, then by zuul.ssl-hostname-validation-enabled if that is false,
// then by gateway.tls.*.verify.
func (c *Config) TLSForRoute(id string) UpstreamTLS {
	u := c.TLSFor(id)
	written := id != everyUpstream && c.Place("gateway.tls."+id+".verify") != (Position{})
	if !c.Zuul.SSLHostnameValidationEnabled && !written {
		off := false
		u.Verify = &off
	}
	return u
}

// checkTLS warns of certificates that nobody verifies, and finds entries without effect.
func (b *builder) checkTLS() {
	const zuulKey = "zuul.ssl-hostname-validation-enabled"
	if s := b.setting(zuulKey); s != nil && !b.config.Zuul.SSLHostnameValidationEnabled {
		b.report.warnf(s.name(), s.at, "URL routes accept any certificate of their upstreams")
	}
	t := &b.config.Gateway.TLS
	b.warnUnverified(everyUpstream, &t.All)
	for _, name := range slices.Sorted(maps.Keys(t.Own)) {
		b.warnUnverified(name, t.Own[name])
		b.checkUpstream(name)
	}
}

func (b *builder) warnUnverified(name string, u *UpstreamTLS) {
	s := b.setting("gateway.tls." + name + ".verify")
	if s == nil || u.Verified() {
		return
	}
	who := "upstreams of " + name
	if name == everyUpstream {
		who = "all upstreams"
	}
	b.report.warnf(s.name(), s.at, "any certificate of %s is accepted", who)
}

// checkUpstream finds entries that speak of nobody; with discovery a service may come.
func (b *builder) checkUpstream(name string) {
	if c := &b.config.Eureka.Client; c.Active() && c.Fetch || b.config.Registry.Enabled || b.config.Services[name] != nil {
		return
	}
	for _, r := range b.config.Zuul.Routes {
		if r.Location == name || r.ID == name && isURL(r.Location) {
			return
		}
	}
	if s := b.firstUnder("gateway.tls." + name + "."); s != nil {
		b.report.warnf(s.name(), s.at, "has no effect: there is neither a service nor a URL route %s", name)
	}
}

// firstUnder finds a setting of a section.
func (b *builder) firstUnder(prefix string) *setting {
	for _, id := range b.store.order {
		if s := b.store.get(id); s.key != nil && s.places != nil && strings.HasPrefix(s.canonical(), prefix) {
			return s
		}
	}
	return nil
}
