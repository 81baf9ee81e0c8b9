package registry

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// AuthSettings say who may do what. Without users everybody may do everything, as
// with the original; with some, everything but the health check needs one of them.
type AuthSettings struct {
	Users map[string]User
	// AnonymousRead lets everybody read lists.
	AnonymousRead bool
}

// User is somebody who may read, and what else they may do. It is known by any of
// the three secrets that it has.
type User struct {
	Password    string // of HTTP basic authentication, with the user's name
	Token       string // after "Bearer "
	Certificate string // common name or a DNS name of a client certificate that TLS has verified

	// Applications may be registered, renewed, changed and removed: names, ignoring
	// case, that may end in "*".
	Applications []string
	Replicate    bool // may pass on changes as a peer does
	Administer   bool // may do everything
}

// need is what a request has to be allowed to do.
type need struct {
	right right
	app   string // of rightRegister
}

type right uint8

const (
	rightRead right = iota
	rightRegister
	rightReplicate
	rightAdminister
)

func (n need) String() string {
	return [...]string{"read", "change application " + n.app, "replicate", "administer"}[n.right]
}

// has reports whether a user may do what is needed.
func (u *User) has(n need) bool {
	switch {
	case u.Administer || n.right == rightRead:
		return true
	case n.right == rightReplicate:
		return u.Replicate
	case n.right == rightRegister:
		return slices.ContainsFunc(u.Applications, func(pattern string) bool { return matches(strings.ToUpper(pattern), n.app) })
	}
	return false
}

func matches(pattern, app string) bool {
	if prefix, open := strings.CutSuffix(pattern, "*"); open {
		return strings.HasPrefix(app, prefix)
	}
	return pattern == app
}

// guard finds users by what they present. Secrets are kept as hashes, so that
// comparing them takes the same time for all.
type guard struct {
	open          bool
	anonymousRead bool
	users         []*account
}

type account struct {
	User
	name            string
	password, token [sha256.Size]byte
}

func newGuard(s AuthSettings) *guard {
	g := &guard{open: len(s.Users) == 0, anonymousRead: s.AnonymousRead}
	for name, u := range s.Users {
		g.users = append(g.users, &account{User: u, name: name, password: sha256.Sum256([]byte(u.Password)), token: sha256.Sum256([]byte(u.Token))})
	}
	return g
}

// user finds who sent a request, or nil.
func (g *guard) user(req *http.Request) *account {
	name, password, basic := req.BasicAuth()
	scheme, token, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	bearer := strings.EqualFold(scheme, "Bearer") // RFC 9110, section 11.1
	passwordHash, tokenHash := sha256.Sum256([]byte(password)), sha256.Sum256([]byte(token))
	for _, u := range g.users {
		switch {
		case basic && u.Password != "" && u.name == name && subtle.ConstantTimeCompare(u.password[:], passwordHash[:]) == 1,
			bearer && u.Token != "" && subtle.ConstantTimeCompare(u.token[:], tokenHash[:]) == 1,
			u.Certificate != "" && certified(req, u.Certificate):
			return u
		}
	}
	return nil
}

// certified reports whether the client has shown a certificate of that name, which
// TLS has verified.
func certified(req *http.Request, name string) bool {
	if req.TLS == nil || len(req.TLS.VerifiedChains) == 0 {
		return false
	}
	leaf := req.TLS.VerifiedChains[0][0]
	if leaf.Subject.CommonName == name {
		return true
	}
	for _, dns := range leaf.DNSNames {
		if strings.EqualFold(dns, name) {
			return true
		}
	}
	return false
}

// allow lets through who may do what is needed.
func (r *Registry) allow(n need, next http.HandlerFunc) http.HandlerFunc {
	if r.guard.open {
		return next
	}
	return func(w http.ResponseWriter, req *http.Request) {
		u := r.guard.user(req)
		switch {
		case u != nil && u.has(n), u == nil && n.right == rightRead && r.guard.anonymousRead:
			next(w, req)
		case u == nil:
			r.counters.denied.count(false)
			w.Header().Set("Www-Authenticate", `Basic realm="registry", charset="UTF-8"`)
			w.WriteHeader(http.StatusUnauthorized)
		default:
			r.counters.denied.count(false)
			fail(w, http.StatusForbidden, fmt.Sprintf("user %s may not %s", u.name, n))
		}
	}
}
