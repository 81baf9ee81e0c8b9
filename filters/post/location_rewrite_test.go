package post_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/filters/post"
	"github.com/gozer-gateway/gozer/routing"
)

// enabled switches the filter on, as gateway.filters.LocationRewriteFilter does.
func enabled(s post.LocationRewriteSettings) filters.Spec {
	return filtertest.Configured(post.LocationRewrite(s), struct{ Enabled bool }{true})
}

// routeTo builds the only route of a configuration.
func routeTo(tb testing.TB, s routing.Settings, r routing.RouteSettings) *routing.Route {
	tb.Helper()
	s.Routes = []routing.RouteSettings{r}
	table, problems := routing.Build(s, nil)
	if len(problems) > 0 {
		tb.Fatal(problems)
	}
	return table.Routes()[0]
}

func TestLocationRewriteZuul(t *testing.T) {
	const from = "http://someserver.com:8564/redirectedUri;someparam?param1=abc"
	no := false
	tests := map[string]struct {
		prefix string
		strip  bool
		route  *routing.RouteSettings
		from   string
		want   string
	}{
		"zuul 126 stripped prefix": {
			strip: true, route: &routing.RouteSettings{Key: "s", Path: "/prefix/**"},
			from: from, want: "https://myzuul.com:8443/prefix/redirectedUri;someparam?param1=abc",
		},
		"zuul 127 no route": {
			strip: true, from: from, want: from,
		},
		"zuul 128 prefix not stripped": {
			strip: true, route: &routing.RouteSettings{Key: "s", Path: "/prefix/**", StripPrefix: &no},
			from: from, want: "https://myzuul.com:8443/redirectedUri;someparam?param1=abc",
		},
		"zuul 128 empty prefix": {
			strip: true, route: &routing.RouteSettings{Key: "s", Path: "/**"},
			from: from, want: "https://myzuul.com:8443/redirectedUri;someparam?param1=abc",
		},
		"zuul 129 global prefix stripped": {
			prefix: "global", strip: true, route: &routing.RouteSettings{Key: "s", Path: "/prefix/**"},
			from: "http://someserver.com:8564/something/x", want: "https://myzuul.com:8443/global/prefix/something/x",
		},
		"zuul 130 global prefix not stripped": {
			prefix: "/global", route: &routing.RouteSettings{Key: "s", Path: "/prefix/**"},
			from: "http://someserver.com:8564/global/something/x", want: "https://myzuul.com:8443/global/prefix/something/x",
		},
		"nothing stripped": {
			prefix: "/global", route: &routing.RouteSettings{Key: "s", Path: "/prefix/**", StripPrefix: &no},
			from: "http://someserver.com:8564/global/prefix/x", want: "https://myzuul.com:8443/global/prefix/x",
		},
		"zuul 2.9 Q the prefix is not doubled": {
			prefix: "/api", strip: true, route: &routing.RouteSettings{Key: "s", Path: "/foo/**"},
			from: "http://someserver.com:8564/x", want: "https://myzuul.com:8443/api/foo/x",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := filtertest.New(t, "GET https://myzuul.com:8443/prefix/a")
			if test.route != nil {
				s := routing.Settings{Prefix: test.prefix, StripPrefix: test.strip}
				c.Route = routeTo(t, s, *test.route)
				c.ServiceID = "s"
			}
			receive(c, http.StatusFound, "", "Location", test.from)
			s := post.LocationRewriteSettings{Prefix: test.prefix, StripPrefix: test.strip}
			if err := filtertest.Run(t, c, enabled(s)); err != nil {
				t.Fatal(err)
			}
			if got := c.Response.Header.Get("Location"); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestLocationRewriteServiceRoute(t *testing.T) {
	tests := map[string]struct{ from, want string }{
		"zuul 131 a server of the service": {"http://localhost:9001/redirectedUri", "http://localhost:8080/service/redirectedUri"},
		"C058 foreign host":                {"https://login.test/redirectedUri", "https://login.test/redirectedUri"},
	}
	owns := func(service, host string) bool { return service == "service" && host == "localhost:9001" }
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := routeTo(t, routing.DefaultSettings(), routing.RouteSettings{Key: "service", Path: "/service/**"})
			c := filtertest.New(t, "GET http://localhost:8080/service/a", filtertest.Route(r))
			receive(c, http.StatusFound, "", "Location", test.from)
			got := filtertest.Serve(t, c, nil,
				enabled(post.LocationRewriteSettings{StripPrefix: true, Owns: owns}),
				post.SendResponse(post.SendResponseSettings{}))
			if location := got.Header().Get("Location"); got.Code != http.StatusFound || location != test.want {
				t.Errorf("%d to %s", got.Code, location)
			}
		})
	}
}

