package rest_test

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/lb/rest"
)

func vars(v ...any) []any { return v }

// A variable in front of the host cannot bring another host, whatever the encoding.
func TestVariableInTheScheme(t *testing.T) {
	for encoding := range rest.NoEncoding + 1 {
		if u, err := encoding.Expand("{s}://users/x", "http"); err != nil || u.String() != "http://users/x" {
			t.Errorf("encoding %d: %v, %v", encoding, u, err)
		}
		if u, err := encoding.Expand("{s}://users/x", "http://evil/"); err == nil && u.Host != "users" {
			t.Errorf("encoding %d: the host is %q", encoding, u.Host)
		}
	}
}

func TestExpand(t *testing.T) {
	type named = rest.Vars
	for _, tc := range []struct {
		name, template string
		vars           []any
		values         string // TemplateAndValues
		component      string // URIComponent; "" if the same
	}{
		{"no variables", "http://users/a?b=c#d", nil, "http://users/a?b=c#d", ""},
		{"by position", "http://users/{a}/{b}", vars(1, "x"), "http://users/1/x", ""},
		{"one name twice by position", "/{a}/{a}", vars(1, 2), "/1/2", ""},
		{"by name", "/{a}/{b}/{a}", vars(named{"a": 1, "b": true, "c": "unused"}), "/1/true/1", ""},
		{"nil is empty", "/a/{x}b", vars(named{"x": nil}), "/a/b", ""},
		{"an expression behind the name", `/{id:[0-9]{2}/?}/x`, vars(42), "/42/x", ""},
		{"a slash in a variable", "/a/{x}", vars("b/c"), "/a/b%2Fc", ""},
		{"a question mark and a hash in a variable", "/a/{x}", vars("b?c#d"), "/a/b%3Fc%23d", ""},
		{"sub-delimiters in a variable", "/a/{x}", vars("b;c+d&e=f@g:h"), "/a/b%3Bc%2Bd%26e%3Df%40g%3Ah", "/a/b;c+d&e=f@g:h"},
		{"query parameters", "/a?q={q}&r={r}", vars("1+1&2=2", "ä ö"), "/a?q=1%2B1%262%3D2&r=%C3%A4%20%C3%B6", "/a?q=1+1%262%3D2&r=%C3%A4%20%C3%B6"},
		{"a name in the query", "/a?{n}=1", vars("x y"), "/a?x%20y=1", ""},
		{"a percent sign in a variable", "/{x}", vars("100%25"), "/100%2525", ""},
		{"a percent sign in the template", "/a%20b", nil, "/a%2520b", ""},
		{"blanks and umlauts in the template", "/ä b?c d=e f", nil, "/%C3%A4%20b?c%20d=e%20f", ""},
		{"the second = belongs to the value", "/a?b=c=d", nil, "/a?b=c%3Dd", ""},
		{"empty parameters", "/a?&b&c=&", nil, "/a?&b&c=&", ""},
		{"a slash and a question mark in the query", "/a?b=/c?d", nil, "/a?b=/c?d", ""},
		{"a variable is not expanded again", "/{a}", vars("{b}"), "/%7Bb%7D", ""},
		{"host and port", "http://{host}:{port}/a", vars("users", 8080), "http://users:8080/a", ""},
		{"scheme", "{scheme}://users/a", vars("https"), "https://users/a", ""},
		{"IPv6", "http://[::1]:80/{a}", vars("x"), "http://[::1]:80/x", ""},
		{"user information", "http://us%er:pass@users/", nil, "http://us%25er:pass@users/", ""},
		{"fragment", "/a#{x}", vars("b c"), "/a#b%20c", ""},
		{"a URL in the path is no scheme", "/go/http://x", nil, "/go/http://x", ""},
		{"a lonely closing brace", "/a}", nil, "/a%7D", ""},
		{"dots that are no segment", "/{x}", vars("a..b"), "/a..b", ""},
		{"dot segments of the template's own", "/a/../{x}", vars("b"), "/a/../b", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.component == "" {
				tc.component = tc.values
			}
			for encoding, want := range map[rest.Encoding]string{rest.TemplateAndValues: tc.values, rest.URIComponent: tc.component} {
				u, err := encoding.Expand(tc.template, tc.vars...)
				if err != nil {
					t.Fatal(err)
				}
				if got := u.String(); got != want {
					t.Errorf("encoding %d gives %s, want %s", encoding, got, want)
				}
			}
		})
	}
}

func TestExpandWithoutEncodingTheTemplate(t *testing.T) {
	for encoding, want := range map[rest.Encoding]string{
		rest.ValuesOnly: "/a%20b/c%2Fd?x=1%2B1", rest.NoEncoding: "/a%20b/c/d?x=1+1",
	} {
		u, err := encoding.Expand("/a%20b/{x}?x={y}", "c/d", "1+1")
		if err != nil || u.String() != want {
			t.Errorf("encoding %d gives %v, %v; want %s", encoding, u, err, want)
		}
	}
}

