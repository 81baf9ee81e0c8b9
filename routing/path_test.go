package routing_test

import (
	"errors"
	"testing"

	"github.com/gozer-gateway/gozer/internal/race"
	"github.com/gozer-gateway/gozer/routing"
)

// usual are the options of a gateway that configures nothing.
var usual = routing.PathOptions{RemoveSemicolon: true}

func parse(t *testing.T, raw string, o routing.PathOptions) routing.Path {
	t.Helper()
	p, err := routing.ParsePath(raw, o)
	if err != nil {
		t.Fatalf("ParsePath(%q): %v", raw, err)
	}
	return p
}

func TestParsePath(t *testing.T) {
	keep := routing.PathOptions{}
	for _, tc := range []struct {
		name, raw, wantRaw, wantClean string
		options                       routing.PathOptions
	}{
		{"root", "/", "/", "/", usual},
		{"plain", "/users/1", "/users/1", "/users/1", usual},
		{"slash at the end", "/users/", "/users/", "/users/", usual},
		{"accepted although not in RFC 3986", "/a|{b}^[c]`", "/a|{b}^[c]`", "/a|{b}^[c]`", usual},
		{"hidden file", "/.well-known/x", "/.well-known/x", "/.well-known/x", usual},
		{"three dots", "/.../x", "/.../x", "/.../x", usual},
		{"plus is no space", "/a+b", "/a+b", "/a+b", usual},

		{"C001 encoded slash", "/api/files/a%2Fb", "/api/files/a%2Fb", "/api/files/a/b", usual},
		{"C002 double encoding", "/api/ch/x%252F%252Fy%2525", "/api/ch/x%252F%252Fy%2525", "/api/ch/x%2F%2Fy%25", usual},
		{"C010 runs of slashes", "/api//k//l/", "/api//k//l/", "/api/k/l/", usual},
		{"C010 URL behind the first segment", "/api/https://x.test/y", "/api/https://x.test/y", "/api/https:/x.test/y", usual},
		{"C242 encoded slash", "/admin%2Fx", "/admin%2Fx", "/admin/x", usual},
		{"C242 leading slashes", "//admin/x", "//admin/x", "/admin/x", usual},
		{"C242 encoded semicolon", "/admin%3Bx", "/admin%3Bx", "/admin;x", usual},
		{"C242 doubly encoded letter", "/%2561dmin/x", "/%2561dmin/x", "/%61dmin/x", usual},
		{"C242 full-width letter", "/%EF%BD%81dmin", "/%EF%BD%81dmin", "/ａdmin", usual},
		{"C250 encoded backslash", "/%5cevil.test/", "/%5cevil.test/", `/\evil.test/`, usual},
		{"zuul 3.8 percent sign", "/users/100%25", "/users/100%25", "/users/100%", usual},
		{"zuul 15 encoded slash", "/api/foo/encoded%2Fpath", "/api/foo/encoded%2Fpath", "/api/foo/encoded/path", usual},
		{"zuul 31 UTF-8", "/api/foo/ol%C3%A9%D7%93", "/api/foo/ol%C3%A9%D7%93", "/api/foo/oléד", usual},

		{"dot", "/a/./b", "/a/b", "/a/b", usual},
		{"dot at the end", "/a/.", "/a/", "/a/", usual},
		{"C006 dots", "/open/../admin/x", "/admin/x", "/admin/x", usual},
		{"C006 encoded dots", "/open/%2e%2e/admin/x", "/admin/x", "/admin/x", usual},
		{"C006 half encoded dots", "/open/.%2E/admin/x", "/admin/x", "/admin/x", usual},
		{"C006 more dots", "/open/a/../../admin/x", "/admin/x", "/admin/x", usual},
		{"C242 leading dot", "/./admin/x", "/admin/x", "/admin/x", usual},
		{"C250 dots behind two slashes", "//evil.test/%2e%2e", "//", "/", usual},
		{"above the root", "/../../x", "/x", "/x", usual},
		{"dots at the end", "/a/b/..", "/a/", "/a/", usual},
		{"dots take an empty segment", "/a//../b", "/a/b", "/a/b", usual},
		{"dots take a segment with an encoded slash", "/a%2Fb/../c", "/c", "/c", usual},

		{"zuul 3.9 semicolon", "/users/a;v=1/b", "/users/a/b", "/users/a/b", usual},
		{"semicolon hides an encoded slash", "/a;b%2Fc/d", "/a/d", "/a/d", usual},
		{"segment of a parameter only", "/a/;x/b", "/a//b", "/a/b", usual},
		{"zuul 94 semicolon kept", "/my;q=2;p=1/more;x=2", "/my;q=2;p=1/more;x=2", "/my/more", keep},
		{"session id", "/a;JSESSIONID=1;v=2/b;jsessionid=3", "/a;v=2/b", "/a/b", keep},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := parse(t, tc.raw, tc.options)
			if want := (routing.Path{Raw: tc.wantRaw, Clean: tc.wantClean}); got != want {
				t.Errorf("ParsePath(%q) = %+v, want %+v", tc.raw, got, want)
			}
		})
	}
}

