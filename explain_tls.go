package gozer

import (
	"cmp"
	"context"
	"slices"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/lb"
)

// upstreamTLS tells how the upstreams of a service or a URL route are spoken to over TLS.
// Files are named; nothing of them is shown. Of the keys about verification the first that
// is set decides.
func (e *explanation) upstreamTLS(name string, u config.UpstreamTLS, verify ...string) {
	keys := func(part string) []string { return tlsKeys(name, part) }
	e.heading("TLS to upstreams of " + name)
	e.setting("trusts", cmp.Or(u.TrustCertificate, "the system's authorities"), keys("trust-certificate")...)
	e.setting("shows", cmp.Or(u.Certificate, "no certificate"), keys("certificate")...)
	e.setting("asks for", cmp.Or(u.ServerName, "the host's name"), keys("server-name")...)
	verified := "nothing"
	if u.Verified() {
		verified = "the certificate and its name"
	}
	e.setting("verifies", verified, verify...)
	e.setting("version", cmp.Or(u.MinVersion, config.TLS12)+" or later", keys("min-version")...)
}

// tlsKeys may set a part of the TLS of a service or URL route: its own, then the general one.
func tlsKeys(name, part string) []string {
	return []string{"gateway.tls." + name + "." + part, "gateway.tls." + everyUpstream + "." + part}
}

// serviceTLS is upstreamTLS for a service that has settings of it or is called over it.
func (e *explanation) serviceTLS(id string, ribbon config.Ribbon) {
	if u := e.config.TLSFor(id); u != (config.UpstreamTLS{}) || e.secure(id, ribbon) {
		e.upstreamTLS(id, u, tlsKeys(id, "verify")...)
	}
}

// routeTLS is upstreamTLS for a URL route.
func (e *explanation) routeTLS(id string) {
	verify := tlsKeys(id, "verify")
	if !e.config.Zuul.SSLHostnameValidationEnabled {
		verify = slices.Insert(verify, 1, "zuul.ssl-hostname-validation-enabled")
	}
	e.upstreamTLS(id, e.config.TLSForRoute(id), verify...)
}

// secure reports that a server of the service, as far as they are known, is called over
// TLS.
func (e *explanation) secure(id string, ribbon config.Ribbon) bool {
	policy := lb.SecurePolicy{IsSecure: ribbon.Secure, Ports: ribbon.SecurePorts}
	list := e.gateway.serverList(e.config, id, ribbon)
	if list == nil {
		return false
	}
	servers, _ := list.Servers(context.Background()) // those that can be used; it does not block
	for _, s := range servers {
		if policy.Secures(&s) {
			return true
		}
	}
	return policy.IsSecure != nil && *policy.IsSecure
}
