package routing_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/routing"
)

func TestBuildDefaults(t *testing.T) {
	for _, tc := range []struct {
		name               string
		in                 routing.RouteSettings
		id, path, location string
		kind               routing.Kind
	}{
		{"path only", routing.RouteSettings{Key: "users", Path: "/myusers/**"}, "users", "/myusers/**", "users", routing.KindService},
		{"path and service", routing.RouteSettings{Key: "users", Path: "/u/**", ServiceID: "users_service"}, "users", "/u/**", "users_service", routing.KindService},
		{"url only", routing.RouteSettings{Key: "users", URL: "https://h/a"}, "users", "/users/**", "https://h/a", routing.KindURL},
		{"url in upper case", routing.RouteSettings{Key: "users", URL: "HTTP://h"}, "users", "/users/**", "HTTP://h", routing.KindURL},
		{"url is a forward", routing.RouteSettings{Key: "users", URL: "forward:/local"}, "users", "/users/**", "forward:/local", routing.KindForward},
		{"url is a service", routing.RouteSettings{Key: "users", URL: "svc"}, "users", "/users/**", "svc", routing.KindService},
		{"service is a url", routing.RouteSettings{Key: "users", ServiceID: "http://h"}, "users", "/users/**", "http://h", routing.KindURL},
		{"service named like a scheme", routing.RouteSettings{Key: "http"}, "http", "/http/**", "http", routing.KindService},
		{"own id", routing.RouteSettings{Key: "users", ID: "u"}, "u", "/users/**", "users", routing.KindService},
		{"blanks", routing.RouteSettings{Key: "users", ID: " ", Path: " ", ServiceID: " "}, "users", "/users/**", "users", routing.KindService},
	} {
		t.Run("zuul 3.1 "+tc.name, func(t *testing.T) {
			r := build(t, settings(tc.in)).Routes()[0]
			if r.ID != tc.id || r.Path != tc.path || r.Location != tc.location || r.Kind != tc.kind {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestBuildTargets(t *testing.T) {
	r := build(t, settings(route("r", "", "http://[::1]:8080/b%2F/../caf%C3%A9//x/"))).Routes()[0]
	if r.BasePath != "/caf%C3%A9//x/" || r.URL.String() != "http://[::1]:8080/caf%C3%A9//x/" || r.ServiceID != "" {
		t.Errorf("base path %q, URL %v, service %q", r.BasePath, r.URL, r.ServiceID)
	}
	r = build(t, settings(route("r", "", "users"))).Routes()[0]
	if r.BasePath != "" || r.URL != nil || r.ServiceID != "users" || r.Forward != "" {
		t.Errorf("base path %q, URL %v, service %q, forward %q", r.BasePath, r.URL, r.ServiceID, r.Forward)
	}
}

func TestBuildProblems(t *testing.T) {
	for _, tc := range []struct {
		name  string
		in    routing.RouteSettings
		want  string
		fatal bool
	}{
		{"zuul 68 pattern", route("r", "/foo{}/**", "foo"), `route r: invalid route: pattern "/foo{}/**": "{}" has no name`, true},
		{"C202 scheme missing", route("r", "", "localhost:9001"), `the location is neither`, true},
		{"unknown scheme", route("r", "", "ftp://h/x"), `the location is neither`, true},
		{"no host", route("r", "", "http:///x"), "there is no host", true},
		{"opaque", route("r", "", "http:h"), "there is no host", true},
		{"bad port", route("r", "", "http://h:x/"), "invalid port", true},
		{"port too high", route("r", "", "http://h:65536/"), "is no port", true},
		{"bad escape", route("r", "", "http://h/%zz"), "invalid URL escape", true},
		{"user", route("r", "", "http://me:secret@h/"), "user name or password", true},
		{"query", route("r", "", "http://h/?a=b"), "query or fragment", true},
		{"fragment", route("r", "", "http://h/#a"), "query or fragment", true},
		{"hidden dots", route("r", "", "http://h/a%2F../b"), "unsafe path", true},
		{"forward with query", route("r", "", "forward:/x?a=b"), "query or fragment", true},
		{"forward with bad escape", route("r", "", "forward:/%"), "invalid URL escape", true},
		{"escape in pattern", route("r", "/caf%C3%A9/**", "x"), "write the character itself", false},
		{"C202 both targets", routing.RouteSettings{Key: "r", URL: "http://h", ServiceID: "x"}, "wins over", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			table, problems := routing.Build(settings(tc.in, route("good", "", "")), nil)
			if len(problems) != 1 || !strings.Contains(problems[0].String(), tc.want) || problems[0].Fatal != tc.fatal || problems[0].Route != "r" {
				t.Fatalf("got %+v, want one with %q, fatal %v", problems, tc.want, tc.fatal)
			}
			if strings.Contains(problems[0].Message, "secret") {
				t.Errorf("password in %q", problems[0].Message)
			}
			want := []string{"/good/**"}
			if !tc.fatal {
				want = []string{table.Routes()[0].FullPath, "/good/**"}
			}
			if diff := cmp.Diff(want, fullPaths(table)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBuildGlobalProblems(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*routing.Settings)
		want   routing.Problem
	}{
		"prefix": {
			func(s *routing.Settings) { s.Prefix = "/a*" },
			routing.Problem{Message: `prefix "/a*": wildcards are not supported`, Fatal: true},
		},
		"ignored pattern": {
			func(s *routing.Settings) { s.IgnoredPatterns = []string{"/a{"} },
			routing.Problem{Message: `ignored pattern "/a{": "{" is not closed within its segment`, Fatal: true},
		},
		"ignored service": {
			func(s *routing.Settings) { s.IgnoredServices = []string{"a,b"} },
			routing.Problem{Message: `ignored service "a,b": no service id looks like this`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := settings()
			tc.change(&s)
			_, problems := routing.Build(s, nil)
			if diff := cmp.Diff([]routing.Problem{tc.want}, problems); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBuildOrder(t *testing.T) {
	t.Run("zuul 3.3 same path", func(t *testing.T) {
		table, problems := routing.Build(settings(route("a", "/x/**", ""), route("b", "/**/y", ""), route("c", "x//**", "")), nil)
		want := []routing.Problem{{Route: "c", Message: `replaces route "a", which has the same path "/x/**"`}}
		if diff := cmp.Diff(want, problems); diff != "" {
			t.Error(diff)
		}
		check(t, table, "/x/y", "c /y")
		check(t, table, "/z/y", "b /z/y")
	})
	t.Run("zuul 3.3 catch-all last", func(t *testing.T) {
		table := build(t, settings(route("all", "/**", ""), route("x", "/x/**", "")), "svc")
		if diff := cmp.Diff([]string{"/x/**", "/svc/**", "/**"}, fullPaths(table)); diff != "" {
			t.Error(diff)
		}
		check(t, table, "/x/1", "x /1")
		check(t, table, "/svc/1", "svc /1")
		check(t, table, "/y", "all /y")
	})
	t.Run("zuul 3.3 catch-all behind a prefix", func(t *testing.T) {
		s := settings(route("all", "/**", ""), route("x", "/x/**", ""))
		s.Prefix = "/api"
		if diff := cmp.Diff([]string{"/api/x/**", "/api/**"}, fullPaths(build(t, s))); diff != "" {
			t.Error(diff)
		}
	})
}

func TestSensitiveHeaders(t *testing.T) {
	for _, tc := range []struct {
		name   string
		in     routing.RouteSettings
		want   []string
		custom bool
	}{
		{"zuul 28 default", routing.RouteSettings{}, nil, false},
		{"zuul 27 empty", routing.RouteSettings{SensitiveHeaders: &[]string{""}}, nil, true},
		{"zuul 29 lower case", routing.RouteSettings{SensitiveHeaders: &[]string{" X-Foo", "y"}}, []string{"x-foo", "y"}, true},
		{"zuul 75 custom", routing.RouteSettings{SensitiveHeaders: &[]string{"x-foo"}}, []string{"x-foo"}, true},
		{"flag alone", routing.RouteSettings{CustomSensitiveHeaders: true}, nil, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.in.Key = "r"
			r := build(t, settings(tc.in)).Routes()[0]
			if diff := cmp.Diff(tc.want, r.SensitiveHeaders); diff != "" || r.CustomSensitiveHeaders != tc.custom {
				t.Errorf("custom %v %s", r.CustomSensitiveHeaders, diff)
			}
		})
	}
}

func TestRouteDetails(t *testing.T) {
	yes := true
	for _, tc := range []struct {
		name   string
		change func(*routing.Settings)
		want   [4]string // full path, prefix, local path, forwarded prefix
	}{
		{"zuul 67 plain", func(*routing.Settings) {}, [4]string{"/foo/**", "/foo", "/**", "/foo"}},
		{"zuul 9.1 prefix", func(s *routing.Settings) { s.Prefix = "/api" }, [4]string{"/api/foo/**", "/api/foo", "/**", "/api/foo"}},
		{
			"prefix kept",
			func(s *routing.Settings) { s.Prefix, s.StripPrefix = "/api", false },
			[4]string{"/api/foo/**", "/api/foo", "/api/**", "/api/foo"},
		},
		{
			"both kept",
			func(s *routing.Settings) {
				s.Prefix, s.StripPrefix, s.Routes[0].StripPrefix = "/api", false, new(bool)
			},
			[4]string{"/api/foo/**", "/api", "/api/foo/**", ""},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := settings(route("foo", "/foo/**", ""))
			tc.change(&s)
			r := build(t, s).Routes()[0]
			if got := [4]string{r.FullPath, r.Prefix, r.LocalPath, r.ForwardedPrefix}; got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
	t.Run("zuul 67 retryable", func(t *testing.T) {
		s := settings(route("a", "", ""), routing.RouteSettings{Key: "b", Retryable: &yes}, routing.RouteSettings{Key: "c", Retryable: new(bool)})
		for global, want := range map[bool][3]bool{false: {false, true, false}, true: {true, true, false}} {
			s.Retryable = global
			r := build(t, s).Routes()
			if got := [3]bool{r[0].Retryable, r[1].Retryable, r[2].Retryable}; got != want {
				t.Errorf("global %v: got %v, want %v", global, got, want)
			}
		}
	})
}
