package filters

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// debugLog collects the routing debug of one request (zuul.md 1.5). Nil means
// that the request is not debugged.
type debugLog struct{ lines []string }

func (d *debugLog) clone() *debugLog {
	if d == nil {
		return nil
	}
	return &debugLog{lines: slices.Clone(d.lines)}
}

func (d *debugLog) addf(format string, args ...any) {
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

// EnableDebug makes the chain record what every later filter does.
func (c *Context) EnableDebug() {
	if c.debug == nil {
		c.debug = &debugLog{}
	}
}

// Debugging reports whether EnableDebug was called.
func (c *Context) Debugging() bool { return c.debug != nil }

// DebugLines returns the routing debug recorded so far, oldest line first.
func (c *Context) DebugLines() []string {
	if c.debug == nil {
		return nil
	}
	return c.debug.lines
}

// debugField is one value that routing debug watches. The names are Zuul's
// context keys; header values and bodies are left out, since they may be
// secret.
type debugField struct{ name, value string }

func (c *Context) debugFields() []debugField {
	if c.debug == nil {
		return nil
	}
	fields := []debugField{
		{"requestURI", c.Out.Path},
		{"requestQuery", queryNames(c.Out.Query)},
		{"serviceId", c.ServiceID},
		{"forward.to", c.ForwardTo},
	}
	if c.Route != nil {
		fields = append(fields, debugField{"proxy", c.Route.ID})
	}
	if c.Out.URL != nil {
		fields = append(fields, debugField{"routeHost", c.Out.URL.Redacted()})
	}
	if c.Retryable {
		fields = append(fields, debugField{"retryable", "true"})
	}
	if c.Response != nil {
		fields = append(fields, debugField{"responseStatusCode", strconv.Itoa(c.Response.Status)})
	}
	for _, a := range c.attributes {
		fields = append(fields, debugField{a.name, "(set)"})
	}
	return fields
}

// queryNames keeps the names of a raw query and hides the values.
func queryNames(query string) string {
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		pairs[i], _, _ = strings.Cut(pair, "=")
	}
	return strings.Join(pairs, "&")
}

// changes records how the watched values differ from before.
func (c *Context) debugChanges(filter string, before []debugField) {
	for _, f := range c.debugFields() {
		i := slices.IndexFunc(before, func(b debugField) bool { return b.name == f.name })
		switch {
		case f.value == "":
		case i < 0 || before[i].value == "":
			c.debug.addf("{%s} added %s=%s", filter, f.name, f.value)
		case before[i].value != f.value:
			c.debug.addf("{%s} changed %s=%s", filter, f.name, f.value)
		}
	}
}
