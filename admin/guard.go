package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// Guard says who may change something by the endpoints, and who may look. A
// verified client certificate always opens. The zero value lets everybody look and
// only owners of certificates change.
type Guard struct {
	// Token opens as "Authorization: Bearer <token>"; empty: there is none.
	Token string

	// Open lets everybody change things as long as there is no Token, for a
	// listener that only this host reaches.
	Open bool

	// Certificates says that the listener asks clients for certificates, for what those
	// who are refused are told.
	Certificates bool

	// Reads makes reading need what changing needs. The probes for liveness and
	// readiness stay open.
	Reads bool
}

// protect lets those requests through that the guard allows.
func (a *api) protect(next http.Handler) http.Handler {
	g := a.settings.Guard
	probes := strings.TrimSuffix(a.settings.BasePath, "/") + "/health/"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reading := r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions
		free := reading && (!g.Reads || r.URL.Path == probes+"liveness" || r.URL.Path == probes+"readiness")
		switch {
		case free, certified(r), g.Token != "" && g.knows(r), g.Token == "" && g.Open && !rebound(r):
			next.ServeHTTP(w, r)
		case g.Token != "":
			w.Header().Set("WWW-Authenticate", `Bearer realm="management"`)
			fail(w, r, http.StatusUnauthorized, "This needs the management token (Authorization: Bearer)"+g.orCertificate(" or a client certificate", ""))
		case g.Open:
			fail(w, r, http.StatusForbidden, "Web pages may not change anything here")
		default:
			fail(w, r, http.StatusForbidden, "The management listener is not on loopback: this needs "+
				g.orCertificate("a client certificate", "management.server.token or management.server.ssl.client-auth to be configured"))
		}
	})
}

// rebound reports a page that has given its own name the address of this host, so that
// its browser takes the endpoints for a part of it. Browsers tell the origin of all that
// writes; what is no browser does not, and may call the host as it likes.
func rebound(r *http.Request) bool {
	if r.Header.Get("Origin") == "" {
		return false
	}
	host := strings.ToLower((&url.URL{Host: r.Host}).Hostname())
	_, err := netip.ParseAddr(host)
	return err != nil && host != "localhost" && !strings.HasSuffix(host, ".localhost")
}

// orCertificate chooses what helps who is refused.
func (g Guard) orCertificate(asked, otherwise string) string {
	if g.Certificates {
		return asked
	}
	return otherwise
}

func certified(r *http.Request) bool { return r.TLS != nil && len(r.TLS.VerifiedChains) > 0 }

// knows compares in a time that tells nothing about the token, its length
// included.
func (g Guard) knows(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	given, wanted := sha256.Sum256([]byte(strings.TrimSpace(token))), sha256.Sum256([]byte(g.Token))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(given[:], wanted[:]) == 1
}
