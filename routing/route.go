package routing

import "net/url"

// Kind says where a route leads.
type Kind uint8

// The kinds of routes: a load-balanced service, one fixed URL, or a handler of the gateway itself.
const (
	KindService Kind = iota
	KindURL
	KindForward
)

// String returns "service", "url" or "forward".
func (k Kind) String() string {
	switch k {
	case KindURL:
		return "url"
	case KindForward:
		return "forward"
	case KindService:
	}
	return "service"
}

// Route is one entry of a [Table]. It is built once and shared by all requests: nobody may change it, its URL or its slices.
type Route struct {
	// ID is the name from the configuration, or the mapped path of a discovered service.
	ID string
	// Path is the route's own ant pattern, such as "/users/**".
	Path string
	// FullPath is the global prefix followed by Path: the pattern that request paths are matched with.
	FullPath string
	// Location is the target as configured: a URL, a service id or "forward:" and a path.
	Location string

	Kind Kind
	// ServiceID names the service of a KindService route and is empty otherwise.
	ServiceID string
	// URL is the target of a KindURL route and nil otherwise. It has a scheme, a host and perhaps a path, nothing else.
	URL *url.URL
	// BasePath is the escaped path of URL, ready for [JoinURLPath].
	BasePath string
	// Forward is the cleaned target path of a KindForward route, "/" at least, and empty otherwise.
	Forward string

	// StripPrefix is the route's own setting. A pattern without "*" has nothing to strip all the same.
	StripPrefix bool
	// Retryable is the route's setting, or the global one where the route has none.
	Retryable bool
	// SensitiveHeaders are lower-case and replace the global ones when CustomSensitiveHeaders is set; empty means none is sensitive.
	SensitiveHeaders       []string
	CustomSensitiveHeaders bool
	// Discovered is set on routes that exist because a service was discovered.
	Discovered bool

	// Prefix is the global prefix and, if the route strips, the literal segments it strips: "/api/users".
	Prefix string
	// LocalPath is what remains of FullPath after stripping: "/**".
	LocalPath string
	// ForwardedPrefix is the value for X-Forwarded-Prefix; empty means that nothing is stripped and the header is not set.
	ForwardedPrefix string

	strip strip
}

// Match is the answer of [Table.Match].
type Match struct {
	Route *Route
	// Path is the escaped, route-local path that goes upstream. It may be empty when the route strips all of it.
	Path string
	// Err wraps [ErrUnsafePath] when stripping would have to cut at an encoded slash, so that no path is safe to forward: answer 400.
	Err error
}