func TestParsePathRefuses(t *testing.T) {
	for _, tc := range []struct{ name, raw string }{
		{"nothing", ""},
		{"no slash", "users"},
		{"blank", "/a b"},
		{"tab", "/a\tb"},
		{"line end", "/a\r\nb"},
		{"delete", "/a\x7f"},
		{"bare UTF-8", "/é"},
		{"quote", `/a"b`},
		{"angle bracket", "/<b>"},
		{"question mark", "/a?b"},
		{"short escape", "/a%2"},
		{"no hexadecimal digit", "/a%2g"},
		{"percent at the end", "/a%"},
		{"encoded line end", "/a%0d%0aX: y"},
		{"encoded line feed", "/a%0A"},

		{"C014 fragment", "/open#/../admin/list"},
		{"C014 fragment at the end", "/admin#x"},
		{"C242 backslashes", `\admin\x`},
		{"C242 dots before an encoded slash", "/x/..%2fadmin/x"},
		{"C242 NUL", "/admin%00/x"},
		{"C243 semicolon dots", "/admin/..;/public"},
		{"C250 backslash", `/\evil.test/`},
		{"C250 dots behind an encoded slash", "/evil.test%2f.."},
		{"dot before an encoded slash", "/a/.%2Fb"},
		{"dots before an encoded backslash", "/a/..%5Cb"},
		{"dots before an encoded semicolon", "/a/..%3Bx/b"},
		{"dots behind an encoded slash in a parameter", "/a;x%2F../b"},

		{"zuul 32 leading apostrophe", "'/api/admin/index'"},
		{"zuul 33 semicolon", "/api/..;/admin/index"},
		{"zuul 33 backslash", `/api/..\admin/index`},
		{"zuul 34 backslash", "/%27%2Fapi%2F..%5Cadmin%2Findex%27"},
		{"zuul 34 slashes", "/%27%2Fapi%2F..%2F%2Fadmin%2Findex%27"},
		{"zuul 34 as sent", "%27%2Fapi%2F..%5Cadmin%2Findex%27"},
		{"zuul 35 semicolon", "/%2527%252Fapi%252F..%253B%252Fadmin%252Findex%2527"},
		{"zuul 35 backslash", "/%2527%252Fapi%252F..%255Cadmin%252Findex%2527"},
		{"zuul 35 slashes", "/%2527%252Fapi%252F..%252F%252Fadmin%252Findex%2527"},
		{"zuul 35 dots alone", "/api/%252e%252e/admin"},
		{"zuul 36 URL", "http:////admin.index'"},
		{"zuul 36 URL as path", "/http:////admin.index'"},
		{"zuul 36 encoded", "/http%3A%2F%2Fadmin"},
		{"zuul 36 upper case", "/HTTPS://admin"},
		{"zuul 36 file", "/file:/etc/passwd"},
		{"zuul 36 ftp", "/ftp://h/x"},
		{"zuul 36 jar", "/jar:file:x"},
		{"zuul 36 class path", "/classpath:x"},
		{"zuul 36 url", "/url:x"},
		{"zuul 36 behind dots", "/a/../url:x"},
	} {
		for _, o := range []routing.PathOptions{{}, usual, {Reencode: true}} {
			t.Run(tc.name, func(t *testing.T) {
				if p, err := routing.ParsePath(tc.raw, o); !errors.Is(err, routing.ErrUnsafePath) {
					t.Errorf("ParsePath(%q, %+v) = %+v, %v, want ErrUnsafePath", tc.raw, o, p, err)
				}
			})
		}
	}
}

// The table of spec 3.9, with decode-url written out as true.
func TestParsePathReencodes(t *testing.T) {
	for raw, want := range map[string]string{
		"/a%20b":           "/a%20b",
		"/a%2Fb":           "/a/b",
		"/a%2fb":           "/a/b",
		"/a%2Bb":           "/a+b",
		"/a+b":             "/a+b",
		"/caf%c3%a9":       "/caf%C3%A9",
		"/a//b":            "/a/b",
		"/a%2F%2Fb/":       "/a/b/",
		"/100%25":          "/100%25",
		"/%7Bx%7D":         "/%7Bx%7D",
		"/{x}":             "/%7Bx%7D",
		"/%61~_-.%21":      "/a~_-.!",
		"/a%3Bb":           "/a%3Bb",
		"/x%252F":          "/x%252F",
		"/a/../b/%2e":      "/b/",
		"/%5Ca":            "/%5Ca",
		"/a;v=1/b":         "/a;v=1/b",
		"/a;jsessionid=1/": "/a/",
	} {
		t.Run(raw, func(t *testing.T) {
			if got := parse(t, raw, routing.PathOptions{Reencode: true}).Raw; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	t.Run("zuul 3.9 semicolon removed", func(t *testing.T) {
		o := routing.PathOptions{RemoveSemicolon: true, Reencode: true}
		if got := parse(t, "/a;v=1/b", o).Raw; got != "/a/b" {
			t.Errorf("got %q, want /a/b", got)
		}
	})
}

func TestPathLocalForward(t *testing.T) {
	t.Run("zuul 19 no route", func(t *testing.T) {
		if got := parse(t, "/api/bar/1", usual).LocalForward(); got != "/api/bar/1" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("slashes", func(t *testing.T) {
		if got := parse(t, "//api///b%2Fc//", usual).LocalForward(); got != "/api/b%2Fc/" {
			t.Errorf("got %q", got)
		}
	})
}

func TestParsePathAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	for raw, want := range map[string]float64{
		"/users/1/orders":         0,
		"/.well-known//acme.json": 1, // Clean
		"/.well-known/acme.json":  0,
		"/users/a%20b":            1, // Clean
		"/users/../admin":         1, // Raw, and Clean is the same
	} {
		got := testing.AllocsPerRun(100, func() {
			if _, err := routing.ParsePath(raw, usual); err != nil {
				t.Fatal(err)
			}
		})
		if got > want {
			t.Errorf("ParsePath(%q): %v allocations, want at most %v", raw, got, want)
		}
	}
}
