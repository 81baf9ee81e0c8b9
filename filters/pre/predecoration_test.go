package pre_test

import (
	"errors"
	"net/http"
	"net/url"
	"testing"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/filters/pre"
	"github.com/gozer-gateway/gozer/routing"
)

func TestPreDecorationTargets(t *testing.T) {
	prefix := func(p string) func(*routing.Settings) {
		return func(s *routing.Settings) { s.Prefix = p }
	}
	foo := func(location string, strip bool) routing.RouteSettings {
		return routing.RouteSettings{Key: "foo", Path: "/foo/**", ServiceID: location, StripPrefix: &strip}
	}
	tests := []struct {
		name    string
		change  func(*routing.Settings)
		route   routing.RouteSettings
		request string

		routed                      bool
		path, service, url, forward string
	}{
		{"zuul 9 prefix stripped, route not", prefix("/api"), foo("foo", false), "GET /api/foo/1", true, "/foo/1", "foo", "", ""},
		{"zuul 15 encoded slash", prefix("/api"), foo("foo", false), "GET /api/foo/encoded%2Fpath", true, "/foo/encoded%2Fpath", "foo", "", ""},
		{"zuul 16 forward", prefix("/api"), foo("forward:/foo", true), "GET /api/foo/1", true, "/1", "", "", "/foo/1"},
		{"zuul 17 forward, route not stripped", nil, foo("forward:/bar", false), "GET /foo/1", true, "/foo/1", "", "", "/bar/foo/1"},
		{"zuul 18 both stripped", prefix("/api"), foo("foo", true), "GET /api/foo/1", true, "/1", "foo", "", ""},
		{"zuul 19 no route", prefix("/api"), foo("foo", true), "GET /api/bar/1", false, "/api/bar/1", "", "", "/api/bar/1"},
		{
			"zuul 31 bytes as received", prefix("/api"), foo("foo", true),
			"GET /api/foo/ol%C3%A9%D7%93%D7%A8%D7%A2%D7%A7", true, "/ol%C3%A9%D7%93%D7%A8%D7%A2%D7%A7", "foo", "", "",
		},
		{"url", nil, foo("https://h.test/base", true), "GET /foo/1?x=2", true, "/1", "", "https://h.test/base", ""},
		{"nothing left", nil, foo("foo", true), "GET /foo", true, "", "foo", "", ""},
		{"nothing left of a forward", nil, foo("forward:/3rd", true), "GET /foo", true, "", "", "", "/3rd"},
		{"no route, doubled slashes", nil, foo("foo", true), "GET //bar///1", false, "//bar///1", "", "", "/bar/1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := filtertest.New(t, test.request)
			err := filtertest.Run(t, c, pre.PreDecoration(pre.Settings{Table: table(t, test.change, test.route)}))
			if err != nil {
				t.Fatal(err)
			}
			target := ""
			if c.Out.URL != nil {
				target = c.Out.URL.String()
			}
			if c.Out.Path != test.path || c.ServiceID != test.service || target != test.url || c.ForwardTo != test.forward {
				t.Errorf("path %q, service %q, URL %q, forward %q", c.Out.Path, c.ServiceID, target, c.ForwardTo)
			}
			if routed := c.Route != nil && c.Route.ID == "foo"; routed != test.routed {
				t.Errorf("route %v", c.Route)
			}
		})
	}
}

func TestPreDecorationStandsAside(t *testing.T) {
	decided := &url.URL{Scheme: "http", Host: "h.test"}
	tests := map[string]func(*filters.Context){
		"zuul 24 service chosen": func(c *filters.Context) { c.ServiceID = "other" },
		"zuul 25 forward chosen": func(c *filters.Context) { c.ForwardTo = "/other" },
		"URL chosen":             func(c *filters.Context) { c.Out.URL = decided },
		"answered":               func(c *filters.Context) { c.Respond(http.StatusNoContent, nil, nil) },
	}
	for name, decide := range tests {
		t.Run(name, func(t *testing.T) {
			c := filtertest.New(t, "GET /api/1")
			decide(c)
			if build(t, pre.Settings{Table: users(t)}).ShouldFilter(c) {
				t.Error("it would run")
			}
		})
	}
	if !build(t, pre.Settings{Table: users(t)}).ShouldFilter(filtertest.New(t, "GET /api/1")) {
		t.Error("it does not run for an ordinary request")
	}
}

func TestPreDecorationRetryable(t *testing.T) {
	routes := table(t, func(s *routing.Settings) { s.Retryable = true },
		routing.RouteSettings{Key: "a"}, routing.RouteSettings{Key: "b", Retryable: new(false)})
	for request, want := range map[string]bool{"GET /a/1": true, "GET /b/1": false} {
		c := filtertest.New(t, request)
		if err := filtertest.Run(t, c, pre.PreDecoration(pre.Settings{Table: routes})); err != nil {
			t.Fatal(err)
		}
		if c.Retryable != want {
			t.Errorf("%s: retryable is %v", request, c.Retryable)
		}
	}
}

