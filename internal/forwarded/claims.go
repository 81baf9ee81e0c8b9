package forwarded

import "strings"

// The fields by which proxies tell about clients, in canonical form.
const (
	For       = "X-Forwarded-For"
	Host      = "X-Forwarded-Host"
	Proto     = "X-Forwarded-Proto"
	Port      = "X-Forwarded-Port"
	Prefix    = "X-Forwarded-Prefix"
	RealIP    = "X-Real-Ip"
	Forwarded = "Forwarded"

	family = "X-Forwarded-"
)

// IsClaim reports whether a field, by its canonical name, tells where a request
// comes from: then it is worth as much as the peer that sent it.
func IsClaim(name string) bool {
	return strings.HasPrefix(name, family) || name == RealIP || name == Forwarded
}