// The route is /api/** to http://127.0.0.1:9001/, asked for as
// http://g.test:8080/api/x unless a row says otherwise.
func TestLocationRewrite(t *testing.T) {
	forward := func(name, value string) func(*filters.Context) {
		return func(c *filters.Context) { c.Out.Header.Set(name, value) }
	}
	tests := map[string]struct {
		from, want string
		status     int
		base       string
		setUp      []func(*filters.Context)
	}{
		"C058 absolute":           {from: "http://127.0.0.1:9001/login?x=1#f", want: "http://g.test:8080/api/login?x=1#f"},
		"C058 path only":          {from: "/login?x=1", want: "/api/login?x=1"},
		"C058 relative":           {from: "login", want: "login"},
		"C058 network path":       {from: "//127.0.0.1:9001/l", want: "http://g.test:8080/api/l"},
		"C058 foreign host":       {from: "https://other.test/p", want: "https://other.test/p"},
		"C058 empty":              {from: "", want: ""},
		"C058 201":                {from: "http://127.0.0.1:9001/1", want: "http://g.test:8080/api/1", status: 201},
		"another status":          {from: "http://127.0.0.1:9001/1", want: "http://127.0.0.1:9001/1", status: 200},
		"zuul 2.9 Q unknown 3xx":  {from: "/1", want: "/api/1", status: 399},
		"another port is foreign": {from: "http://127.0.0.1:9002/p", want: "http://127.0.0.1:9002/p"},
		"no path":                 {from: "http://127.0.0.1:9001?q", want: "http://g.test:8080/api?q"},
		"credentials are not kept": {
			from: "http://u:p@127.0.0.1:9001/p", want: "http://g.test:8080/api/p",
		},
		"host in another case":     {from: "HTTP://127.0.0.1:9001/p", want: "http://g.test:8080/api/p"},
		"bytes of the path stay":   {from: "http://127.0.0.1:9001/a%2fb/%C3%A9/é//c?%zz", want: "http://g.test:8080/api/a%2fb/%C3%A9/é//c?%zz"},
		"another kind of location": {from: "mailto:a@b", want: "mailto:a@b"},
		"another scheme":           {from: "ftp://127.0.0.1:9001/p", want: "ftp://127.0.0.1:9001/p"},
		"not a URL":                {from: "http://[::1", want: "http://[::1"},
		"path of the URL route":    {from: "http://127.0.0.1:9001/app/p", want: "http://g.test:8080/api/p", base: "/app/"},
		"the URL route itself":     {from: "/app", want: "/api", base: "/app"},
		"outside of the URL route": {from: "/apple", want: "/apple", base: "/app"},
		"C250 no host out of two slashes": {
			from: "/app//evil.test/", want: "/evil.test/", base: "/app",
			setUp: []func(*filters.Context){func(c *filters.Context) { c.Route = &routing.Route{} }},
		},
		"C250 no host out of a backslash": {
			from: `/\evil.test`, want: "/evil.test",
			setUp: []func(*filters.Context){func(c *filters.Context) { c.Route = &routing.Route{} }},
		},
		"the client's Host was passed on": {
			from: "http://g.test:8080/login", want: "http://g.test:8080/api/login",
			setUp: []func(*filters.Context){func(c *filters.Context) { c.Out.Host = "g.test:8080" }},
		},
		"and the upstream knew the prefix": {
			from: "http://g.test:8080/api/login", want: "http://g.test:8080/api/login",
			setUp: []func(*filters.Context){func(c *filters.Context) { c.Out.Host = "g.test:8080" }},
		},
		"a trusted proxy in front": {
			from: "http://127.0.0.1:9001/p", want: "https://shop.test/api/p",
			setUp: []func(*filters.Context){
				forward("X-Forwarded-Proto", "https,http"), forward("X-Forwarded-Host", "shop.test,g.test:8080"),
				forward("X-Forwarded-Port", "443,8080"),
			},
		},
		"a trusted proxy on a port of its own": {
			from: "http://127.0.0.1:9001/p", want: "https://shop.test:9443/api/p",
			setUp: []func(*filters.Context){
				forward("X-Forwarded-Proto", "https"), forward("X-Forwarded-Host", "shop.test"), forward("X-Forwarded-Port", "9443"),
			},
		},
		"what the client itself forwards is not believed": {
			from: "http://127.0.0.1:9001/p", want: "http://g.test:8080/api/p",
			setUp: []func(*filters.Context){func(c *filters.Context) {
				c.Request.Header["X-Forwarded-Host"] = []string{"evil.test"}
				c.Out.Header["X-Forwarded-Host"] = c.Request.Header["X-Forwarded-Host"]
			}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := routeTo(t, routing.DefaultSettings(), routing.RouteSettings{Key: "api", URL: "http://127.0.0.1:9001" + test.base})
			c := filtertest.New(t, "GET http://g.test:8080/api/x", filtertest.Route(r))
			for _, f := range test.setUp {
				f(c)
			}
			if test.status == 0 {
				test.status = http.StatusFound
			}
			receive(c, test.status, "", "Location", test.from)
			if err := filtertest.Run(t, c, enabled(post.LocationRewriteSettings{StripPrefix: true})); err != nil {
				t.Fatal(err)
			}
			if got := c.Response.Header["Location"]; len(got) != 1 || got[0] != test.want {
				t.Errorf("got  %q\nwant %s", got, test.want)
			}
		})
	}
}

