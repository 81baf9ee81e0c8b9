package routing_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/routing"
)

func TestLocate(t *testing.T) {
	for _, tc := range []struct {
		name    string
		change  func(*routing.Settings)
		routes  []routing.RouteSettings
		request string
		want    string
	}{
		{"zuul 18 prefix and strip", prefixed("/api", true), []routing.RouteSettings{route("foo", "/foo/**", "foo")}, "/api/foo/1", "foo /1"},
		{"zuul 9 prefix only", prefixed("/api", true), []routing.RouteSettings{kept("foo", "/foo/**", "foo")}, "/api/foo/1", "foo /foo/1"},
		{"zuul 11 nothing", prefixed("", false), []routing.RouteSettings{kept("foo", "/api/foo/**", "foo")}, "/api/foo/1", "foo /api/foo/1"},
		{"zuul 15 encoded slash", prefixed("/api", true), []routing.RouteSettings{kept("foo", "/foo/**", "foo")}, "/api/foo/encoded%2Fpath", "foo /foo/encoded%2Fpath"},
		{"zuul 19 no route", prefixed("/api", true), []routing.RouteSettings{route("foo", "/foo/**", "foo")}, "/api/bar/1", "-"},
		{"zuul 31 UTF-8", prefixed("/api", true), []routing.RouteSettings{route("foo", "/foo/**", "foo")}, "/api/foo/ol%C3%A9%D7%93", "foo /ol%C3%A9%D7%93"},
		{"zuul 32 not the first of two", nil, []routing.RouteSettings{kept("admin", "/admin/**", ""), kept("api", "/api/**", "")}, "/api/admin/index", "api /api/admin/index"},

		{"zuul 38 shorthand", nil, []routing.RouteSettings{{Key: "foo", Path: "/foo/**"}}, "/foo/1", "foo /1"},
		{"zuul 39 prefix", prefixed("/proxy", true), []routing.RouteSettings{{Key: "foo", Path: "/foo/**"}}, "/proxy/foo/1", "foo /1"},
		{"zuul 42 neither stripped", prefixed("/proxy", false), []routing.RouteSettings{kept("foo", "/foo/**", "")}, "/proxy/foo/1", "foo /proxy/foo/1"},
		{"zuul 43 route stripped", prefixed("/proxy", false), []routing.RouteSettings{route("foo", "/foo/**", "")}, "/proxy/foo/1", "foo /proxy/1"},
		{"zuul 44 prefix stripped", prefixed("/proxy", true), []routing.RouteSettings{kept("foo", "/foo/**", "")}, "/proxy/foo/1", "foo /foo/1"},

		{"zuul 47 other ignored", ignoring("/foo/**"), []routing.RouteSettings{route("bar", "/bar/**", "")}, "/bar/1", "bar /1"},
		{"zuul 48 ignored", ignoring("/foo/**"), []routing.RouteSettings{route("foo", "/foo/**", "")}, "/foo/1", "-"},
		{"zuul 49 ignored without prefix", both(ignoring("/foo/**"), prefixed("/proxy", true)), []routing.RouteSettings{route("foo", "/foo/**", "")}, "/proxy/foo/1", "foo /1"},
		{"zuul 50 ignored with prefix", both(ignoring("/proxy/foo/**"), prefixed("/proxy", true)), []routing.RouteSettings{route("foo", "/foo/**", "")}, "/proxy/foo/1", "-"},
		{"zuul 50 ignored with kept prefix", both(ignoring("/proxy/foo/**"), prefixed("/proxy", false)), []routing.RouteSettings{kept("foo", "/foo/**", "")}, "/proxy/foo/1", "-"},
		{"zuul 72 ignored all", ignoring("/p1/**"), []routing.RouteSettings{route("p1", "/p1/**", "")}, "/p1", "-"},
		{"zuul 72 ignored with slash", ignoring("/p1/**/p3/"), []routing.RouteSettings{route("p1", "/p1/**", "")}, "/p1/p2/p3", "-"},
		{"zuul 72 ignored deep", ignoring("/p1/**/p4/"), []routing.RouteSettings{route("p1", "/p1/**", "")}, "/p1/p2/p3/p4", "-"},
		{"ignored without slash", ignoring(" foo/**"), []routing.RouteSettings{route("foo", "/foo/**", "")}, "/foo/1", "-"},
		{"ignored behind an encoding", ignoring("/foo/**"), []routing.RouteSettings{route("all", "/**", "")}, "/%66oo%2F1", "-"},
		{"C243 ignored is not a prefix", ignoring("/public"), []routing.RouteSettings{route("all", "/**", "")}, "/publicity", "all /publicity"},

		{"zuul 70 URL shorthand", nil, []routing.RouteSettings{{Key: "other", ID: "test", Path: "/test/**", URL: "http://localhost:7777/local"}}, "/test/1", "test /1"},
		{"zuul 73 slash", nil, []routing.RouteSettings{route("foo", "/foo/**", "")}, "/foo/", "foo /"},
		{"zuul 73 root", nil, []routing.RouteSettings{route("all", "/**", "")}, "/", "all /"},
		{"C006 dots leave the route", nil, []routing.RouteSettings{kept("open", "/open/**", ""), kept("adm", "/admin/**", "")}, "/open/%2e%2e/admin/x", "adm /admin/x"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := settings(tc.routes...)
			if tc.change != nil {
				tc.change(&s)
			}
			check(t, build(t, s), tc.request, tc.want)
		})
	}
}

