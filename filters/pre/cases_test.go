package pre_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/filters/pre"
)

func TestHeadersThatNobodyTouches(t *testing.T) {
	security := http.Header{
		"Pragma": {"no-cache"}, "Cache-Control": {"no-store"}, "Expires": {"0"},
		"X-Frame-Options": {"DENY"}, "X-Content-Type-Options": {"nosniff"}, "X-Xss-Protection": {"0"},
	}
	none := http.Header{}
	tests := map[string]struct{ sent, answered http.Header }{
		"zuul 74 security headers":              {security, security},
		"zuul 83 no Accept-Encoding":            {none, none},
		"zuul 83 Accept-Encoding: identity":     {http.Header{"Accept-Encoding": {"identity"}}, none},
		"zuul 84 Content-Encoding of a request": {http.Header{"Content-Encoding": {"identity"}}, none},
		"zuul 86 a header with two values":      {http.Header{"X-A": {"one", "two"}}, http.Header{"X-B": {"three", "four"}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			settings := pre.Settings{Table: users(t), SensitiveHeaders: []string{"Cookie", "Set-Cookie", "Authorization"}}
			seen, got := exchange(t, "GET http://g.test/api/1", test.sent, test.answered, pre.PreDecoration(settings))
			if diff := cmp.Diff(test.sent, seen); diff != "" {
				t.Errorf("the upstream, -want +got\n%s", diff)
			}
			if diff := cmp.Diff(test.answered, got); diff != "" {
				t.Errorf("the client, -want +got\n%s", diff)
			}
		})
	}
}

func TestHostOfTheUpstream(t *testing.T) {
	for name, test := range map[string]struct {
		add  bool
		want string
	}{
		"zuul 85 add-host-header":    {true, "foo.com"},
		"zuul 85 no add-host-header": {false, "upstream.test"},
	} {
		t.Run(name, func(t *testing.T) {
			c := filtertest.New(t, "GET http://foo.com/api/1")
			seen := upstreamSees(t, c, pre.PreDecoration(pre.Settings{Table: users(t), AddHostHeader: test.add}))
			if seen.Host != test.want {
				t.Errorf("Host is %q, want %q", seen.Host, test.want)
			}
		})
	}
}
