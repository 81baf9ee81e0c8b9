package config

import (
	"fmt"
	"strings"
)

// judge reports a setting that has no effect, or that nobody knows. One that a
// placeholder refers to has its use.
func (b *builder) judge(s *setting) {
	switch {
	case s.used || s.places == nil:
	case s.key == nil:
		b.unknown(s)
	case s.key.set == nil && b.almostKnown(s):
	case s.key.set == nil:
		severity := Warning
		if s.key.Status == Refused {
			severity = Error
		}
		b.report.Add(Finding{severity, s.name(), s.at, s.key.Status.phrase() + ": " + s.key.Doc})
	}
}

// unknown reports a key, or the section around it if that is unknown already. A
// section is reported once.
func (b *builder) unknown(s *setting) {
	known := b.catalog.knownSegments(s.path)
	strange := known <= 1 && b.strangeSection(s.path[0])
	if known == len(s.path) && !strange {
		if s.value.kind == list || s.value.text != "" {
			b.report.errorf(s.name(), s.at, "expected a section, found %s", s.value.kind)
		}
		return
	}
	if b.misplaced(s) {
		return
	}
	if known == len(s.path)-1 {
		if hint := b.catalog.nearest(s.path); hint != "" || !strange {
			b.report.errorf(s.name(), s.at, "unknown key%s", didYouMean(hint))
			return
		}
	}
	length := min(known+1, len(s.path))
	hint := b.catalog.nearestSection(s.path[:length])
	if hint == "" && strange {
		length = 1
		hint = b.catalog.nearestSection(s.path[:1])
	}
	b.unknownSection(s, length, hint)
}

// misplaced reports keys that are right in another notation: an index of a list, a
// route id with a dot.
func (b *builder) misplaced(s *setting) bool {
	last := len(s.path) - 1
	if k, _ := b.catalog.find(s.path[:max(last, 1)]); k != nil && strings.HasPrefix(k.Type, "list") && wholeNumber.MatchString(s.path[last]) {
		b.report.errorf(s.name(), s.at, "entries of a list have no keys of their own; write %s: a, b", joinKey(s.path[:last]))
		return true
	}
	id := b.dottedRoute(s)
	if id != nil {
		b.once(Finding{
			Error, strings.Join(s.path[:2+len(id)], "."), s.places[1+len(id)],
			"unknown; a route id with a dot needs brackets: " + joinKey([]string{"zuul", "routes", strings.Join(id, ".")}),
		})
	}
	return id != nil
}

// dottedRoute gives the parts of the id if s belongs to a route whose id was written
// with dots: a field of it, or the route in one line.
func (b *builder) dottedRoute(s *setting) []string {
	last := len(s.path) - 1
	if last < 3 || uniform(s.path[0]) != "zuul" || uniform(s.path[1]) != "routes" {
		return nil
	}
	if field, _ := b.catalog.find([]string{"zuul", "routes", "id", s.path[last]}); field != nil && last > 3 {
		return s.path[2:last]
	}
	hint := b.catalog.nearest(s.path)
	if (hint == "" || strings.HasSuffix(hint, ".id")) && strings.Contains(s.value.text, "/") {
		return s.path[2:]
	}
	return nil
}

// strangeSection tells whether a first segment could only be the name of a service.
func (b *builder) strangeSection(first string) bool {
	return b.catalog.byFirst[uniform(first)] == nil
}

func (b *builder) unknownSection(s *setting, length int, hint string) {
	f := Finding{Error, joinKey(s.path[:length]), s.places[length-1], "unknown section" + didYouMean(hint)}
	if length == len(s.path) {
		f.Message = "unknown key" + didYouMean(hint)
	}
	b.once(f)
}

func (b *builder) once(f Finding) {
	if !b.sections[f] {
		b.sections[f] = true
		b.report.Add(f)
	}
}

func didYouMean(hint string) string {
	if hint == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", hint)
}

// knownSegments counts the segments, from the first, with which some key begins.
func (c catalog) knownSegments(path []string) int {
	n := 0
	for _, k := range c.keys {
		for n < len(path) && k.pattern.startsWith(path[:n+1]) {
			n++
		}
	}
	return n
}

// plain gives the tables, lists and texts that encoding/json knows.
func (n *node) plain() any {
	switch n.kind {
	case table:
		m := make(map[string]any, len(n.fields))
		for _, f := range n.fields {
			m[f.name] = f.value.plain()
		}
		return m
	case list:
		l := make([]any, len(n.items))
		for i, item := range n.items {
			l[i] = item.plain()
		}
		return l
	default:
		return strings.TrimSpace(n.text)
	}
}
