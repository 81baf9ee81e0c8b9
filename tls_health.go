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

// certificateHealth is the part of the health endpoint about the certificates in force.
func certificateHealth(s security, now time.Time) admin.Component {
	part := admin.Component{Name: "ssl", Status: admin.Up, Details: map[string]any{}}
	for _, store := range s.stores() {
		for _, c := range store.Certificates() {
			status := certificateStatus(c, store.WarnsBefore(), now)
			part.Details[c.Name] = certificateDetails(c, status)
			part.Status = worse(part.Status, status)
		}
		if problem := store.AuthoritiesProblem(); problem != "" {
			part.Details[store.Listener()+" trust-certificate"] = map[string]any{"status": certificateStuck, "problem": problem}
			part.Status = worse(part.Status, certificateStuck)
		}
	}
	return part
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
		"status": status, "listener": c.Listener, "subject": c.Subject, "issuer": c.Issuer, "serial": c.Serial,
		"hosts": c.Hosts, "from": c.From.UTC().Format(time.RFC3339), "until": c.Until.UTC().Format(time.RFC3339),
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