func prefixed(prefix string, strip bool) func(*routing.Settings) {
	return func(s *routing.Settings) { s.Prefix, s.StripPrefix = prefix, strip }
}

func ignoring(patterns ...string) func(*routing.Settings) {
	return func(s *routing.Settings) { s.IgnoredPatterns = patterns }
}

func both(a, b func(*routing.Settings)) func(*routing.Settings) {
	return func(s *routing.Settings) { a(s); b(s) }
}

func TestDiscovery(t *testing.T) {
	version, err := routing.NewPatternServiceRouteMapper(`(?<name>.*)-(?<version>v.*$)`, "${version}/${name}")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name     string
		change   func(*routing.Settings)
		routes   []routing.RouteSettings
		services []string
		want     []string // "<full path> <location>"
	}{
		{"zuul 51 prefix", prefixed("/foo", true), []routing.RouteSettings{route("aservice", "", "")}, nil, []string{"/foo/aservice/** aservice"}},
		{"zuul 52 URL", nil, []routing.RouteSettings{route("aservice", "", "http://aservice")}, nil, []string{"/aservice/** http://aservice"}},
		{"zuul 53 catch-all", nil, []routing.RouteSettings{route("aservice", "/**", "")}, nil, []string{"/** aservice"}},
		{"zuul 54 ignored", ignoringServices("ignoredservice"), nil, []string{"ignoredservice"}, nil},
		{"zuul 54 ignored by prefix", ignoringServices("ignore*"), nil, []string{"ignoredservice"}, nil},
		{"zuul 54 all ignored", ignoringServices("*"), nil, []string{"ignoredservice"}, nil},
		{"zuul 55 static stays", ignoringServices("*"), []routing.RouteSettings{route("foo", "", "")}, []string{"foo"}, []string{"/foo/** foo"}},
		{"zuul 56 static catch-all stays", ignoringServices("*"), []routing.RouteSettings{route("foo", "/**", "")}, []string{"foo"}, []string{"/** foo"}},
		{"zuul 57 static URL stays", ignoringServices("*"), []routing.RouteSettings{route("foo", "", "http://www.foo.com/")}, []string{"bar"}, []string{"/foo/** http://www.foo.com/"}},
		{"zuul 58 discovered", nil, nil, []string{"myservice"}, []string{"/myservice/** myservice"}},
		{"zuul 59 static wins", nil, []routing.RouteSettings{route("myservice", "", "https://example.com/myservice")}, []string{"myservice"}, []string{"/myservice/** https://example.com/myservice"}},
		{"zuul 60 itself", itself(true), nil, []string{"myservice"}, nil},
		{"zuul 60 itself wanted", itself(false), nil, []string{"myservice"}, []string{"/myservice/** myservice"}},
		{"zuul 61 mapped", mapped(version), nil, []string{"rest-service-v1", "myservice"}, []string{"/v1/rest-service/** rest-service-v1", "/myservice/** myservice"}},
		{"zuul 66 prefix", prefixed("/test/", true), nil, []string{"testservicea"}, []string{"/test/testservicea/** testservicea"}},
		{"two paths", nil, []routing.RouteSettings{route("users", "/u/**", "")}, []string{"users"}, []string{"/u/** users", "/users/** users"}},
		{"discovery order", nil, nil, []string{"b", "a", "b", ""}, []string{"/b/** b", "/a/** a"}},
		{"C203 padded", ignoringServices(" * "), nil, []string{"internal-admin"}, nil},
		{"C203 quoted", ignoringServices("'*'"), nil, []string{"internal-admin"}, nil},
		{"C203 upper case", ignoringServices("INTERNAL-*"), nil, []string{"internal-admin", "Internal-X", "users"}, []string{"/users/** users"}},
		{"inner wildcard", ignoringServices("a*c", "*x", "*mid*"), nil, []string{"abc", "yx", "amidst", "ab"}, []string{"/ab/** ab"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := settings(tc.routes...)
			if tc.change != nil {
				tc.change(&s)
			}
			var got []string
			for _, r := range build(t, s, tc.services...).Routes() {
				got = append(got, r.FullPath+" "+r.Location)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDiscoveredRoute(t *testing.T) {
	s := settings()
	s.Retryable = true
	r := build(t, s, "users").Routes()[0]
	if !r.Discovered || !r.StripPrefix || !r.Retryable || r.ID != "users" || r.ServiceID != "users" || r.Kind != routing.KindService {
		t.Errorf("got %+v", r)
	}
}

// A registration must not be able to take over paths that are not its own.
func TestHostileServiceIDs(t *testing.T) {
	table, problems := routing.Build(settings(), []string{"**", "a*", "{x}", "?", "http://h", "..", "/", "good"})
	if diff := cmp.Diff([]string{"/good/**"}, fullPaths(table)); diff != "" {
		t.Error(diff)
	}
	if len(problems) != 7 {
		t.Errorf("got %d problems: %v", len(problems), problems)
	}
	for _, p := range problems {
		if p.Fatal {
			t.Errorf("fatal: %v", p)
		}
	}
}

func ignoringServices(names ...string) func(*routing.Settings) {
	return func(s *routing.Settings) { s.IgnoredServices = names }
}

func itself(ignore bool) func(*routing.Settings) {
	return func(s *routing.Settings) { s.LocalService, s.IgnoreLocalService = "MYSERVICE", ignore }
}

func mapped(m routing.ServiceRouteMapper) func(*routing.Settings) {
	return func(s *routing.Settings) { s.Mapper = m }
}

func TestPatternServiceRouteMapper(t *testing.T) {
	const domain = `(?<domain>^\w+)(-(?<name>\w+)|)-(?<version>v\w+$)`
	for _, tc := range []struct{ name, service, route, id, want string }{
		{"zuul 62 three groups", domain, "${version}/${domain}/${name}", "rest-service-v1", "v1/rest/service"},
		{"zuul 63 no match", domain, "${version}/${domain}/${name}", "rest-service", "rest-service"},
		{"zuul 64 slashes and an idle group", domain, "/${version}//${domain}//${name}/", "domain-v1", "v1/domain"},
		{"zuul 65 path", domain, "${version}/${domain}/${name}", "domain-service-v1", "v1/domain/service"},
		{"Python's group syntax", `(?P<a>.*)-(?P<b>.*)`, "${b}/${a}", "x-y", "y/x"},
		{"first match only, the rest stays", `b`, "/", "abcb", "a/cb"},
		{"nothing left", `.*`, "//", "abc", "abc"},
		{"group next to text", `b(?<x>c)`, "-${x}${x}", "abcd", "a-ccd"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, err := routing.NewPatternServiceRouteMapper(tc.service, tc.route)
			if err != nil {
				t.Fatal(err)
			}
			if got := m.Apply(tc.id); got != tc.want {
				t.Errorf("Apply(%q) = %q, want %q", tc.id, got, tc.want)
			}
		})
	}
}

func TestPatternServiceRouteMapperRefuses(t *testing.T) {
	for _, tc := range [][2]string{{"(", "x"}, {"(?<a>x)", "${b}"}, {"(?<a>x)(y)", "${}"}, {"x", "${a}"}, {"(x)", "$1"}} {
		if m, err := routing.NewPatternServiceRouteMapper(tc[0], tc[1]); err == nil {
			t.Errorf("%q: got %v", tc, m)
		}
	}
}
