package routing_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/routing"
)

// route is a route in map form: key, path and target.
func route(key, path, location string) routing.RouteSettings {
	return routing.RouteSettings{Key: key, Path: path, ServiceID: location}
}

// kept is route with strip-prefix: false.
func kept(key, path, location string) routing.RouteSettings {
	r := route(key, path, location)
	r.StripPrefix = new(bool)
	return r
}

// settings are the defaults with these routes.
func settings(routes ...routing.RouteSettings) routing.Settings {
	s := routing.DefaultSettings()
	s.Routes = routes
	return s
}

// build fails the test on any problem.
func build(t *testing.T, s routing.Settings, services ...string) *routing.Table {
	t.Helper()
	table, problems := routing.Build(s, services)
	for _, p := range problems {
		t.Fatalf("Build: %v", p)
	}
	return table
}

// answer is "<route id> <local path>", "-" when there is no route, "unsafe" when it cannot be forwarded.
func answer(t *testing.T, table *routing.Table, raw string) string {
	t.Helper()
	m, found := table.Match(parse(t, raw, usual))
	switch {
	case !found:
		return "-"
	case m.Err != nil:
		if !errors.Is(m.Err, routing.ErrUnsafePath) {
			t.Errorf("Match(%q): %v is no ErrUnsafePath", raw, m.Err)
		}
		return "unsafe"
	}
	return strings.TrimSpace(m.Route.ID + " " + m.Path)
}

func check(t *testing.T, table *routing.Table, raw, want string) {
	t.Helper()
	if got := answer(t, table, raw); got != want {
		t.Errorf("%s: got %q, want %q", raw, got, want)
	}
}

// The table of spec 3.6.
func TestStripping(t *testing.T) {
	for _, tc := range []struct {
		name, prefix string
		global       bool
		route        routing.RouteSettings
		request      string
		want         string
		forwarded    string
	}{
		{"one segment", "", true, route("r", "/users/**", ""), "/users/101", "/101", "/users"},
		{"slash left", "", true, route("r", "/users/**", ""), "/users/", "/", "/users"},
		{"nothing left", "", true, route("r", "/users/**", ""), "/users", "", "/users"},
		{"first occurrence only", "", true, route("r", "/users/**", ""), "/users/a/users/b", "/a/users/b", "/users"},
		{"route keeps", "", true, kept("r", "/users/**", ""), "/users/101", "/users/101", ""},
		{"star", "", true, route("r", "/users/*", ""), "/users/7", "/7", "/users"},
		{"catch-all", "", true, route("r", "/**", ""), "/a/b", "/a/b", ""},
		{"up to the first wildcard", "", true, route("r", "/api/*/users/**", ""), "/api/v1/users/2", "/v1/users/2", "/api"},
		{"no wildcard", "", true, route("r", "/exact", ""), "/exact", "/exact", ""},
		{"wildcard in the segment", "", true, route("r", "/users*", ""), "/users1", "/users1", ""},
		{"wildcard in the second segment", "", true, route("r", "/a/users*", ""), "/a/users1", "/users1", "/a"},
		{"variable without star", "", true, route("r", "/x/{id}", ""), "/x/5", "/x/5", ""},
		{"variable and star", "", true, route("r", "/x/{id}/**", ""), "/x/5/6", "/5/6", "/x"},
		{"two segments", "", true, route("r", "/a/b/**", ""), "/a/b/c", "/c", "/a/b"},

		{"both", "/api", true, route("r", "/users/**", ""), "/api/users/1", "/1", "/api/users"},
		{"global only", "/api", true, kept("r", "/users/**", ""), "/api/users/1", "/users/1", "/api"},
		{"route only", "/api", false, route("r", "/users/**", ""), "/api/users/1", "/api/1", "/api/users"},
		{"neither", "/api", false, kept("r", "/users/**", ""), "/api/users/1", "/api/users/1", ""},
		{"global and catch-all", "/api", true, route("r", "/**", ""), "/api/a", "/a", "/api"},
		{"global and nothing left", "/api", true, route("r", "/**", ""), "/api", "", "/api"},
		{"prefix with slash at the end", "/api/", true, route("r", "/users/**", ""), "/api/users/1", "/1", "/api/users"},
		{"prefix without slash", "api", true, route("r", "/users/**", ""), "/api/users/1", "/1", "/api/users"},
		{"prefix of two segments", "/a/b", true, route("r", "/users/**", ""), "/a/b/users/1", "/1", "/a/b/users"},
		{"path without slash", "", true, route("r", "users/**", ""), "/users/1", "/1", "/users"},

		{"slashes kept", "", true, route("r", "/api/**", ""), "//api//k//l/", "//k//l/", "/api"},
		{"slashes within the prefix", "", true, route("r", "/a/b/**", ""), "/a//b/c", "/c", "/a/b"},
		{"slashes before what stays", "/api", false, route("r", "/users/**", ""), "//api//users//1", "//api//1", "/api/users"},
		{"escaped prefix", "", true, route("r", "/api/**", ""), "/%61pi/%78", "/%78", "/api"},
		{"encoded slash in the prefix", "", true, route("r", "/a/b/**", ""), "/a%2Fb/c", "/c", "/a/b"},
		{"encoded slash behind the cut", "", true, route("r", "/a/**", ""), "/a/%2Fb", "/%2Fb", "/a"},
	} {
		t.Run("zuul 3.6 "+tc.name, func(t *testing.T) {
			s := settings(tc.route)
			s.Prefix, s.StripPrefix = tc.prefix, tc.global
			m, found := build(t, s).Match(parse(t, tc.request, usual))
			if !found || m.Err != nil {
				t.Fatalf("found %v, err %v", found, m.Err)
			}
			if m.Path != tc.want || m.Route.ForwardedPrefix != tc.forwarded {
				t.Errorf("path %q, X-Forwarded-Prefix %q; want %q, %q", m.Path, m.Route.ForwardedPrefix, tc.want, tc.forwarded)
			}
		})
	}
}

