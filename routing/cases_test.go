package routing_test

import (
	"testing"

	"github.com/gozer-gateway/gozer/routing"
)

// There is one table, in which configured routes come before discovered ones.
func TestOneTableInsteadOfALocatorChain(t *testing.T) {
	s := settings(route("first", "/pathA/**", "1"))
	s.IgnoredPatterns = []string{"/pathC/**", "/pathD/**"}
	table := build(t, s, "pathA", "pathB", "pathC", "pathD")
	for name, tc := range map[string]struct{ raw, want string }{
		"zuul 69 known to both":    {"/pathA/x", "first /x"},
		"zuul 69 only to one":      {"/pathB/x", "pathB /x"},
		"zuul 69 to none":          {"/pathNot/x", "-"},
		"zuul 69 a pattern":        {"/pathC/x", "-"},
		"zuul 69 another pattern":  {"/pathD/x", "-"},
		"zuul 69 the service's id": {"/1/x", "-"},
	} {
		t.Run(name, func(t *testing.T) { check(t, table, tc.raw, tc.want) })
	}
}

// Error pages are no requests here, so their path is one like any other.
func TestErrorPathIsRouted(t *testing.T) {
	t.Run("zuul 71", func(t *testing.T) {
		check(t, build(t, settings(route("all", "/**", ""))), "/error", "all /error")
	})
}

// No charset is guessed: the upstream gets the bytes that the client has encoded.
func TestEncodedBytesOfAnyCharset(t *testing.T) {
	for name, raw := range map[string]string{
		"zuul 80 UTF-8":          "/resource/esp%C3%A9cial-char",
		"zuul 81 ISO-8859-1":     "/resource/esp%E9cial-char",
		"zuul 82 beyond latin-1": "/ol%C3%A9%D7%93%D7%A8%D7%A2%D7%A7",
	} {
		t.Run(name, func(t *testing.T) {
			for _, o := range []routing.PathOptions{usual, {Reencode: true}} {
				if got := parse(t, raw, o).Raw; got != raw {
					t.Errorf("%+v: sent as %q", o, got)
				}
			}
		})
	}
}
