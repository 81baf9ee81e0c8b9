package routing

import (
	"fmt"
	"strings"
)

// Pattern is a compiled ant pattern, immutable and for any number of goroutines.
//
// "?" is one character, "*" any run of characters within a segment, "{name}" the same, "{name:regex}" what the expression of
// Go's regexp fits, and a segment "**" any number of segments. A slash at the end has to be in both pattern and path, but "/a/*"
// also fits "/a/", and a pattern with "**" does not look at it.
type Pattern struct {
	text  string
	head  []segment // up to the first "**"
	tail  *tail     // from there on; nil without "**"
	slash bool      // text ends with a slash
}

// tail is the part of a pattern that begins with "**": groups of segments with any number of segments in front of each.
type tail struct {
	middle [][]segment // none of them empty
	end    []segment   // may be empty
}

// CompilePattern reads an ant pattern. A missing leading slash is added, runs of slashes are made one.
func CompilePattern(text string) (*Pattern, error) {
	names := splitSegments(text)
	p := &Pattern{text: slashed(names), slash: len(names) == 0 || strings.HasSuffix(text, "/")}
	if p.slash {
		p.text += "/"
	}
	segments := make([]segment, 0, len(names))
	for _, name := range names {
		s, err := compileSegment(name)
		if err != nil {
			return nil, fmt.Errorf("pattern %q: %w", text, err)
		}
		segments = append(segments, s)
	}
	p.split(segments)
	return p, nil
}

func (p *Pattern) split(segments []segment) {
	p.head = segments
	for i, s := range segments {
		if s.kind != anyDepth {
			continue
		}
		if p.tail == nil {
			p.head, p.tail = segments[:i], &tail{}
		} else if len(p.tail.end) > 0 {
			p.tail.middle = append(p.tail.middle, p.tail.end)
		}
		end := segments[i+1:]
		p.tail.end = end[:depthAt(end)]
	}
}

// depthAt returns the number of segments in front of the first "**".
func depthAt(segments []segment) int {
	for i, s := range segments {
		if s.kind == anyDepth {
			return i
		}
	}
	return len(segments)
}

// String returns the pattern with the slashes that CompilePattern has put right.
func (p *Pattern) String() string { return p.text }

// Match tells whether the pattern fits a path in the form of [Path].Clean. The cost is bounded by the product of the numbers of segments.
func (p *Pattern) Match(path string) bool {
	var buffer [32]string
	names, slash := splitPath(buffer[:0], path)
	if p.tail != nil {
		return len(names) >= len(p.head) && matchAll(p.head, names[:len(p.head)]) && p.tail.matches(names[len(p.head):])
	}
	last := len(p.head) - 1
	switch len(names) {
	case last + 1:
		return slash == p.slash && matchAll(p.head, names)
	case last:
		return slash && p.head[last].kind == anyName && matchAll(p.head[:last], names)
	}
	return false
}

// matches tells whether the tail fits all of names. Taking the first place for every group leaves the most to those behind it.
func (t *tail) matches(names []string) bool {
	rest := len(names) - len(t.end)
	if rest < 0 || !matchAll(t.end, names[rest:]) {
		return false
	}
	names = names[:rest]
	for _, group := range t.middle {
		at := indexGroup(group, names)
		if at < 0 {
			return false
		}
		names = names[at+len(group):]
	}
	return true
}

func indexGroup(group []segment, names []string) int {
	for at := 0; at+len(group) <= len(names); at++ {
		if matchAll(group, names[at:at+len(group)]) {
			return at
		}
	}
	return -1
}

func matchAll(segments []segment, names []string) bool {
	for i := range segments {
		if !segments[i].matches(names[i]) {
			return false
		}
	}
	return true
}

// splitPath appends the segments of a clean path to names and tells whether the path ends with a slash.
func splitPath(names []string, path string) (_ []string, slash bool) {
	for rest := path; rest != "" && rest != "/"; {
		var name string
		name, rest = nextSegment(rest)
		names = append(names, name)
	}
	return names, strings.HasSuffix(path, "/")
}
