package forwarded

import (
	"net/http"
	"strings"
)

// The fields by which proxies tell about clients, in canonical form.
const (
	For       = "X-Forwarded-For"
	Host      = "X-Forwarded-Host"
	Proto     = "X-Forwarded-Proto"
	Port      = "X-Forwarded-Port"
	Prefix    = "X-Forwarded-Prefix"
	RealIP    = "X-Real-Ip"
	Forwarded = "Forwarded"

	family    = "X-Forwarded-"
	requestID = "X-Request-Id"
)

// IsClaim reports whether a field, by its canonical name, tells where a request
// comes from: then it is worth as much as the peer that sent it.
func IsClaim(name string) bool {
	return strings.HasPrefix(name, family) || name == RealIP || name == Forwarded || IsDisguised(name)
}

// IsDisguised reports whether a field, by its canonical name, is one of these or the
// usual one of a request's id to upstreams that cannot tell "_" from "-", such as all
// that get fields by the rules of CGI. Proxies pass them on without a look, so they are
// the client's own word even if a trusted peer sends them.
func IsDisguised(name string) bool {
	if name == "" || name[0] != 'X' || strings.IndexByte(name, '_') < 0 {
		return false
	}
	plain := http.CanonicalHeaderKey(strings.ReplaceAll(name, "_", "-"))
	return strings.HasPrefix(plain, family) || plain == RealIP || plain == requestID
}
