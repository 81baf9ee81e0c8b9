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

// fields are header fields by short names: the ones that tell about a client.
type fields map[string]string

const (
	xfHost   = "X-Forwarded-Host"
	xfPort   = "X-Forwarded-Port"
	xfProto  = "X-Forwarded-Proto"
	xfPrefix = "X-Forwarded-Prefix"
	xfFor    = "X-Forwarded-For"
)

func forwardedFields(h http.Header) fields {
	f := fields{}
	for _, name := range []string{xfHost, xfPort, xfProto, xfPrefix, xfFor, "Forwarded", "X-Real-Ip"} {
		switch lines := h[name]; len(lines) {
		case 0:
		case 1:
			f[name] = lines[0]
		default:
			f[name] = "several lines: " + lines[0] + " …"
		}
	}
	return f
}

// only leaves the named fields.
func (f fields) only(want fields) fields {
	out := fields{}
	for name := range want {
		if value, ok := f[name]; ok {
			out[name] = value
		}
	}
	return out
}

func request(t *testing.T, target string, received fields, trust ...filtertest.Option) *filters.Context {
	t.Helper()
	options := append(trust, filtertest.RemoteAddr(client))
	for name, value := range received {
		options = append(options, filtertest.Header(name, value))
	}
	return filtertest.New(t, target, options...)
}

func TestForwardedFieldsOfATrustedPeer(t *testing.T) {
	// prefix /api is stripped, the route's own path is not: zuul.md 10.1
	foo := table(t, func(s *routing.Settings) { s.Prefix = "/api" },
		routing.RouteSettings{Key: "foo", StripPrefix: new(false)}, routing.RouteSettings{Key: "bar"})
	plain := table(t, func(s *routing.Settings) { s.StripPrefix = false },
		routing.RouteSettings{Key: "foo", Path: "/api/foo/**", StripPrefix: new(false)})
	const at8080, at80 = "GET http://localhost:8080/api/foo/1", "GET http://localhost/api/foo/1"
	tests := []struct {
		name     string
		table    *routing.Table
		request  string
		received fields
		want     fields
	}{
		{"zuul 1", foo, at8080, nil, fields{xfHost: "localhost:8080"}},
		{
			"zuul 2", foo, at8080,
			fields{xfHost: "example.com", xfProto: "https"},
			fields{xfHost: "example.com,localhost:8080", xfPort: "443,8080", xfProto: "https,http"},
		},
		{
			"zuul 3", foo, at8080,
			fields{xfHost: "example.com"},
			fields{xfHost: "example.com,localhost:8080", xfPort: "8080", xfProto: "http"},
		},
		{
			"zuul 4", foo, at8080,
			fields{xfProto: "https"},
			fields{xfHost: "localhost:8080", xfPort: "443,8080", xfProto: "https,http"},
		},
		{"zuul 5", foo, at8080, fields{xfProto: "http"}, fields{xfPort: "80,8080", xfProto: "http,http"}},
		{"zuul 6", foo, at8080, fields{xfPort: "456"}, fields{xfPort: "456,8080", xfProto: "http"}},
		{"zuul 7", foo, at8080, fields{xfPort: "456", xfProto: "https"}, fields{xfPort: "456,8080", xfProto: "https,http"}},
		{
			"zuul 9", foo, at80,
			fields{xfFor: "1.2.3.4"},
			fields{xfHost: "localhost", xfPort: "80", xfProto: "http", xfPrefix: "/api", xfFor: "1.2.3.4, 5.6.7.8"},
		},
		{"zuul 10 and 14", foo, at80, fields{xfPrefix: "/prefix"}, fields{xfPrefix: "/prefix/api"}},
		{"zuul 13", plain, at80, fields{xfPrefix: "/prefix"}, fields{xfPrefix: "/prefix"}},
		{"nothing stripped", plain, at80, nil, fields{xfPrefix: ""}},
		{"zuul 18 and gateway C049 (c)", foo, "GET /api/bar/1", nil, fields{xfPrefix: "/api/bar"}},
		{"gateway C049 (b) one slash at the joint", foo, at80, fields{xfPrefix: "/edge/"}, fields{xfPrefix: "/edge/api"}},
		{"ports of several protos", foo, at80, fields{xfProto: "http, https"}, fields{xfPort: "80,443,80"}},
		{
			"http X02 gateway over TLS behind a trusted one", foo, "GET https://g.test/api/foo/1",
			fields{xfProto: "https", xfHost: "shop.test"},
			fields{xfHost: "shop.test,g.test", xfPort: "443,443", xfProto: "https,https"},
		},
		{"http F08 the other family is dropped", foo, at80, fields{"Forwarded": "for=1.2.3.4", xfFor: "1.1.1.1"}, fields{"Forwarded": "", xfFor: "1.1.1.1, 5.6.7.8"}},
		{"gateway C047 (d) empty line", foo, at80, fields{xfFor: ""}, fields{xfFor: "5.6.7.8"}},
		{"peer stands at the end already", foo, at80, fields{xfFor: "1.2.3.4,5.6.7.8"}, fields{xfFor: "1.2.3.4,5.6.7.8"}},
		{"peer as a part of an address", foo, at80, fields{xfFor: "5.6.7.80"}, fields{xfFor: "5.6.7.80, 5.6.7.8"}},
		{"peer further ahead", foo, at80, fields{xfFor: "5.6.7.8, 1.2.3.4"}, fields{xfFor: "5.6.7.8, 1.2.3.4, 5.6.7.8"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := request(t, test.request, test.received, trustClient())
			settings := pre.Settings{Table: test.table, AddProxyHeaders: true}
			got := forwardedFields(upstreamSees(t, c, pre.PreDecoration(settings)).Header)
			for name, value := range test.want {
				if got[name] != value {
					t.Errorf("%s: %q, want %q", name, got[name], value)
				}
			}
		})
	}
}

