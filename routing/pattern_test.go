package routing_test

import (
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/routing"
)

// The table of spec 3.6, and what Spring does beside it.
func TestPatternMatch(t *testing.T) {
	for _, tc := range []struct{ pattern, fits, fitsNot string }{
		{"/foo/**", "/foo /foo/ /foo/a/b", "/foobar / /a/foo"},
		{"/foo/*", "/foo/a /foo/", "/foo /foo/a/b /foo/a/"},
		{"/foo/*/", "/foo/a/ /foo/", "/foo /foo/a"},
		{"/foo", "/foo", "/foo/ /Foo /foo/a"},
		{"/foo/", "/foo/", "/foo"},
		{"/foo?", "/foo1 /fooé", "/foo /foo12"},
		{"/foo*", "/foo /foobar", "/foo/a /foobar/ /fo"},
		{"/foo**", "/foo /foobar", "/foo/a"},
		{"/f*o*r", "/foobar /for /foorr", "/foobars /fr"},
		{"/*??b*", "/xyb /éébc", "/€bc /yb"},
		{"/**/admin/**", "/admin /a/admin/b /a/b/admin", "/administrator /a/administrator/b"},
		{"/a/**/c", "/a/c /a/b/b/c /a/b/c/", "/a/c/d /a /b/c"},
		{"/a/**/b/**/c", "/a/b/c /a/x/b/y/c /a/b/b/c/c", "/a/c /a/c/b"},
		{"/a/**/*", "/a/b /a/b/c /a/b/", "/a /a/"},
		{"/a/**/**/x", "/a/x /a/b/x", "/a /a/x/b"},
		{"/a/**/b/c/**/d", "/a/b/b/c/d /a/b/c/b/c/d", "/a/b/c /a/b/d"},
		{"/x/{id}", "/x/5", "/x/5/6 /x /x/ /x/5/"},
		{`/x/{id:\d+}`, "/x/5", "/x/5/6 /x/a /x/5a"},
		{`/x/v{a:[0-9]{1,2}}-{b}`, "/x/v1-z /x/v12-", "/x/v123-z /x/v1"},
		{`/x/{id:a|b}c`, "/x/ac /x/bc", "/x/a /x/xbc"},
		{"/{a}.json", "/x.json /.json", "/x.xml"},
		{"/**", "/ /a /a/b/", ""},
		{"/*", "/ /a", "/a/ /a/b"},
		{"/", "/", "/a"},
		{"api//x", "/api/x", "/api//x"},
	} {
		t.Run(tc.pattern, func(t *testing.T) {
			p, err := routing.CompilePattern(tc.pattern)
			if err != nil {
				t.Fatal(err)
			}
			for path := range strings.FieldsSeq(tc.fits) {
				if !p.Match(path) {
					t.Errorf("does not match %q", path)
				}
			}
			for path := range strings.FieldsSeq(tc.fitsNot) {
				if p.Match(path) {
					t.Errorf("matches %q", path)
				}
			}
		})
	}
}

func TestCompilePatternRefuses(t *testing.T) {
	for pattern, want := range map[string]string{
		"/foo{}/**":      `"{}" has no name`,
		`/x/{:\d+}`:      "has no name",
		"/x/{id":         "is not closed",
		"/x/{id:a/b}":    "is not closed",
		"/x/id}":         "closes nothing",
		"/x/{id:(a}":     "missing closing )",
		"/x/{id:)(}":     "unexpected )",
		"/x/{id:(?=a)b}": "invalid or unsupported Perl syntax",
		"/x/../y":        `no path has a segment ".."`,
	} {
		t.Run(pattern, func(t *testing.T) {
			_, err := routing.CompilePattern(pattern)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want an error with %q", err, want)
			}
		})
	}
}

func TestPatternString(t *testing.T) {
	for in, want := range map[string]string{"a//b/": "/a/b/", "": "/", "/**": "/**", "**/x": "/**/x"} {
		p, err := routing.CompilePattern(in)
		if err != nil {
			t.Fatal(err)
		}
		if p.String() != want {
			t.Errorf("CompilePattern(%q) is %q, want %q", in, p, want)
		}
	}
}

// A matcher that tries every division of the path among the wildcards runs into the time limit of the test.
func TestPatternMatchIsBounded(t *testing.T) {
	for name, pattern := range map[string]string{
		"segments": strings.Repeat("/**/a", 20) + "/b",
		"runes":    "/" + strings.Repeat("*a", 20) + "b",
	} {
		t.Run(name, func(t *testing.T) {
			p, err := routing.CompilePattern(pattern)
			if err != nil {
				t.Fatal(err)
			}
			if p.Match(strings.Repeat("/a", 4000)) || p.Match("/"+strings.Repeat("a", 4000)) {
				t.Error("matches")
			}
		})
	}
}
