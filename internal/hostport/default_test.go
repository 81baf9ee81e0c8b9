package hostport_test

import (
	"testing"

	"github.com/gozer-gateway/gozer/internal/hostport"
)

func TestOfURL(t *testing.T) {
	for _, c := range []struct{ scheme, host, want string }{
		{"http", "h", "h:80"},
		{"https", "h", "h:443"},
		{"https", "h:80", "h:80"},
		{"http", "[::1]", "[::1]:80"},
		{"https", "[::1]:8443", "[::1]:8443"},
	} {
		if got := hostport.OfURL(c.scheme, c.host); got != c.want {
			t.Errorf("%s://%s is at %s, not %s", c.scheme, c.host, got, c.want)
		}
	}
}