// What is not encoded must be so already, or its meaning would change on the way.
func TestExpandRefusesWhatIsNotEncoded(t *testing.T) {
	for _, encoding := range []rest.Encoding{rest.ValuesOnly, rest.NoEncoding} {
		if u, err := encoding.Expand("/a b/{x}", "c%2Fd"); !errors.Is(err, rest.ErrTemplate) {
			t.Errorf("encoding %d gives %v", encoding, u)
		}
	}
}

func TestTexts(t *testing.T) {
	type id string
	u, err := rest.TemplateAndValues.Expand("/{a}/{b}/{c}/{d}/{e}/{f}", id("x"), uint8(7), 1.5, false, time.Second, netip.MustParseAddr("::1"))
	if err != nil || u.String() != "/x/7/1.5/false/1s/%3A%3A1" {
		t.Errorf("%v, %v", u, err)
	}
}

func TestExpandRefuses(t *testing.T) {
	pointer := new(int)
	for _, tc := range []struct {
		name, template string
		vars           []any
		complaint      string
		encodings      string // "" for all
	}{
		{"too few", "/{a}/{b}", vars(1), "places for 2 variables, and there are 1", ""},
		{"too many", "/{a}", vars(1, 2), "places for 1 variables, and there are 2", ""},
		{"a missing name", "/{a}", vars(rest.Vars{"A": 1}), "no value for a", ""},
		{"names among positions", "/{a}/{b}", vars(1, rest.Vars{"b": 1}), "Vars must be the only argument", ""},
		{"a brace left open", "/{a", vars(1), "brace is not closed", ""},
		{"no name", "/{}", vars(1), "has no name", ""},
		{"a pointer", "/{a}", vars(pointer), "variable a: a *int is no text", ""},
		{"a slice", "/{a}", vars([]int{1}), "variable a: a []int is no text", ""},
		{"a parent segment", "/users/{a}/x", vars(".."), "makes a dot segment", ""},
		{"a segment of two variables", "/users/{a}{b}", vars(".", "."), "makes a dot segment", ""},
		{"a second parent segment", "/../{a}", vars(".."), "makes a dot segment", ""},
		{"a hidden host", "http://{a}/x", vars("users@evil"), "does not make a URL", ""},
		{"a hidden path", "http://{a}/x", vars("evil/y"), "does not make a URL", ""},
		{"no scheme", "{a}://users", vars("1"), "does not make a URL", ""},
	} {
		for _, encoding := range []rest.Encoding{rest.TemplateAndValues, rest.URIComponent, rest.ValuesOnly, rest.NoEncoding} {
			t.Run(tc.name, func(t *testing.T) {
				u, err := encoding.Expand(tc.template, tc.vars...)
				if !errors.Is(err, rest.ErrTemplate) || !strings.Contains(err.Error(), tc.complaint) {
					t.Errorf("encoding %d: %v, %v; want %s", encoding, u, err, tc.complaint)
				}
			})
		}
	}
}

// A variable never becomes more than the text of its place.
func FuzzExpand(f *testing.F) {
	for _, seed := range []string{"", "a", "..", "a/b", "?x#y", "%2e%2e", "ä", "a@b:c", "\x00", "{x}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, v string) {
		for _, encoding := range []rest.Encoding{rest.TemplateAndValues, rest.URIComponent, rest.ValuesOnly} {
			u, err := encoding.Expand("http://users/a/{x}/b?q={x}&r=1#f", rest.Vars{"x": v})
			if err != nil {
				if v == "." || v == ".." {
					return
				}
				t.Fatalf("%q: %v", v, err)
			}
			path := strings.Split(u.EscapedPath(), "/")
			if u.Host != "users" || u.Fragment != "f" || len(path) != 4 || path[1] != "a" || path[3] != "b" {
				t.Fatalf("%q gives %s", v, u)
			}
			if segment, err := url.PathUnescape(path[2]); err != nil || segment != v {
				t.Errorf("%q arrives as %q, %v", v, segment, err)
			}
			q, err := url.ParseQuery(u.RawQuery)
			if encoding != rest.URIComponent && (err != nil || q.Get("q") != v || q.Get("r") != "1" || len(q) != 2) {
				t.Errorf("%q arrives as %v, %v", v, q, err)
			}
		}
	})
}

func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{"", "/", "http://{a}/{b:[{}]}?c={d}#{e}", "{", "}", "a://", "://", "//x", "?=&", "#?"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, template string) {
		u, err := rest.TemplateAndValues.Expand(template)
		if err == nil && u == nil || err != nil && !errors.Is(err, rest.ErrTemplate) {
			t.Errorf("%q gives %v, %v", template, u, err)
		}
	})
}