func TestStrippingAtAnEncodedSlash(t *testing.T) {
	table := build(t, settings(route("r", "/users/**", ""), kept("k", "/kept/**", "")))
	check(t, table, "/users%2F1", "unsafe")
	check(t, table, "/kept%2F1", "k /kept%2F1")

	s := settings(route("r", "/users/**", ""))
	s.Prefix, s.StripPrefix = "/api", false
	check(t, build(t, s), "/api%2Fusers/1", "unsafe")
}

func TestStrippingKeepsParameters(t *testing.T) {
	table := build(t, settings(route("self", "/self/**", "")))
	for raw, want := range map[string]string{
		"/self/matrix/my;q=2;p=1/more;x=2": "/matrix/my;q=2;p=1/more;x=2",
		"/self;v=1/x":                      "/x",
		"/self;v=%2F":                      "",
		"/;a/self/x":                       "/x",
	} {
		m, found := table.Match(parse(t, raw, routing.PathOptions{}))
		if !found || m.Err != nil || m.Path != want {
			t.Errorf("zuul 94 %s: %q, found %v, err %v; want %q", raw, m.Path, found, m.Err, want)
		}
	}
}

func TestPrefixIsWholeSegments(t *testing.T) {
	s := settings(route("api", "/api/**", ""), route("rest", "/**", ""))
	s.Prefix = "/v1"
	table := build(t, s)
	for raw, want := range map[string]string{
		"/v1/api/x": "api /x", "/v1/apiary/x": "rest /apiary/x", "/api/x": "-", "/v12/api/x": "-",
	} {
		t.Run("C011 "+raw, func(t *testing.T) { check(t, table, raw, want) })
	}
}

func TestJoinURLPath(t *testing.T) {
	for _, tc := range []struct{ name, base, local, want string }{
		{"C009 no base", "", "", "/"},
		{"C009 base", "/base", "", "/base"},
		{"C009 base with slash", "/base/", "", "/base/"},
		{"C010 one slash lost", "/base/", "/k", "/base/k"},
		{"C010 the client's slashes stay", "/base/", "//k//l/", "/base//k//l/"},
		{"C010 URL", "/base/", "/https://x.test/y", "/base/https://x.test/y"},
		{"zuul 3.6 root", "/", "/x", "/x"},
		{"no base", "", "//x", "//x"},
		{"slash gained", "/base", "x", "/base/x"},
		{"slash of the base", "/base/", "x", "/base/x"},
		{"zuul 3.6 base", "/app", "/1", "/app/1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := routing.JoinURLPath(tc.base, tc.local); got != tc.want {
				t.Errorf("JoinURLPath(%q, %q) = %q, want %q", tc.base, tc.local, got, tc.want)
			}
		})
	}
}

func TestForward(t *testing.T) {
	for _, tc := range []struct {
		name, prefix, raw, want string
		route                   routing.RouteSettings
	}{
		{"zuul 16 prefix", "/api", "/api/foo/1", "/foo/1", route("foo", "/foo/**", "forward:/foo")},
		{"zuul 17 route keeps", "", "/foo/1", "/bar/foo/1", kept("foo", "/foo/**", "forward:/bar")},
		{"zuul 3.7", "", "/third/foo", "/3rd/foo", route("third", "/third/**", "forward:/3rd")},
		{"zuul 3.7 dots", "", "/third/foo//x", "/3rd/foo/x", route("third", "/third/**", "forward:/a/../3rd")},
		{"no slash", "", "/third/%20", "/3rd/%20", route("third", "/third/**", "forward:3rd")},
		{"slashes", "", "/third", "/3rd/", route("third", "/third/**", "FORWARD://3rd//")},
		{"empty", "", "/third", "/", route("third", "/third/**", "forward:")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := settings(tc.route)
			s.Prefix = tc.prefix
			m, found := build(t, s).Match(parse(t, tc.raw, usual))
			if !found || m.Route.Kind != routing.KindForward {
				t.Fatalf("found %v: %+v", found, m.Route)
			}
			if got := m.ForwardPath(); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestZeroTable(t *testing.T) {
	check(t, &routing.Table{}, "/x", "-")
}

func TestRoutesBelongToTheCaller(t *testing.T) {
	table := build(t, settings(route("a", "/a/**", ""), route("b", "/b/**", "")))
	table.Routes()[0] = nil
	if diff := cmp.Diff([]string{"/a/**", "/b/**"}, fullPaths(table)); diff != "" {
		t.Error(diff)
	}
}

func fullPaths(table *routing.Table) []string {
	var paths []string
	for _, r := range table.Routes() {
		paths = append(paths, r.FullPath)
	}
	return paths
}
