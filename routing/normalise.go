package routing

import (
	"bytes"
	"fmt"
	"strings"
)

// dots is what a decoded segment means for the segments around it.
type dots uint8

const (
	noDots dots = iota
	thisSegment
	parentSegment
)

func normalise(raw string, o PathOptions) (Path, error) {
	changed := false
	for rest := raw; rest != ""; {
		var segment string
		segment, rest = nextSegment(rest)
		kind, err := judge(segment)
		if err != nil {
			return Path{}, err
		}
		changed = changed || kind != noDots || len(o.trimParameters(segment)) != len(segment)
	}
	if changed {
		raw = rebuild(raw, o)
	}
	if o.Reencode {
		raw = reencode(raw)
	}
	return Path{Raw: raw, Clean: clean(raw)}, nil
}

// nextSegment splits a path that begins with a slash into its first segment and the rest, which begins with a slash or is empty.
func nextSegment(path string) (segment, rest string) {
	if end := strings.IndexByte(path[1:], '/'); end >= 0 {
		return path[1 : end+1], path[end+1:]
	}
	return path[1:], ""
}

// judge recognises dot segments and refuses those that only some servers would recognise.
func judge(segment string) (dots, error) {
	if !strings.ContainsAny(segment, ".%") {
		return noDots, nil
	}
	var scratch [128]byte
	once := appendUnescaped(scratch[:0], segment)
	switch string(once) {
	case ".":
		return thisSegment, nil
	case "..":
		return parentSegment, nil
	}
	if hiddenDots(once) != noDots {
		return noDots, fmt.Errorf("%w: %q hides a dot segment", ErrUnsafePath, segment)
	}
	if hiddenDots(appendUnescaped(once[:0], once)) == parentSegment {
		return noDots, fmt.Errorf("%w: %q hides a dot segment under a second encoding", ErrUnsafePath, segment)
	}
	return noDots, nil
}

// hiddenDots looks for dot segments between slashes and backslashes, in front of parameters, and returns the worst kind.
func hiddenDots(decoded []byte) dots {
	worst := noDots
	for len(decoded) > 0 {
		piece := decoded
		if end := bytes.IndexAny(decoded, `/\`); end >= 0 {
			piece, decoded = decoded[:end], decoded[end+1:]
		} else {
			decoded = nil
		}
		name, _, _ := bytes.Cut(piece, []byte{';'})
		switch string(name) {
		case ".":
			worst = max(worst, thisSegment)
		case "..":
			worst = parentSegment
		}
	}
	return worst
}

// trimParameters returns the segment without those parameters that the options remove.
func (o PathOptions) trimParameters(segment string) string {
	name, parameters, found := strings.Cut(segment, ";")
	if !found || o.RemoveSemicolon {
		return name
	}
	var kept strings.Builder
	kept.WriteString(name)
	for parameter := range strings.SplitSeq(parameters, ";") {
		if !isSessionID(parameter) {
			kept.WriteString(";" + parameter)
		}
	}
	return kept.String()
}

func isSessionID(parameter string) bool {
	const name = "jsessionid="
	return len(parameter) >= len(name) && strings.EqualFold(parameter[:len(name)], name)
}

// rebuild resolves dot segments as RFC 3986, 5.2.4 does, and drops parameters.
func rebuild(raw string, o PathOptions) string {
	out := make([]byte, 0, len(raw))
	for rest := raw; rest != ""; {
		var segment string
		segment, rest = nextSegment(rest)
		kind, _ := judge(segment) // normalise has asked before and stopped at an error
		if kind == noDots {
			out = append(append(out, '/'), o.trimParameters(segment)...)
			continue
		}
		if kind == parentSegment {
			out = out[:max(0, bytes.LastIndexByte(out, '/'))]
		}
		if rest == "" {
			out = append(out, '/')
		}
	}
	return string(out)
}

// clean decodes a raw path for matching.
func clean(raw string) string {
	if !strings.ContainsAny(raw, "%;") && !strings.Contains(raw, "//") {
		return raw
	}
	var out strings.Builder
	out.Grow(len(raw))
	parameters, last := false, byte(0)
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch c {
		case '/':
			parameters = false
		case ';':
			parameters = true
		case '%':
			c = unhex(raw[i+1])<<4 | unhex(raw[i+2])
			i += 2
		}
		if parameters || c == '/' && last == '/' {
			continue
		}
		out.WriteByte(c)
		last = c
	}
	return out.String()
}
