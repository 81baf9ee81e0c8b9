package http1

import (
	"net/http"
	"net/url"
	"strings"
)

// checkTarget applies RFC 9112 3.2: the form of the target has to suit the
// method, and the authority of an absolute one replaces Host. An absolute
// target of OPTIONS without a path asks about the server itself.
func (h *head) checkTarget() error {
	switch {
	case h.method == http.MethodConnect:
		return h.checkTunnel()
	case h.target[0] == '/':
		return nil
	case h.target == "*" && h.method == http.MethodOptions:
		return nil
	}
	_, authority, path, ok := splitAbsolute(h.target)
	if !ok || !validHost(authority) {
		return malformed("invalid request target")
	}
	h.host = authority
	if path == "" && h.method == http.MethodOptions {
		h.target = "*"
	}
	return nil
}

func (h *head) checkTunnel() error {
	colon := strings.LastIndexByte(h.target, ':')
	if colon < 0 || colon == len(h.target)-1 || !validHost(h.target) {
		return malformed("invalid request target")
	}
	h.host = h.target
	return nil
}

// splitAbsolute takes an http or https URL apart; path is what follows the
// authority, query included.
func splitAbsolute(target string) (scheme, authority, path string, ok bool) {
	scheme, rest, ok := strings.Cut(target, "://")
	if !ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return "", "", "", false
	}
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	return scheme, rest[:end], rest[end:], true
}

// fillURL sets u to what net/http makes of the target. It refuses what cannot
// be decoded.
func (h *head) fillURL(u *url.URL) error {
	switch {
	case h.method == http.MethodConnect:
		*u = url.URL{Host: h.target}
		return nil
	case h.target == "*":
		*u = url.URL{Path: "*"}
		return nil
	}
	path, query, hasQuery := strings.Cut(h.target, "?")
	if path[0] == '/' && isPlain(path) {
		*u = url.URL{Path: path, RawQuery: query, ForceQuery: hasQuery && query == ""}
		return nil
	}
	parsed, err := url.ParseRequestURI(h.target)
	if err != nil {
		return malformed("invalid escape in the request target")
	}
	*u = *parsed
	return nil
}

// isPlain reports whether a path is its own decoded form and its own encoding.
func isPlain(path string) bool {
	for i := range len(path) {
		if !isPlainPath(path[i]) {
			return false
		}
	}
	return true
}
