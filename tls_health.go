package gozer

import (
	"time"

	"github.com/gozer-gateway/gozer/admin"
	"github.com/gozer-gateway/gozer/internal/certs"
)

// The statuses of the health of certificates beside admin.Up. The gateway serves with what
// it has, so none of them is the status of the whole.
const (
	certificateEndsSoon = "WILL_EXPIRE_SOON"
	certificateExpired  = "EXPIRED"
	certificateStuck    = "FILES_UNUSABLE"
)

// hasTLS tells whether there is anything to be said about certificates.
func (g *Gateway) hasTLS() bool {
	c := g.config
	return c.TLS() || c.Management.SSL.On() || registrySecure(c) || g.registries != nil || len(g.snapshot.Load().tls.materials) > 0
}

// certificateHealth is the part of the health endpoint about the certificates in force,
// those that are shown to upstreams included.
func (g *Gateway) certificateHealth(now time.Time) admin.Component {
	h := certificatesHealth{admin.Component{Name: "ssl", Status: admin.Up, Details: map[string]any{}}, now}
	for _, store := range g.security.stores() {
		h.judge(store.Certificates(), store.WarnsBefore())
		h.stuck(store.Listener(), store.AuthoritiesProblem())
	}
	h.judge(g.clientCertificates(), g.inForce().Management.CertificateWarning)
	for _, entry := range g.snapshot.Load().upstreamFiles() {
		if entry.material.Certificate() == nil {
			h.stuck(entry.name, g.state.tls.complaint(entry.files))
		}
	}
	if g.registries.material().Certificate() == nil {
		h.stuck(registryTLS, g.registries.problem())
	}
	return h.Component
}

type certificatesHealth struct {
	admin.Component
	now time.Time
}

func (h *certificatesHealth) judge(all []certs.Info, warning time.Duration) {
	for _, c := range all {
		status := certificateStatus(c, warning, h.now)
		h.Details[c.Name] = certificateDetails(c, status)
		h.Status = worse(h.Status, status)
	}
}

// stuck tells what is wrong with a file of authorities.
func (h *certificatesHealth) stuck(whose, problem string) {
	if problem == "" {
		return
	}
	h.Details[whose+" trust-certificate"] = map[string]any{"status": certificateStuck, "problem": problem}
	h.Status = worse(h.Status, certificateStuck)
}

func certificateStatus(c certs.Info, warning time.Duration, now time.Time) string {
	switch {
	case now.After(c.Until):
		return certificateExpired
	case c.Problem != "":
		return certificateStuck
	case c.Until.Sub(now) <= warning:
		return certificateEndsSoon
	}
	return admin.Up
}

func certificateDetails(c certs.Info, status string) map[string]any {
	details := map[string]any{
		"status": status, "subject": c.Subject, "issuer": c.Issuer, "serial": c.Serial,
		"hosts": c.Hosts, "from": c.From.UTC().Format(time.RFC3339), "until": c.Until.UTC().Format(time.RFC3339),
	}
	if c.Listener != "" {
		details["listener"] = c.Listener
	}
	if c.Problem != "" {
		details["problem"] = c.Problem
	}
	return details
}

// worse returns the worse of two statuses.
func worse(a, b string) string {
	for _, status := range []string{certificateExpired, certificateStuck, certificateEndsSoon} {
		if a == status || b == status {
			return status
		}
	}
	return admin.Up
}
