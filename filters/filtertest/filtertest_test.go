package filtertest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/routing"
)

// t lets the examples read like tests.
var t = &exampleT{}

type exampleT struct{ testing.TB }

func (*exampleT) Helper()                  {}
func (*exampleT) Cleanup(func())           {}
func (*exampleT) Context() context.Context { return context.Background() }

// faultyT notes a Fatalf, which ends the goroutine of a real test.
type faultyT struct {
	testing.TB
	message string
}

func (f *faultyT) Helper() {}

func (f *faultyT) Fatalf(format string, args ...any) {
	f.message = fmt.Sprintf(format, args...)
	panic(f)
}

// fatal returns what f reports with Fatalf, empty if it does not.
func fatal(t *testing.T, f func(testing.TB)) (message string) {
	t.Helper()
	tb := &faultyT{TB: t}
	defer func() {
		if v := recover(); v != nil && v != any(tb) {
			panic(v)
		}
		message = tb.message
	}()
	f(tb)
	return ""
}

func TestNewRequest(t *testing.T) {
	type head struct {
		Method, Host, Path, Query string
		TLS                       bool
	}
	tests := map[string]head{
		"GET /users/1?x=2":                 {"GET", "example.com", "/users/1", "x=2", false},
		"DELETE /":                         {"DELETE", "example.com", "/", "", false},
		"GET /a%2Fb?u=http://h/p":          {"GET", "example.com", "/a%2Fb", "u=http://h/p", false},
		"POST https://shop.test:8443/a":    {"POST", "shop.test:8443", "/a", "", true},
		"GET http://[::1]:80?x=1":          {"GET", "[::1]:80", "/", "x=1", false},
		"GET https://shop.test":            {"GET", "shop.test", "/", "", true},
		"PROPFIND http://shop.test/?a://b": {"PROPFIND", "shop.test", "/", "a://b", false},
	}
	for request, want := range tests {
		t.Run(request, func(t *testing.T) {
			c := filtertest.New(t, request)
			got := head{c.Out.Method, c.Request.Host, c.Out.Path, c.Out.Query, c.Request.TLS != nil}
			if diff := cmp.Diff(want, got); diff != "" || c.Err != nil {
				t.Errorf("err %v, -want +got\n%s", c.Err, diff)
			}
		})
	}
}

func TestNewOptions(t *testing.T) {
	route := &routing.Route{ID: "users", ServiceID: "users-service", Retryable: true}
	c := filtertest.New(t, "POST /users",
		filtertest.Header("X-A", "1"), filtertest.Header("x-a", "2"),
		filtertest.Body("hello"), filtertest.RemoteAddr("[2001:db8::1]:9"), filtertest.Route(route))
	body, err := io.ReadAll(c.Out.Body)
	if string(body) != "hello" || c.Out.ContentLength != 5 || err != nil {
		t.Errorf("body %q of length %d, %v", body, c.Out.ContentLength, err)
	}
	if diff := cmp.Diff([]string{"1", "2"}, c.Out.Header["X-A"]); diff != "" {
		t.Errorf("X-A: %s", diff)
	}
	if c.Request.RemoteAddr != "[2001:db8::1]:9" {
		t.Errorf("remote address %q", c.Request.RemoteAddr)
	}
	if c.Route != route || c.ServiceID != "users-service" || !c.Retryable {
		t.Errorf("route %v, service %q, retryable %v", c.Route, c.ServiceID, c.Retryable)
	}
}

func TestNewUnsafePathFails(t *testing.T) {
	c := filtertest.New(t, "GET /a/..%2Fb")
	got := filtertest.Serve(t, c, http.NotFoundHandler())
	if !errors.Is(c.Err, routing.ErrUnsafePath) || got.Code != http.StatusBadRequest {
		t.Errorf("err %v, status %d", c.Err, got.Code)
	}
}

func TestServe(t *testing.T) {
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Connection", "X-Hop")
		w.Header().Set("X-Hop", "1")
		fmt.Fprintf(w, "%s %s %s cookie=%q body=%q", r.Method, r.Host, r.RequestURI, r.Header.Get("Cookie"), body)
	})
	fail := func(phase filters.Phase, err error) filters.Spec {
		return filters.Func("Fail", phase, 1, func(*filters.Context) error { return err })
	}
	tests := map[string]struct {
		spec   filters.Spec
		status int
		body   string
	}{
		"as it came": {
			filters.Func("F", filters.Pre, 1, func(*filters.Context) error { return nil }),
			200, `POST upstream.test /a?b cookie="s=1" body="hi"`,
		},
		"ignored": {
			filters.Func("F", filters.Pre, 1, func(c *filters.Context) error { c.IgnoreHeaders("cookie"); return nil }),
			200, `POST upstream.test /a?b cookie="" body="hi"`,
		},
		"another URL and host": {
			filters.Func("F", filters.Pre, 1, func(c *filters.Context) error {
				c.Out.URL, c.Out.Query, c.Out.ForceQuery = &url.URL{Host: "h.test", Path: "/base"}, "", true
				return nil
			}),
			200, `POST h.test /base/a? cookie="s=1" body="hi"`,
		},
		"host": {
			filters.Func("F", filters.Pre, 1, func(c *filters.Context) error { c.Out.Host = "own.test"; return nil }),
			200, `POST own.test /a?b cookie="s=1" body="hi"`,
		},
		"answered": {
			filters.Func("F", filters.Pre, 1, func(c *filters.Context) error {
				c.Respond(http.StatusTeapot, nil, strings.NewReader("tea"))
				return nil
			}),
			418, "tea",
		},
		"refused":      {fail(filters.Pre, filters.Refuse(429, "slow down")), 429, "slow down"},
		"failed":       {fail(filters.Post, errors.New("boom")), 500, "post:Fail: boom"},
		"no one's":     {filters.Func("F", filters.Route, 20, func(c *filters.Context) error { c.Response = nil; return nil }), 404, ""},
		"wrote itself": {filters.Func("F", filters.Post, 1, func(c *filters.Context) error { c.Writer().WriteHeader(204); return nil }), 204, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := filtertest.New(t, "POST /a?b", filtertest.Header("Cookie", "s=1"), filtertest.Body("hi"))
			got := filtertest.Serve(t, c, echo, test.spec)
			if got.Code != test.status || got.Body.String() != test.body {
				t.Errorf("got %d %s, want %d %s", got.Code, got.Body, test.status, test.body)
			}
			if got.Header().Get("X-Hop") != "" {
				t.Error("a hop-by-hop field passed")
			}
		})
	}
}

func TestMisuseIsFatal(t *testing.T) {
	tests := map[string]struct {
		misuse func(testing.TB)
		want   string
	}{
		"no method": {
			func(tb testing.TB) {
				tb.Helper()
				filtertest.New(tb, "/users")
			},
			`filtertest: "/users" is not a method and a target`,
		},
		"two filters of one name": {
			func(tb testing.TB) {
				tb.Helper()
				_ = filtertest.Run(tb, filtertest.New(t, "GET /"), apiKey, apiKey)
			},
			`filtertest: filters: two filters are named "ApiKeyFilter" in phase "pre"`,
		},
		"settings of another type": {
			func(tb testing.TB) {
				tb.Helper()
				_ = filtertest.Run(tb, filtertest.New(t, "GET /"), filtertest.Configured(banner, 7))
			},
			"filtertest: filters: BannerFilter: filtertest: the filter decodes into *filtertest_test.bannerSettings, not into a pointer to int",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := fatal(t, test.misuse); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}
