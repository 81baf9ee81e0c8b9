// Package headers holds the rules about HTTP field names that both directions
// of a proxied exchange share: which fields end at this hop, and sets of names.
package headers

import (
	"net/http"
	"net/textproto"
	"slices"
	"strings"
)

// EndToEnd puts the fields of h that travel further into out, which is empty:
// without hop-by-hop fields, without those that Connection names (RFC 9110
// 7.6.1) and without the framing fields, which each side writes itself. "TE:
// trailers" is kept, since trailers are passed on. Nor are there the fields that
// but, which may be nil, says are not to travel. Value slices are shared with h,
// cut to their length so that an append copies.
func EndToEnd(out, h http.Header, but func(name string) bool) {
	connection := h["Connection"]
	for name, values := range h {
		if IsHopByHop(name) || Lists(connection, name) || but != nil && but(name) {
			continue
		}
		out[name] = slices.Clip(values)
	}
	if Lists(h["Te"], "trailers") {
		out["Te"] = []string{"trailers"}
	}
}

// Strip deletes from h, in place, what EndToEnd leaves out. "TE" has no meaning
// in a response, so nothing of it is kept.
func Strip(h http.Header) {
	connection := h["Connection"]
	for name := range h {
		if IsHopByHop(name) || Lists(connection, name) {
			delete(h, name)
		}
	}
}

// IsHopByHop reports whether a field, by its canonical name, ends at this hop
// whatever Connection says.
func IsHopByHop(canonical string) bool {
	switch canonical {
	case "Connection", "Content-Length", "Expect", "Host", "Http2-Settings", "Keep-Alive",
		"Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection",
		"Te", "Trailer", "Transfer-Encoding", "Upgrade":
		return true
	}
	return false
}

// MustLead reports whether a field has a meaning only in front of the body, so
// that nobody should meet it in a trailer: what authenticates, modifies a request
// or describes the content. name is in canonical form.
func MustLead(name string) bool {
	switch name {
	case "Authorization", "Cache-Control", "Content-Encoding", "Content-Range", "Content-Type", "Cookie",
		"Max-Forwards", "Range", "Set-Cookie", "Via", "X-Application-Context":
		return true
	}
	return strings.HasPrefix(name, "If-")
}

// Alike reports whether two names are one to servers that cannot tell "_" from "-", such
// as all that get fields by the rules of CGI.
func Alike(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if plain(a[i]) != plain(b[i]) {
			return false
		}
	}
	return true
}

func plain(c byte) byte {
	switch {
	case c == '_':
		return '-'
	case 'A' <= c && c <= 'Z':
		return c + ('a' - 'A')
	}
	return c
}

// Lists reports whether a comma-separated list field has the token, ignoring
// case and empty members.
func Lists(values []string, token string) bool {
	for _, v := range values {
		for v != "" {
			var member string
			member, v, _ = strings.Cut(v, ",")
			if strings.EqualFold(textproto.TrimString(member), token) {
				return true
			}
		}
	}
	return false
}

// Inherited reports whether the values of one field are still the very ones
// received: nobody has replaced or extended them.
func Inherited(now, received []string) bool {
	return len(now) > 0 && len(now) == len(received) && &now[0] == &received[0]
}

// Own returns those values of one field that were not received: all of now, or
// what has been added behind the received ones.
func Own(now, received []string) []string {
	n := len(received)
	switch {
	case n == 0 || len(now) == 0:
		return now
	case Inherited(now, received):
		return nil
	case len(now) > n && slices.Equal(now[:n], received):
		return now[n:]
	}
	return now
}

// DropReceived deletes from out the values of one field that were received and
// keeps those that a filter has set or added. name is in canonical form.
func DropReceived(out, received http.Header, name string) {
	now := out[name]
	if now == nil {
		return
	}
	switch own := Own(now, received[name]); {
	case len(own) == 0:
		delete(out, name)
	case len(own) < len(now):
		out[name] = own
	}
}
