package routing

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// segmentKind orders the ways to match one segment of a path.
type segmentKind uint8

const (
	literal    segmentKind = iota
	anyName                // "*", which also fits the nothing behind a final slash
	glob                   // text with "*" and "?"
	expression             // "{name:regex}" somewhere in it
	anyDepth               // "**": any number of segments
)

// segment matches one segment of a path, or any number of them.
type segment struct {
	kind segmentKind
	// text is the literal, the glob, or the source of the expression: segments of equal kind and text match the same.
	text string
	expr *regexp.Regexp
}

func compileSegment(text string) (segment, error) {
	switch {
	case text == "*":
		return segment{kind: anyName, text: text}, nil
	case text == "**":
		return segment{kind: anyDepth, text: text}, nil
	case text == "." || text == "..":
		return segment{}, fmt.Errorf("no path has a segment %q", text)
	case !strings.ContainsAny(text, "*?{}"):
		return segment{kind: literal, text: text}, nil
	}
	return compileWildcards(text)
}

// compileWildcards builds a glob and an expression side by side; the glob is enough unless a variable has an expression.
func compileWildcards(text string) (segment, error) {
	var wild, expr strings.Builder
	kind := glob
	for rest := text; rest != ""; {
		stop := strings.IndexAny(rest, "*?{}")
		if stop < 0 {
			stop = len(rest)
		}
		wild.WriteString(rest[:stop])
		expr.WriteString(regexp.QuoteMeta(rest[:stop]))
		if rest = rest[stop:]; rest == "" {
			break
		}
		width, condition, err := wildcard(rest)
		if err != nil {
			return segment{}, err
		}
		if rest[0] == '?' {
			wild.WriteByte('?')
		} else {
			wild.WriteByte('*')
		}
		if rest[0] == '{' && condition != ".*" {
			kind = expression
		}
		expr.WriteString("(?:" + condition + ")")
		rest = rest[width:]
	}
	if kind == glob {
		return segment{kind: glob, text: wild.String()}, nil
	}
	compiled, err := regexp.Compile(`^(?s:` + expr.String() + `)$`)
	if err != nil {
		return segment{}, fmt.Errorf("segment %q: %w", text, err)
	}
	return segment{kind: expression, text: compiled.String(), expr: compiled}, nil
}

// wildcard reads the wildcard that text begins with: its width and what it stands for, as a regular expression.
func wildcard(text string) (width int, condition string, err error) {
	switch text[0] {
	case '*':
		return 1, ".*", nil
	case '?':
		return 1, ".", nil
	case '}':
		return 0, "", fmt.Errorf("%q closes nothing", text)
	}
	width = closingBrace(text) + 1
	if width == 0 {
		return 0, "", fmt.Errorf("%q is not closed within its segment", text)
	}
	name, condition, conditional := strings.Cut(text[1:width-1], ":")
	if name == "" {
		return 0, "", fmt.Errorf("%q has no name", text[:width])
	}
	if !conditional {
		return width, ".*", nil
	}
	if _, err := regexp.Compile(condition); err != nil {
		return 0, "", fmt.Errorf("%q: %w", text[:width], err)
	}
	return width, condition, nil
}

// closingBrace returns the position of the brace that closes the one text begins with, -1 if there is none.
func closingBrace(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

func (s *segment) matches(name string) bool {
	switch s.kind {
	case literal:
		return s.text == name
	case glob:
		return matchGlob(s.text, name)
	case expression:
		return s.expr.MatchString(name)
	case anyName, anyDepth:
	}
	return true
}

// prefix returns the literal text that every match begins with.
func (s *segment) prefix() string {
	if s.kind != glob {
		return ""
	}
	return s.text[:strings.IndexAny(s.text, "*?")]
}

// matchGlob gives back only what the last "*" has taken, so its cost is at most the product of the lengths.
func matchGlob(pattern, name string) bool {
	p, n, star, mark := 0, 0, -1, 0
	for n < len(name) {
		_, width := utf8.DecodeRuneInString(name[n:])
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, n
			p++
		case p < len(pattern) && pattern[p] == '?':
			p++
			n += width
		case p < len(pattern) && pattern[p] == name[n]:
			p++
			n++
		case star >= 0:
			_, width = utf8.DecodeRuneInString(name[mark:])
			mark += width
			p, n = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
