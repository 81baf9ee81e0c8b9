package routing_test

import (
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/routing"
)

var (
	parameters = regexp.MustCompile(`;[^/]*`)
	slashes    = regexp.MustCompile(`/+`)
	variables  = regexp.MustCompile(`\\\{[a-z]+(:([^{}]+))?\\\}`)
)

func FuzzParsePath(f *testing.F) {
	for _, raw := range []string{
		"/", "//a/./b/../c", "/a%2Fb;x=1/%2e%2e/c", "/..;/x", "/%252e%252e/x", "/a;jsessionid=1;v=2", "/http:/x", "/a%2f%2Fb//", "/.%3B", "/;/;/..",
	} {
		f.Add(raw, true, false)
		f.Add(raw, false, false)
		f.Add(raw, false, true)
	}
	f.Fuzz(func(t *testing.T, raw string, remove, again bool) {
		o := routing.PathOptions{RemoveSemicolon: remove, Reencode: again}
		p, err := routing.ParsePath(raw, o)
		if err != nil {
			return
		}
		if twice, err := routing.ParsePath(p.Raw, o); err != nil || twice != p {
			t.Errorf("%q gives %+v, which gives %+v, %v", raw, p, twice, err)
		}
		segments := strings.Split(strings.TrimSuffix(p.Clean, "/"), "/")
		if p.Clean == "" || segments[0] != "" {
			t.Errorf("%q: clean %q does not begin with a slash", raw, p.Clean)
		}
		for _, segment := range segments[1:] {
			if segment == "" || segment == "." || segment == ".." {
				t.Errorf("%q: segment %q in clean %q", raw, segment, p.Clean)
			}
		}
		decoded, err := url.PathUnescape(parameters.ReplaceAllString(p.Raw, ""))
		if err != nil {
			t.Errorf("%q: raw %q: %v", raw, p.Raw, err)
		}
		if want := slashes.ReplaceAllString(decoded, "/"); p.Clean != want {
			t.Errorf("%q: clean is %q, raw %q decodes to %q", raw, p.Clean, p.Raw, want)
		}
	})
}

// FuzzTableMatchesNaive compares the table with an ordered list of patterns that are tried one by one, by an independent
// reading of the ant rules. Patterns are separated by blanks.
func FuzzTableMatchesNaive(f *testing.F) {
	for _, patterns := range []string{
		"/a/** /a/b /** /*", "/**/a/** /**/b /a/*/c", "/{x}/a /{y:[ab]+}/** /a*/b", "/a/**/b/**/c /a/b/c /*/*/*", "/a/ /a /a/* /", "/ab* /a?/** /*b/a /ab/**",
	} {
		for _, path := range []string{"/", "/a", "/a/", "/a/b/c", "/ab/a/b/b/c/", "/b//a"} {
			f.Add(patterns, path)
		}
	}
	f.Fuzz(func(t *testing.T, patterns, raw string) {
		p, err := routing.ParsePath(raw, usual)
		if err != nil || len(patterns) > 200 || len(raw) > 100 {
			return
		}
		compareWithNaive(t, strings.Fields(patterns), p)
	})
}

// Chance finds more in a small alphabet than a fuzzer does in bytes.
func TestTableMatchesNaiveAtRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	draw := func(words []string) string {
		var out strings.Builder
		for range random.IntN(6) {
			out.WriteString("/" + words[random.IntN(len(words))])
		}
		if out.Len() == 0 || random.IntN(4) == 0 {
			out.WriteByte('/')
		}
		return out.String()
	}
	for range 20_000 {
		patterns := make([]string, random.IntN(8))
		for i := range patterns {
			patterns[i] = draw([]string{"a", "b", "ab", "*", "**", "**", "a*", "*b", "a?", "{x}", "{x:[ab]+}", "{x:a}{y}"})
		}
		compareWithNaive(t, patterns, parse(t, draw([]string{"a", "b", "ab", "abb", "c"}), usual))
	}
}

func compareWithNaive(t *testing.T, patterns []string, p routing.Path) {
	t.Helper()
	var s routing.Settings
	for _, pattern := range patterns {
		s.Routes = append(s.Routes, route("r", pattern, "r"))
	}
	table, _ := routing.Build(s, nil)
	want := ""
	for _, r := range table.Routes() {
		fits, known := naive(r.FullPath, p.Clean)
		if !known {
			return
		}
		compiled, err := routing.CompilePattern(r.FullPath)
		if err != nil || compiled.Match(p.Clean) != fits {
			t.Errorf("pattern %q, path %q: naive %v, err %v", r.FullPath, p.Clean, fits, err)
		}
		if fits && want == "" {
			want = r.FullPath
		}
	}
	got := ""
	if m, found := table.Match(p); found {
		got = m.Route.FullPath
	}
	if got != want {
		t.Errorf("patterns %q, path %q: got %q, want %q", patterns, p.Clean, got, want)
	}
}

// naive is false for known when the oracle does not understand a segment of the pattern.
func naive(pattern, path string) (fits, known bool) {
	segments, names := parts(pattern), parts(path)
	expressions := make([]*regexp.Regexp, len(segments))
	for i, s := range segments {
		if expressions[i], known = expression(s); !known {
			return false, false
		}
	}
	if slices.Contains(segments, "**") {
		return naiveDeep(segments, expressions, names), true
	}
	n := len(segments)
	if len(names) == n-1 && segments[n-1] == "*" && strings.HasSuffix(path, "/") {
		return naiveDeep(segments[:n-1], expressions, names), true
	}
	return strings.HasSuffix(pattern, "/") == strings.HasSuffix(path, "/") && naiveDeep(segments, expressions, names), true
}

// naiveDeep tries every number of names for every "**".
func naiveDeep(segments []string, expressions []*regexp.Regexp, names []string) bool {
	switch {
	case len(segments) == 0:
		return len(names) == 0
	case segments[0] == "**":
		return naiveDeep(segments[1:], expressions[1:], names) || len(names) > 0 && naiveDeep(segments, expressions, names[1:])
	}
	return len(names) > 0 && expressions[0].MatchString(names[0]) && naiveDeep(segments[1:], expressions[1:], names[1:])
}

func parts(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// expression translates a segment by replacing the wildcards in its quoted text.
func expression(segment string) (*regexp.Regexp, bool) {
	quoted := variables.ReplaceAllStringFunc(regexp.QuoteMeta(segment), func(v string) string {
		if _, condition, found := strings.Cut(v, ":"); found {
			return "(?:" + unquote(strings.TrimSuffix(condition, `\}`)) + ")"
		}
		return "(?:.*)"
	})
	if strings.Contains(segment, `\`) || strings.ContainsAny(quoted, "{}") {
		return nil, false
	}
	quoted = strings.ReplaceAll(strings.ReplaceAll(quoted, `\*`, ".*"), `\?`, ".")
	compiled, err := regexp.Compile("^(?s:" + quoted + ")$")
	return compiled, err == nil
}

func unquote(s string) string { return strings.ReplaceAll(s, `\`, "") }
