package route

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/headers"
	"github.com/gozer-gateway/gozer/lb"
)

// check refuses what filters have made of a request if it cannot be sent. The
// failure is the filter's, so no upstream may hear of it or be blamed. Most of it
// is left to a transport that does it while it writes.
func check(c *filters.Context, path string, t http.RoundTripper) error {
	out := &c.Out
	switch _, writes := t.(lb.Carrier); {
	case path != "" && path[0] != '/':
		return errors.New("route: Out.Path is no escaped path")
	case out.ContentLength != 0 && out.Body == nil:
		return errors.New("route: Out.ContentLength without Out.Body")
	case writes:
		return nil
	}
	switch {
	case !headers.IsToken(out.Method):
		return fmt.Errorf("route: Out.Method %q is no method", out.Method)
	case !isTarget(path):
		return errors.New("route: Out.Path is no escaped path")
	case !isTarget(out.Query):
		return errors.New("route: Out.Query is no escaped query")
	}
	return checkFields(c)
}

// isTarget reports whether s has only bytes that a request target may hold
// (RFC 9112 3.2).
func isTarget(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || c == '#' {
			return false
		}
	}
	return true
}

// checkFields looks at what filters have set; what the client sent has been
// read by a server of ours.
func checkFields(c *filters.Context) error {
	if c.Out.Host != "" && c.Out.Host != c.Request.Host {
		if _, ok := headers.ParseAuthority(c.Out.Host); !ok {
			return fmt.Errorf("route: Out.Host %q is no host", c.Out.Host)
		}
	}
	for name, values := range c.Out.Header {
		if headers.Inherited(values, c.Request.Header[name]) {
			continue
		}
		if err := headers.Check(name, values); err != nil {
			return fmt.Errorf("route: Out.Header: %w", err)
		}
	}
	return nil
}
