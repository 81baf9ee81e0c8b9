package accesslog

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

const hidden = "***"

// masked are the names of query parameters, in lower case, whose values are secrets.
type masked []string

// query hides the values of secret parameters, also of those in a query or a fragment
// that somebody has put behind it. What has none comes back as it is.
func (m masked) query(raw string) string {
	if raw == "" || len(m) == 0 {
		return raw
	}
	var out strings.Builder
	done := 0
	for at := 0; at <= len(raw); {
		equals, end := parameter(raw, at)
		if equals >= 0 && m.secret(raw[at:equals]) {
			out.WriteString(raw[done : equals+1])
			out.WriteString(hidden)
			done = end
		}
		at = end + 1
	}
	if done == 0 {
		return raw
	}
	out.WriteString(raw[done:])
	return out.String()
}

// parameter says where the one that begins there has its equals sign, absent without one, and
// where it ends.
func parameter(raw string, at int) (equals, end int) {
	equals = absent
	for end = at; end < len(raw); end++ {
		switch raw[end] {
		case '&', ';', '?', '#':
			return equals, end
		case '=':
			if equals == absent {
				equals = end
			}
		}
	}
	return equals, end
}

// url is a URL, or a reference to one, without the secrets in its query and fragment,
// and without a password.
func (m masked) url(raw string) string {
	if at := strings.IndexAny(raw, "?#") + 1; at > 0 {
		if shown := m.query(raw[at:]); shown != raw[at:] {
			raw = raw[:at] + shown
		}
	}
	scheme, rest, found := strings.Cut(raw, "//")
	if !found {
		return raw
	}
	authority := rest[:cmp.Or(strings.IndexAny(rest, "/?#")+1, len(rest)+1)-1]
	if end := strings.LastIndexByte(authority, '@'); end >= 0 {
		return scheme + "//" + hidden + rest[end:]
	}
	return raw
}

// isURL tells of fields that hold a URL.
func isURL(name string) bool {
	return name == "Location" || name == "Content-Location" || name == "Referer" || name == "Refresh"
}

func (m masked) secret(name string) bool {
	if strings.ContainsAny(name, "%+") {
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
	}
	return slices.ContainsFunc(m, func(secret string) bool { return strings.EqualFold(secret, name) })
}

// secretHeader tells, by the canonical name, what is never shown.
func secretHeader(name string) bool {
	switch name {
	case "Authorization", "Cookie", "Cookie2", "Proxy-Authorization", "Set-Cookie", "Set-Cookie2", "X-Api-Key", "X-Auth-Token", "X-Csrf-Token", "X-Xsrf-Token",
		"X-Access-Token", "X-Amz-Security-Token", "X-Vault-Token":
		return true
	}
	return false
}

// header is the value of a field as it may be shown, several lines in one.
func (m masked) header(h shownHeader, values []string) string {
	switch {
	case len(values) == 0:
		return ""
	case h.secret:
		return hidden
	case isURL(h.name):
		return m.url(values[0])
	case len(values) == 1:
		return values[0]
	}
	return strings.Join(values, ", ")
}
