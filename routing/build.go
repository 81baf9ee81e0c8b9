package routing

import (
	"fmt"
	"slices"
	"strings"
)

// builder collects the routes of one table.
type builder struct {
	settings Settings
	prefix   []string // segments of Settings.Prefix
	entries  []entry
	byPath   map[string]int // own path → position in entries
	problems []Problem
}

type entry struct {
	route   *Route
	pattern *Pattern
}

// Build makes the table of the configured routes, in their order, and of the discovered services behind them; a route with the path
// "/**" is always the last. A later route with the same path takes the place of the earlier one, and a service whose path is taken
// gets no route of its own. Routes with a fatal problem are left out, the others are kept.
//
// Blank fields of a route: URL and ServiceID become the key as service id, ID the key, Path "/<key>/**".
func Build(s Settings, services []string) (*Table, []Problem) {
	b := &builder{settings: s, prefix: splitSegments(s.Prefix), byPath: map[string]int{}}
	t := &Table{ignored: b.ignoredPatterns()}
	if strings.ContainsAny(s.Prefix, "*?{}") {
		b.report("", true, "prefix %q: wildcards are not supported", s.Prefix)
		return t, b.problems
	}
	for _, r := range s.Routes {
		b.addConfigured(r)
	}
	b.addDiscovered(services)
	b.fill(t)
	return t, b.problems
}

func (b *builder) report(route string, fatal bool, format string, args ...any) {
	b.problems = append(b.problems, Problem{Route: route, Message: fmt.Sprintf(format, args...), Fatal: fatal})
}

func (b *builder) ignoredPatterns() *node {
	tree := newNode(0)
	for i, text := range b.settings.IgnoredPatterns {
		pattern, err := CompilePattern(strings.TrimSpace(text))
		if err != nil {
			b.report("", true, "ignored %s", err)
			continue
		}
		tree.insert(pattern, i)
	}
	return tree
}

// fill moves the catch-all to the end and builds the tree.
func (b *builder) fill(t *Table) {
	if last, found := b.byPath["/**"]; found {
		b.entries = append(slices.Delete(slices.Clone(b.entries), last, last+1), b.entries[last])
	}
	t.tree = newNode(0)
	for order, e := range b.entries {
		t.routes = append(t.routes, e.route)
		t.tree.insert(e.pattern, order)
	}
}

func (b *builder) addConfigured(s RouteSettings) {
	s = s.withDefaults()
	if hasText(s.URL) && hasText(s.ServiceID) {
		b.report(s.Key, false, "the url wins over service id %q", s.ServiceID)
	}
	e, err := b.entry(s)
	if err != nil {
		b.report(s.Key, true, "%s", err)
		return
	}
	if strings.Contains(e.route.Path, "%") {
		b.report(s.Key, false, "path %q: paths are decoded before they are matched, so write the character itself", e.route.Path)
	}
	at, taken := b.byPath[e.route.Path]
	if !taken {
		b.append(e)
		return
	}
	b.report(s.Key, false, "replaces route %q, which has the same path %q", b.entries[at].route.ID, e.route.Path)
	b.entries[at] = e
}

func (b *builder) append(e entry) {
	b.byPath[e.route.Path] = len(b.entries)
	b.entries = append(b.entries, e)
}

func hasText(s string) bool { return strings.TrimSpace(s) != "" }

func (s RouteSettings) withDefaults() RouteSettings {
	if !hasText(s.URL) && !hasText(s.ServiceID) {
		s.ServiceID = s.Key
	}
	if !hasText(s.ID) {
		s.ID = s.Key
	}
	if !hasText(s.Path) {
		s.Path = "/" + s.Key + "/**"
	}
	return s
}

// entry makes one route. Its errors name the value at fault, not the route.
func (b *builder) entry(s RouteSettings) (entry, error) {
	own, err := CompilePattern(strings.TrimSpace(s.Path))
	if err != nil {
		return entry{}, fmt.Errorf("invalid route: %w", err)
	}
	full, err := CompilePattern(slashed(b.prefix) + own.text)
	if err != nil {
		return entry{}, fmt.Errorf("invalid route: %w", err)
	}
	r := &Route{
		ID:                     s.ID,
		Path:                   own.text,
		FullPath:               full.text,
		Location:               s.location(),
		StripPrefix:            s.StripPrefix == nil || *s.StripPrefix,
		Retryable:              b.settings.Retryable,
		CustomSensitiveHeaders: s.CustomSensitiveHeaders || s.SensitiveHeaders != nil,
	}
	if s.Retryable != nil {
		r.Retryable = *s.Retryable
	}
	if s.SensitiveHeaders != nil {
		r.SensitiveHeaders = headerNames(*s.SensitiveHeaders)
	}
	r.setStrip(own, b.prefix, b.settings.StripPrefix)
	return entry{route: r, pattern: full}, r.setTarget()
}

func (s RouteSettings) location() string {
	if hasText(s.URL) {
		return strings.TrimSpace(s.URL)
	}
	return strings.TrimSpace(s.ServiceID)
}

// headerNames returns the names in lower case, without blanks and empty ones.
func headerNames(names []string) []string {
	var out []string
	for _, name := range names {
		if hasText(name) {
			out = append(out, strings.ToLower(strings.TrimSpace(name)))
		}
	}
	return out
}

// setStrip computes what the route strips and the facts that follow from it.
func (r *Route) setStrip(own *Pattern, prefix []string, stripGlobal bool) {
	local := ""
	if r.StripPrefix {
		local = own.strippable()
	}
	r.strip = strip{drop: len(splitSegments(local))}
	kept := slashed(prefix)
	if stripGlobal {
		r.strip.drop += len(prefix)
		kept = ""
	} else {
		r.strip.keep = len(prefix)
	}
	r.Prefix = slashed(prefix) + local
	r.LocalPath = kept + own.text[len(local):]
	if r.strip.drop > 0 {
		r.ForwardedPrefix = r.Prefix
	}
}

// strippable returns the literal segments in front of the first wildcard: the part that a route strips.
// A pattern without "*" has no such part.
func (p *Pattern) strippable() string {
	if !strings.Contains(p.text, "*") {
		return ""
	}
	var out strings.Builder
	for _, s := range p.head {
		if s.kind != literal {
			break
		}
		out.WriteString("/" + s.text)
	}
	return out.String()
}