func TestForwardedForIsOneLine(t *testing.T) {
	for name, trust := range map[string]filtertest.Option{"gateway C047 (c), http X01 trusted": trustClient(), "untrusted": trusting()} {
		t.Run(name, func(t *testing.T) {
			c := filtertest.New(t, "GET /api/1", trust, filtertest.RemoteAddr(client),
				filtertest.Header(xfFor, "1.1.1.1"), filtertest.Header(xfFor, ""), filtertest.Header(xfFor, "2.2.2.2, 3.3.3.3"))
			want := []string{"5.6.7.8"}
			if name != "untrusted" {
				want = []string{"1.1.1.1, 2.2.2.2, 3.3.3.3, 5.6.7.8"}
			}
			settings := pre.Settings{Table: users(t), AddProxyHeaders: true}
			got := upstreamSees(t, c, pre.PreDecoration(settings)).Header[xfFor]
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestTrust is the matrix of http F09.
func TestTrust(t *testing.T) {
	received := fields{
		xfFor: "1.2.3.4", xfHost: "evil.test", xfPort: "1", xfProto: "https", xfPrefix: "/evil",
		"Forwarded": "for=1.2.3.4", "X-Real-Ip": "1.2.3.4",
	}
	mine := fields{xfFor: "5.6.7.8", xfHost: "localhost", xfPort: "80", xfProto: "http", xfPrefix: "/api"}
	appended := fields{
		xfFor: "1.2.3.4, 5.6.7.8", xfHost: "evil.test,localhost", xfPort: "1,80", xfProto: "https,http", xfPrefix: "/evil/api",
		"X-Real-Ip": "1.2.3.4",
	}
	passed := maps.Clone(received)
	delete(passed, "Forwarded")
	tests := map[string]struct {
		trusted string
		add     bool
		want    fields
	}{
		"nobody is trusted":             {"", true, mine},
		"others are trusted":            {"10.0.0.0/8", true, mine},
		"the peer is trusted":           {"5.6.7.8/32", true, appended},
		"the peer's network is trusted": {"5.6.0.0/16", true, appended},
		"everybody is trusted":          {"0.0.0.0/0", true, appended},
		"untrusted, none added":         {"", false, fields{}},
		"trusted, none added":           {"5.6.7.8/32", false, passed},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			settings := pre.Settings{Table: users(t), AddProxyHeaders: test.add}
			trust := trusting()
			if test.trusted != "" {
				trust = trusting(test.trusted)
			}
			c := request(t, "GET http://localhost/api/1", received, trust)
			got := forwardedFields(upstreamSees(t, c, pre.PreDecoration(settings)).Header)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestPeers(t *testing.T) {
	trust := trusting("192.0.2.0/24", "2001:db8::/32", "fe80::/10")
	tests := map[string]string{ // remote address → X-Forwarded-For, whose received value is "a"
		"192.0.2.7:1":          "a, 192.0.2.7",
		"[2001:db8::1]:1":      "a, 2001:db8::1",
		"[fe80::1%eth0]:1":     "a, fe80::1",
		"[::ffff:192.0.2.7]:1": "a, 192.0.2.7",
		"203.0.113.9:1":        "203.0.113.9",
		"[2001:db9::1]:1":      "2001:db9::1",
		"@":                    "", // a Unix socket
	}
	for remote, want := range tests {
		t.Run("http X01 "+remote, func(t *testing.T) {
			c := filtertest.New(t, "GET /api/1", trust, filtertest.RemoteAddr(remote), filtertest.Header(xfFor, "a"))
			settings := pre.Settings{Table: users(t), AddProxyHeaders: true}
			if got := upstreamSees(t, c, pre.PreDecoration(settings)).Header.Get(xfFor); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestHostPortAndProtoAgree(t *testing.T) {
	tests := map[string]fields{
		"GET http://g.test:8080/api/1": {xfHost: "g.test:8080", xfPort: "8080", xfProto: "http"},
		"GET http://g.test/api/1":      {xfHost: "g.test", xfPort: "80", xfProto: "http"},
		"GET http://g.test:80/api/1":   {xfHost: "g.test", xfPort: "80", xfProto: "http"},
		"GET http://g.test:443/api/1":  {xfHost: "g.test:443", xfPort: "443", xfProto: "http"},
		"GET http://[::1]:8080/api/1":  {xfHost: "[::1]:8080", xfPort: "8080", xfProto: "http"},
		"GET https://g.test/api/1":     {xfHost: "g.test", xfPort: "443", xfProto: "https"},
		"GET https://g.test:443/api/1": {xfHost: "g.test", xfPort: "443", xfProto: "https"},
		"GET https://g.test:444/api/1": {xfHost: "g.test:444", xfPort: "444", xfProto: "https"},
	}
	for target, want := range tests {
		t.Run("gateway C051 "+target, func(t *testing.T) {
			settings := pre.Settings{Table: users(t), AddProxyHeaders: true}
			got := forwardedFields(upstreamSees(t, request(t, target, nil), pre.PreDecoration(settings)).Header).only(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
	t.Run("without a Host field none is made up", func(t *testing.T) {
		c := request(t, "GET /api/1", nil)
		c.Request.Host = ""
		got := forwardedFields(upstreamSees(t, c, pre.PreDecoration(pre.Settings{Table: users(t), AddProxyHeaders: true})).Header)
		want := fields{xfPort: "80", xfProto: "http", xfPrefix: "/api", xfFor: "5.6.7.8"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	})
}

func TestForwardedFieldsOfFilters(t *testing.T) {
	own := func(change func(http.Header)) filters.Spec {
		return filters.Func("Own", filters.Pre, 4, func(c *filters.Context) error { change(c.Out.Header); return nil })
	}
	tests := map[string]struct {
		trust  filtertest.Option
		filter filters.Spec
		want   fields
	}{
		"set, untrusted": {trusting(), own(func(h http.Header) { h.Set(xfFor, "9.9.9.9") }), fields{xfFor: "9.9.9.9"}},
		"set, trusted":   {trustClient(), own(func(h http.Header) { h.Set(xfProto, "https") }), fields{xfProto: "https", xfPort: "80"}},
		"added, untrusted": {
			trusting(), own(func(h http.Header) { h.Add(xfHost, "own.test") }), fields{xfHost: "own.test"},
		},
		"deleted, trusted": {trustClient(), own(func(h http.Header) { h.Del(xfHost) }), fields{xfHost: "localhost"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := request(t, "GET http://localhost/api/1", fields{xfFor: "1.2.3.4", xfHost: "evil.test", xfProto: "http"}, test.trust)
			settings := pre.Settings{Table: users(t), AddProxyHeaders: true}
			got := forwardedFields(upstreamSees(t, c, test.filter, pre.PreDecoration(settings)).Header).only(test.want)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestConnectionCannotRemoveForwardedFields(t *testing.T) {
	t.Run("gateway C031, http S14", func(t *testing.T) {
		user := filters.Func("User", filters.Pre, 1, func(c *filters.Context) error { c.Out.Header.Set("X-User", "u1"); return nil })
		c := request(t, "GET http://localhost/api/1", fields{
			"Connection": "X-User, X-Forwarded-For, X-Forwarded-Host, X-Forwarded-Proto, X-Forwarded-Prefix, Host, Content-Length, Authorization",
			"X-User":     "root", "Authorization": "client's",
		})
		seen := upstreamSees(t, c, user, pre.PreDecoration(pre.Settings{Table: users(t), AddProxyHeaders: true}))
		want := fields{xfFor: "5.6.7.8", xfHost: "localhost", xfPort: "80", xfProto: "http", xfPrefix: "/api"}
		if diff := cmp.Diff(want, forwardedFields(seen.Header)); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
		if seen.Header.Get("X-User") != "u1" || seen.Header.Get("Authorization") != "" {
			t.Errorf("the upstream sees %v", seen.Header)
		}
	})
}

func TestForwardRoutesGetNoFields(t *testing.T) {
	routes := table(t, nil, routing.RouteSettings{Key: "api", URL: "forward:/local"})
	c := request(t, "GET /api/1", fields{xfFor: "1.2.3.4"})
	if err := filtertest.Run(t, c, pre.PreDecoration(pre.Settings{Table: routes, AddProxyHeaders: true})); err != nil {
		t.Fatal(err)
	}
	if got := forwardedFields(c.Out.Header); len(got) != 0 {
		t.Errorf("fields for a local handler: %v", got)
	}
}
