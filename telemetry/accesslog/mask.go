package accesslog

import (
	"net/url"
	"slices"
	"strings"
)

const hidden = "***"

// masked are the names of query parameters, in lower case, whose values are secrets.
type masked []string

// query hides the values of secret parameters. What has none comes back as it is.
func (m masked) query(raw string) string {
	if raw == "" || len(m) == 0 {
		return raw
	}
	var out strings.Builder
	done := 0
	for at := 0; at <= len(raw); {
		end := len(raw)
		if stop := strings.IndexAny(raw[at:], "&;"); stop >= 0 {
			end = at + stop
		}
		if equals := strings.IndexByte(raw[at:end], '='); equals >= 0 && m.secret(raw[at:at+equals]) {
			out.WriteString(raw[done : at+equals+1])
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
	case "Authorization", "Cookie", "Proxy-Authorization", "Set-Cookie", "X-Api-Key", "X-Auth-Token", "X-Csrf-Token", "X-Xsrf-Token":
		return true
	}
	return false
}

// header is the value of a field as it may be shown, several lines in one.
func header(values []string, secret bool) string {
	switch {
	case len(values) == 0:
		return ""
	case secret:
		return hidden
	case len(values) == 1:
		return values[0]
	}
	return strings.Join(values, ", ")
}
