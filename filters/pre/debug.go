package pre

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/gozer-gateway/gozer/filters"
)

// DebugSettings say which requests are debugged.
type DebugSettings struct {
	// Parameter (zuul.debug.parameter) is the query parameter that asks for
	// debugging when its first value is exactly "true". Default "debug".
	Parameter string

	// Always (zuul.debug.request) debugs every request.
	Always bool
}

// Debug makes the chain record what the filters behind it do (zuul.md 1.5).
// Nobody sees the record unless a post filter publishes it.
func Debug(s DebugSettings) filters.Spec {
	return filters.Instance("DebugFilter", filters.Pre, 1, debug{cmp.Or(s.Parameter, "debug"), s.Always})
}

type debug struct {
	parameter string
	always    bool
}

var _ filters.Filter = debug{}

func (d debug) ShouldFilter(c *filters.Context) bool {
	return d.always || firstValue(c.Request.URL.RawQuery, d.parameter) == "true"
}

func (debug) Run(c *filters.Context) error {
	c.EnableDebug()
	return nil
}

// firstValue returns the decoded first value of a query parameter.
func firstValue(query, name string) string {
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		key, value, _ := strings.Cut(pair, "=")
		if unescape(key) == name {
			return unescape(value)
		}
	}
	return ""
}

// unescape leaves alone what is not well escaped.
func unescape(s string) string {
	if decoded, err := url.QueryUnescape(s); err == nil {
		return decoded
	}
	return s
}
