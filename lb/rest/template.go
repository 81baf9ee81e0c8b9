package rest

import (
	"errors"
	"fmt"
	"strings"
)

// ErrTemplate is wrapped by every error about a URI template or its variables.
var ErrTemplate = errors.New("rest: bad URI template")

func badTemplate(template, format string, args ...any) error {
	return fmt.Errorf("%w %q: %s", ErrTemplate, template, fmt.Sprintf(format, args...))
}

// piece is text of a template, or a variable in it.
type piece struct {
	text string // or the variable's name
	kind pieceKind
	part component
}

type pieceKind uint8

const (
	literal   pieceKind = iota
	delimiter           // text that is never encoded
	variable
)

// parser takes a template apart. What stands between braces is a variable, up to a colon
// its name; an expression behind that is skipped, as Spring does.
type parser struct {
	rest   string
	part   component
	named  bool // the "=" of this query parameter has been met
	pieces []piece
	text   strings.Builder // literal text so far
}

func parse(template string) ([]piece, error) {
	p := &parser{rest: template, part: pathPart}
	if scheme := schemeEnd(template); scheme >= 0 {
		p.part = schemePart
	}
	for p.rest != "" {
		if p.rest[0] != '{' {
			p.step()
			continue
		}
		n := closing(p.rest)
		if n < 0 {
			return nil, badTemplate(template, "a brace is not closed")
		}
		name, _, _ := strings.Cut(p.rest[1:n], ":")
		if name == "" {
			return nil, badTemplate(template, "a variable has no name")
		}
		p.flush()
		p.pieces = append(p.pieces, piece{name, variable, p.part})
		p.rest = p.rest[n+1:]
	}
	p.flush()
	return p.pieces, nil
}

// step takes one character that does not begin a variable, or one delimiter.
func (p *parser) step() {
	if text, next := p.delimiter(); text != "" {
		p.flush()
		p.pieces = append(p.pieces, piece{text, delimiter, next})
		p.rest = p.rest[len(text):]
		p.named = text == "="
		p.part = next
		return
	}
	if p.part == authorityPart && p.rest[0] == '/' {
		p.flush()
		p.part = pathPart
	}
	p.take()
}

// delimiter finds what ends the current part here, and the part that follows.
func (p *parser) delimiter() (text string, next component) {
	switch c := p.rest[:1]; {
	case p.part == schemePart:
		if strings.HasPrefix(p.rest, "://") {
			return "://", authorityPart
		}
	case p.part == fragmentPart:
	case c == "#":
		return c, fragmentPart
	case p.part == parameterPart:
		if c == "&" || c == "=" && !p.named {
			return c, parameterPart
		}
	case c == "?":
		return c, parameterPart
	}
	return "", p.part
}

func (p *parser) take() {
	p.text.WriteByte(p.rest[0])
	p.rest = p.rest[1:]
}

func (p *parser) flush() {
	if p.text.Len() > 0 {
		p.pieces = append(p.pieces, piece{p.text.String(), literal, p.part})
		p.text.Reset()
	}
}

// closing finds the brace that closes the first one, -1 if none does.
func closing(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
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

// schemeEnd finds the "://" of an absolute template, -1 in a relative one.
func schemeEnd(template string) int {
	depth := 0
	for i := range len(template) {
		switch c := template[i]; {
		case c == '{':
			depth++
		case c == '}':
			depth--
		case depth > 0:
		case strings.HasPrefix(template[i:], "://"):
			return i
		case c == '/' || c == '?' || c == '#':
			return -1
		}
	}
	return -1
}
