package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
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
		case free, certified(r), g.Token != "" && g.knows(r), g.Token == "" && g.Open:
			next.ServeHTTP(w, r)
		case g.Token != "":
			w.Header().Set("WWW-Authenticate", `Bearer realm="management"`)
			fail(w, r, http.StatusUnauthorized, "This needs the management token (Authorization: Bearer) or a client certificate")
		default:
			fail(w, r, http.StatusForbidden, "The management listener is not on loopback: this needs management.server.token or a client certificate")
		}
	})
}

func certified(r *http.Request) bool { return r.TLS != nil && len(r.TLS.VerifiedChains) > 0 }

// knows compares in a time that tells nothing about the token, its length
// included.
func (g Guard) knows(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	given, wanted := sha256.Sum256([]byte(strings.TrimSpace(token))), sha256.Sum256([]byte(g.Token))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(given[:], wanted[:]) == 1
}