func TestLocationRewriteIsOff(t *testing.T) {
	r := routeTo(t, routing.DefaultSettings(), routing.RouteSettings{Key: "api", URL: "http://127.0.0.1:9001"})
	c := filtertest.New(t, "GET http://g.test/api/x", filtertest.Route(r))
	receive(c, http.StatusFound, "", "Location", "/p")
	if err := filtertest.Run(t, c, post.LocationRewrite(post.LocationRewriteSettings{StripPrefix: true})); err != nil {
		t.Fatal(err)
	}
	if got := c.Response.Header.Get("Location"); got != "/p" {
		t.Errorf("rewritten to %s", got)
	}
}

// Whatever an upstream says, the client is never sent to a host that the
// upstream did not name.
func FuzzLocationRewrite(f *testing.F) {
	for _, seed := range []string{
		"/login", "//evil.test/", `/\evil.test`, "http://127.0.0.1:9001/app/p?q#f", "/app//x", "http:/x", "///x", "?q", "#f", "/app/%2f", "http://127.0.0.1:9001",
	} {
		f.Add(seed, "/api/**", "/app")
		f.Add(seed, "/**", "")
	}
	f.Fuzz(func(t *testing.T, location, path, base string) {
		s := routing.DefaultSettings()
		s.Routes = []routing.RouteSettings{{Key: "api", Path: path, URL: "http://127.0.0.1:9001/" + base}}
		table, _ := routing.Build(s, nil)
		if len(table.Routes()) != 1 {
			t.Skip()
		}
		c := filtertest.New(t, "GET http://g.test/api/x", filtertest.Route(table.Routes()[0]))
		receive(c, http.StatusFound, "", "Location", location)
		if err := filtertest.Run(t, c, enabled(post.LocationRewriteSettings{StripPrefix: true})); err != nil {
			t.Fatal(err)
		}
		got := c.Response.Header.Get("Location")
		if got == location {
			return
		}
		u, err := url.Parse(got)
		if err != nil {
			t.Fatalf("%q became %q: %v", location, got, err)
		}
		if u.Host != "" && u.Host != "g.test" || u.Host == "" && strings.HasPrefix(strings.ReplaceAll(got, `\`, "/"), "//") {
			t.Errorf("%q became %q", location, got)
		}
	})
}
