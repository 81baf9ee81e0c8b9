package config

import "strings"

// uniform reduces the spellings of one name (stripPrefix, strip-prefix, STRIP_PREFIX)
// to the same text.
func uniform(name string) string {
	return strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(name, "-", ""), "_", ""))
}

// splitKey cuts a key at its dots. Brackets protect dots, as in zuul.routes.[a.b].path
// or zuul.routes[a.b].path.
func splitKey(key string) []string {
	var segments []string
	for key != "" {
		if inner, rest, ok := bracketed(key); ok {
			segments, key = append(segments, inner), strings.TrimPrefix(rest, ".")
			continue
		}
		end := strings.IndexAny(key, ".[")
		switch {
		case end < 0:
			return append(segments, key)
		case key[end] == '.':
			segments, key = append(segments, key[:end]), key[end+1:]
		case end == 0 || !strings.Contains(key[end:], "]"):
			return append(segments, key)
		default:
			segments, key = append(segments, key[:end]), key[end:]
		}
	}
	return segments
}

func bracketed(key string) (inner, rest string, ok bool) {
	if !strings.HasPrefix(key, "[") {
		return "", "", false
	}
	inner, rest, ok = strings.Cut(key[1:], "]")
	return inner, rest, ok && inner != ""
}

// joinKey is the opposite of splitKey.
func joinKey(segments []string) string {
	var b strings.Builder
	for i, s := range segments {
		if i > 0 {
			b.WriteByte('.')
		}
		if strings.Contains(s, ".") {
			s = "[" + s + "]"
		}
		b.WriteString(s)
	}
	return b.String()
}

// A pattern is the name of a key, cut up: fixed parts, <variables>, and a last ** that
// stands for the rest.
type pattern []part

type part struct {
	text     string // uniform, or the name of the variable
	variable bool
	// spans is set for a variable that may hold dots: services, command keys and loggers
	// are plain properties in the originals, not map keys.
	spans bool
	rest  bool
}

func compile(name string) pattern {
	pieces := strings.Split(name, ".")
	p := make(pattern, len(pieces))
	for i, piece := range pieces {
		variable := strings.HasPrefix(piece, "<")
		piece = strings.Trim(piece, "<>")
		switch {
		case piece == "**":
			p[i] = part{rest: true}
		case variable:
			spans := piece == "service" || piece == "key" || piece == "logger"
			p[i] = part{text: piece, variable: true, spans: spans}
		default:
			p[i] = part{text: uniform(piece)}
		}
	}
	return p
}

// match gives what the variables of p stand for in a key.
func (p pattern) match(key []string) (values []string, ok bool) {
	for i, part := range p {
		if part.rest {
			return append(values, joinKey(key[min(i, len(key)):])), len(key) >= i
		}
		if part.spans {
			return p.span(i, key, values)
		}
		if i >= len(key) || !part.accepts(key[i]) {
			return nil, false
		}
		if part.variable {
			values = append(values, key[i])
		}
	}
	return values, len(key) == len(p)
}

// span lets part i stand for one segment, or as many more as make the rest match.
func (p pattern) span(i int, key, values []string) ([]string, bool) {
	for end := i + 1; end <= len(key); end++ {
		tail, ok := p[i+1:].match(key[end:])
		if !ok {
			continue
		}
		value := strings.Join(key[i:end], ".")
		return append(append(values, value), tail...), value != ""
	}
	return nil, false
}

func (t part) accepts(segment string) bool {
	if t.variable {
		return segment != ""
	}
	return uniform(segment) == t.text
}

// startsWith tells whether a key that begins so can still match. It takes variables
// narrowly, for otherwise every beginning would do: one segment each, and filters only
// with a capital letter.
func (p pattern) startsWith(key []string) bool {
	for i, segment := range key {
		if i >= len(p) {
			return false
		}
		if p[i].rest {
			return true
		}
		if !p[i].accepts(segment) || p[i].text == "Filter" && !capital(segment) {
			return false
		}
	}
	return true
}

func capital(s string) bool { return s != "" && s[0] >= 'A' && s[0] <= 'Z' }

// filled writes p out with the given key's segments where p has variables.
func (p pattern) filled(name string, key []string) string {
	pieces := strings.Split(name, ".")
	for i := range pieces {
		if p[i].variable && i < len(key) {
			pieces[i] = key[i]
		}
	}
	return strings.Join(pieces, ".")
}
