package rest

import (
	"encoding"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
)

// Vars are the variables of a template by name. A name without a value is an error, a
// nil value is empty.
type Vars map[string]any

// Expand puts the variables into a template: one value for each place in the order of
// the places, or Vars alone. Values are text, numbers, booleans, and what is a
// fmt.Stringer or an encoding.TextMarshaler.
//
// A variable must not turn a segment of the path into "." or "..", and cannot delimit
// anything in the host, whatever the encoding.
func (e Encoding) Expand(template string, vars ...any) (*url.URL, error) {
	pieces, err := parse(template)
	if err != nil {
		return nil, err
	}
	values, err := valuesOf(template, pieces, vars)
	if err != nil {
		return nil, err
	}
	text, plain := e.write(pieces, values)
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, badTemplate(template, "it does not make a URL") // its own error would show the values
	case !strings.Contains(text, u.EscapedPath()):
		return nil, badTemplate(template, "its path has characters that must be encoded")
	case dotSegments(u.EscapedPath()) > dotSegments(plain):
		return nil, badTemplate(template, "a variable makes a dot segment")
	}
	return u, nil
}

// write gives the expanded template, and its path with an x for every variable.
func (e Encoding) write(pieces []piece, values []string) (expanded, plainPath string) {
	var all, path strings.Builder
	for _, p := range pieces {
		switch p.kind {
		case delimiter:
			all.WriteString(p.text)
		case literal:
			e.literal(&all, p.text, p.part)
			if p.part == pathPart {
				path.WriteString(p.text)
			}
		case variable:
			e.variable(&all, values[0], p.part)
			values = values[1:]
			if p.part == pathPart {
				path.WriteByte('x')
			}
		}
	}
	return all.String(), path.String()
}

func dotSegments(path string) int {
	n := 0
	for segment := range strings.SplitSeq(path, "/") {
		if s := strings.ReplaceAll(strings.ToLower(segment), "%2e", "."); s == "." || s == ".." {
			n++
		}
	}
	return n
}

// valuesOf finds the value of each variable, in the order of the pieces.
func valuesOf(template string, pieces []piece, vars []any) ([]string, error) {
	names := namesOf(pieces)
	given, err := byPlace(template, names, vars)
	if err != nil {
		return nil, err
	}
	values := make([]string, len(given))
	for i, v := range given {
		if values[i], err = textOf(v); err != nil {
			return nil, badTemplate(template, "variable %s: %v", names[i], err)
		}
	}
	return values, nil
}

func namesOf(pieces []piece) (names []string) {
	for _, p := range pieces {
		if p.kind == variable {
			names = append(names, p.text)
		}
	}
	return names
}

func byPlace(template string, names []string, vars []any) ([]any, error) {
	if len(vars) == 1 {
		if named, ok := vars[0].(Vars); ok {
			return byName(template, names, named)
		}
	}
	if slices.ContainsFunc(vars, func(v any) bool { _, ok := v.(Vars); return ok }) {
		return nil, badTemplate(template, "Vars must be the only argument")
	}
	if len(vars) != len(names) {
		return nil, badTemplate(template, "it has places for %d variables, and there are %d", len(names), len(vars))
	}
	return vars, nil
}

func byName(template string, names []string, named Vars) ([]any, error) {
	values := make([]any, len(names))
	for i, name := range names {
		v, found := named[name]
		if !found {
			return nil, badTemplate(template, "there is no value for %s", name)
		}
		values[i] = v
	}
	return values, nil
}

// textOf renders a value, and refuses those whose rendering would be Go's and not the
// caller's.
func textOf(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	case encoding.TextMarshaler:
		text, err := v.MarshalText()
		return string(text), err
	case fmt.Stringer:
		return v.String(), nil
	}
	switch kind := reflect.TypeOf(v).Kind(); {
	case kind == reflect.String, kind >= reflect.Bool && kind <= reflect.Float64 && kind != reflect.Uintptr:
		return fmt.Sprint(v), nil
	}
	return "", fmt.Errorf("a %T is no text", v)
}