func TestUnsafeRequestsAreRefused(t *testing.T) {
	routes := table(t, nil, routing.RouteSettings{Key: "admin"}, routing.RouteSettings{Key: "api"})
	tests := map[string]string{
		"zuul 33 semicolon":            "/api/..;/admin/index",
		"zuul 33 backslash":            `/api/..\admin/index`,
		"zuul 34 backslash":            "/%27%2Fapi%2F..%5Cadmin%2Findex%27",
		"zuul 34 slashes":              "/%27%2Fapi%2F..%2F%2Fadmin%2Findex%27",
		"zuul 35 semicolon, twice":     "/%2527%252Fapi%252F..%253B%252Fadmin",
		"zuul 35 backslash, twice":     "/%2527%252Fapi%252F..%255Cadmin",
		"zuul 35 slashes, twice":       "/%2527%252Fapi%252F..%252F%252Fadmin",
		"zuul 36 a URL":                "/http:////admin.index'",
		"cut at an encoded slash":      "/api%2F1",
		"cut at an encoded slash last": "/api%2F",
	}
	for name, path := range tests {
		t.Run(name, func(t *testing.T) {
			c := filtertest.New(t, "GET "+path)
			err := filtertest.Run(t, c, pre.PreDecoration(pre.Settings{Table: routes}))
			refused, ok := errors.AsType[*filters.StatusError](err)
			if !ok || refused.Status != http.StatusBadRequest || !errors.Is(err, routing.ErrUnsafePath) {
				t.Errorf("got %v", err)
			}
			if c.Route != nil || c.ServiceID != "" {
				t.Errorf("decided for route %v, service %q", c.Route, c.ServiceID)
			}
		})
	}
	t.Run("zuul 33 dot segments are resolved before matching", func(t *testing.T) {
		c := filtertest.New(t, "GET /api/..//admin/index")
		if err := filtertest.Run(t, c, pre.PreDecoration(pre.Settings{Table: routes})); err != nil {
			t.Fatal(err)
		}
		if c.ServiceID != "admin" {
			t.Errorf("goes to %q", c.ServiceID)
		}
	})
}

func TestControlHeadersDecideNothing(t *testing.T) {
	t.Run("gateway C246", func(t *testing.T) {
		c := filtertest.New(t, "GET /api/1?debug=true",
			filtertest.Header("X-Zuul-Service", "http://127.0.0.1:9002"), filtertest.Header("X-Zuul-ServiceId", "other"),
			filtertest.Header("X-Override-Url", "http://127.0.0.1:9002"), filtertest.Header("X-Original-Url", "/admin"),
			filtertest.Header("X-Rewrite-Url", "/admin"), filtertest.Header("X-Forwarded-Host", "127.0.0.1:9002"))
		if err := filtertest.Run(t, c, pre.PreDecoration(pre.Settings{Table: users(t)})); err != nil {
			t.Fatal(err)
		}
		if c.ServiceID != "users" || c.Out.URL != nil || c.Out.Host != "" || c.Out.Path != "/1" {
			t.Errorf("service %q, URL %v, host %q, path %q", c.ServiceID, c.Out.URL, c.Out.Host, c.Out.Path)
		}
	})
}

func TestHostField(t *testing.T) {
	settings := pre.Settings{Table: users(t), AddHostHeader: true}
	t.Run("sent upstream with add-host-header", func(t *testing.T) {
		for request, want := range map[string]string{
			"GET http://localhost:8080/api/1": "localhost:8080", // zuul 8
			"GET http://g.test:80/api/1":      "g.test",
			"GET http://g.test:443/api/1":     "g.test:443",
			"GET https://g.test:443/api/1":    "g.test",
			"GET http://[::1]:8080/api/1":     "[::1]:8080",
		} {
			if got := upstreamSees(t, filtertest.New(t, request), pre.PreDecoration(settings)).Host; got != want {
				t.Errorf("%s: host %q, want %q", request, got, want)
			}
		}
	})
	t.Run("not sent without", func(t *testing.T) {
		c := filtertest.New(t, "GET http://g.test/api/1")
		if got := upstreamSees(t, c, pre.PreDecoration(pre.Settings{Table: users(t)})).Host; got == "g.test" {
			t.Errorf("host %q", got)
		}
	})
	t.Run("a filter's own host stays", func(t *testing.T) {
		own := filters.Func("Own", filters.Pre, 4, func(c *filters.Context) error { c.Out.Host = "own.test"; return nil })
		if got := upstreamSees(t, filtertest.New(t, "GET /api/1"), own, pre.PreDecoration(settings)).Host; got != "own.test" {
			t.Errorf("host %q", got)
		}
	})
	for _, host := range []string{"a b", "g.test/evil", "g.test:80:80", "[::1", "g.test@evil", "g.test:99999", ":80"} {
		t.Run("gateway C039 "+host, func(t *testing.T) {
			c := filtertest.New(t, "GET /api/1")
			c.Request.Host = host
			refused, ok := errors.AsType[*filters.StatusError](filtertest.Run(t, c, pre.PreDecoration(settings)))
			if !ok || refused.Status != http.StatusBadRequest || c.ServiceID != "" {
				t.Errorf("got %v, service %q", c.Err, c.ServiceID)
			}
		})
	}
	t.Run("gateway C039 HTTP/1.0 without Host", func(t *testing.T) {
		c := filtertest.New(t, "GET /api/1")
		c.Request.Host = ""
		if err := filtertest.Run(t, c, pre.PreDecoration(settings)); err != nil || c.ServiceID != "users" {
			t.Errorf("got %v, service %q", err, c.ServiceID)
		}
	})
}
