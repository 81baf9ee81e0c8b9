package pre_test

import (
	"maps"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/filters/pre"
	"github.com/gozer-gateway/gozer/routing"
)

func ignore(names ...string) filters.Spec {
	return filters.Func("Ignore", filters.Pre, 1, func(c *filters.Context) error { c.IgnoreHeaders(names...); return nil })
}

func TestIgnoredSet(t *testing.T) {
	nothing := filters.Func("Nothing", filters.Pre, 1, func(*filters.Context) error { return nil })
	tests := map[string]struct {
		global, route *[]string
		filter        filters.Spec
		want          map[string]bool
	}{
		"zuul 26 route replaces global":    {new([]string{"x-bar"}), new([]string{"x-foo"}), nothing, map[string]bool{"X-Foo": true, "X-Bar": false, "Cookie": false}},
		"zuul 27 empty route":              {new([]string{"x-bar"}), new([]string{}), nothing, map[string]bool{"X-Bar": false, "Cookie": false}},
		"zuul 28 route default":            {new([]string{"x-bar"}), nil, nothing, map[string]bool{"X-Bar": true, "Cookie": false}},
		"zuul 29 case of the global list":  {new([]string{"X-bAr"}), nil, nothing, map[string]bool{"X-Bar": true}},
		"zuul 29 case of the route's list": {new([]string{"x-bar"}), new([]string{"X-FOO"}), nothing, map[string]bool{"X-Foo": true}},
		"zuul 30 a filter's names":         {new([]string{"x-bar"}), nil, ignore("x-foo"), map[string]bool{"X-Foo": true, "X-Bar": true}},
		"no global list":                   {nil, nil, nothing, map[string]bool{"Cookie": false}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			settings := pre.Settings{Table: table(t, nil, routing.RouteSettings{Key: "foo", SensitiveHeaders: test.route})}
			if test.global != nil {
				settings.SensitiveHeaders = *test.global
			}
			c := filtertest.New(t, "GET /foo/1")
			if err := filtertest.Run(t, c, test.filter, pre.PreDecoration(settings)); err != nil {
				t.Fatal(err)
			}
			for field, want := range test.want {
				if c.IgnoresHeader(field) != want {
					t.Errorf("%s: ignored is %v", field, !want)
				}
			}
		})
	}
}

func TestIgnoredFields(t *testing.T) {
	tests := map[string]struct {
		settings       pre.Settings
		filter         filters.Spec
		sent, answered http.Header
		seen, got      http.Header
	}{
		"zuul 37 ignored X-Forwarded-*": {
			settings: pre.Settings{AddProxyHeaders: true, IgnoredHeaders: []string{"x-forwarded-host", "x-forwarded-port", xfFor, xfPrefix}},
			filter:   ignore(),
			sent:     http.Header{xfHost: {"h"}, xfPort: {"1"}, xfProto: {"http"}},
			seen:     http.Header{xfProto: {"http,http"}},
		},
		"zuul 134 a filter ignores": {
			filter: ignore("X-Ignored"),
			sent:   http.Header{"X-Ignored": {"1"}, "X-Notignored": {"2"}},
			seen:   http.Header{"X-Notignored": {"2"}},
		},
		"gateway C033 in any case": {
			settings: pre.Settings{SensitiveHeaders: []string{"x-SECRET", "cookie"}, IgnoredHeaders: []string{"X-INTERNAL"}},
			filter:   ignore(),
			sent:     http.Header{"X-Secret": {"1"}, "Cookie": {"a=b"}, "X-Internal": {"2"}, "X-Other": {"3"}},
			seen:     http.Header{"X-Other": {"3"}},
			answered: http.Header{"X-Internal": {"3"}, "X-Other": {"4"}},
			got:      http.Header{"X-Other": {"4"}},
		},
		"gateway C036 several values": {
			filter:   ignore(),
			sent:     http.Header{"X-A": {"2", "1"}},
			seen:     http.Header{"X-A": {"2", "1"}},
			answered: http.Header{"Www-Authenticate": {"Basic", "Bearer"}, "Vary": {"A", "B"}, "Set-Cookie": {"a=1; Expires=Thu, 01 Jan 2099 00:00:00 GMT", "b=2"}},
			got:      http.Header{"Www-Authenticate": {"Basic", "Bearer"}, "Vary": {"A", "B"}, "Set-Cookie": {"a=1; Expires=Thu, 01 Jan 2099 00:00:00 GMT", "b=2"}},
		},
		"gateway C045 Accept-Encoding is left alone": {
			filter: ignore(),
			sent:   http.Header{"Accept-Encoding": {"br;q=1, gzip;q=0"}},
			seen:   http.Header{"Accept-Encoding": {"br;q=1, gzip;q=0"}},
		},
		"gateway C045 Accept-Encoding is not invented": {filter: ignore(), seen: http.Header{}},
		"gateway C030, http S12 nominated by Connection": {
			filter:   ignore(),
			sent:     http.Header{"Connection": {"close, X-Hop,", " ,HTTP2-Settings, x-other"}, "X-Hop": {"1"}, "Http2-Settings": {"AAMAAABk"}, "X-Other": {"1"}, "X-Stay": {"2"}},
			seen:     http.Header{"X-Stay": {"2"}},
			answered: http.Header{"Connection": {"X-Back"}, "X-Back": {"1"}, "X-Stay": {"2"}},
			got:      http.Header{"X-Stay": {"2"}},
		},
		"zuul 97 the upstream's own name stays at home, Server does not": {
			filter:   ignore(),
			answered: http.Header{"X-Application-Context": {"app:8080"}, "Server": {"nginx"}},
			seen:     http.Header{},
			got:      http.Header{"Server": {"nginx"}},
		},
		"a filter's own Authorization passes": {
			settings: pre.Settings{SensitiveHeaders: []string{"Authorization", "Cookie"}},
			filter: filters.Func("Own", filters.Pre, 1, func(c *filters.Context) error {
				c.Out.Header.Set("Authorization", "gateway's")
				c.Out.Header.Add("Cookie", "own=1")
				return nil
			}),
			sent: http.Header{"Authorization": {"client's"}, "Cookie": {"session=1"}},
			seen: http.Header{"Authorization": {"gateway's"}, "Cookie": {"own=1"}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.settings.Table = users(t)
			seen, got := exchange(t, "GET http://g.test/api/1", test.sent, test.answered, test.filter, pre.PreDecoration(test.settings))
			if diff := cmp.Diff(test.seen, seen); diff != "" {
				t.Errorf("the upstream, -want +got\n%s", diff)
			}
			if test.answered != nil {
				if diff := cmp.Diff(test.got, got); diff != "" {
					t.Errorf("the client, -want +got\n%s", diff)
				}
			}
		})
	}
}

func TestSensitiveHeadersPerRoute(t *testing.T) {
	routes := table(t, nil,
		routing.RouteSettings{Key: "a", SensitiveHeaders: new([]string{})},
		routing.RouteSettings{Key: "b", SensitiveHeaders: new([]string{"X-A"})},
		routing.RouteSettings{Key: "c"})
	sent := http.Header{"Cookie": {"s=1"}, "Authorization": {"x"}, "X-A": {"1"}}
	defaults, cookieOnly := []string{"Cookie", "Set-Cookie", "Authorization"}, []string{"Cookie"}
	tests := []struct {
		name, request string
		global        []string
		seen          http.Header
		setCookie     bool
	}{
		{"a empty", "GET /a/1", defaults, sent, true},
		{"b own", "GET /b/1", defaults, http.Header{"Cookie": {"s=1"}, "Authorization": {"x"}}, true},
		{"c unset", "GET /c/1", defaults, http.Header{"X-A": {"1"}}, false},
		{"a empty, global Cookie", "GET /a/1", cookieOnly, sent, true},
		{"c unset, global Cookie", "GET /c/1", cookieOnly, http.Header{"Authorization": {"x"}, "X-A": {"1"}}, true},
	}
	for _, test := range tests {
		t.Run("gateway C056 "+test.name, func(t *testing.T) {
			seen, got := exchange(t, test.request, sent, http.Header{"Set-Cookie": {"s=2"}},
				pre.PreDecoration(pre.Settings{Table: routes, SensitiveHeaders: test.global}))
			if diff := cmp.Diff(test.seen, seen); diff != "" {
				t.Errorf("the upstream, -want +got\n%s", diff)
			}
			if (got.Get("Set-Cookie") != "") != test.setCookie {
				t.Errorf("the client got %v", got)
			}
		})
	}
}

// exchange sends a request and returns the headers that the upstream sees and
// the client gets.
func exchange(t *testing.T, target string, sent, answered http.Header, specs ...filters.Spec) (seen, got http.Header) {
	t.Helper()
	options := []filtertest.Option{trustClient(), filtertest.RemoteAddr(client)}
	for name, values := range sent {
		for _, value := range values {
			options = append(options, filtertest.Header(name, value))
		}
	}
	upstream := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header
		maps.Copy(w.Header(), answered)
	})
	got = filtertest.Serve(t, filtertest.New(t, target, options...), upstream, specs...).Header()
	return seen, got
}
