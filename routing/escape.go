package routing

import "strings"

const upperHex = "0123456789ABCDEF"

// reencode gives Zuul's form of a raw path: everything decoded, runs of slashes made one, and encoded again where a path needs it.
// An encoded semicolon stays encoded, or it would begin a parameter.
func reencode(raw string) string {
	var out strings.Builder
	out.Grow(len(raw))
	last := byte(0)
	for i := 0; i < len(raw); i++ {
		c, literal := raw[i], literalInPath(raw[i])
		if c == '%' {
			c = unhex(raw[i+1])<<4 | unhex(raw[i+2])
			literal = literalInPath(c) && c != ';'
			i += 2
		}
		switch {
		case c == '/' && last == '/':
		case literal:
			out.WriteByte(c)
		default:
			out.WriteByte('%')
			out.WriteByte(upperHex[c>>4])
			out.WriteByte(upperHex[c&15])
		}
		last = c
	}
	return out.String()
}

// literalInPath reports whether c may stand for itself: pchar of RFC 3986 and the slash.
func literalInPath(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return strings.IndexByte("-._~!$&'()*+,;=:@/", c) >= 0
}

// appendUnescaped decodes s once and leaves alone what is no escape. dst may be the beginning of s.
func appendUnescaped[T string | []byte](dst []byte, s T) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' && isEscape(s, i) {
			c = unhex(s[i+1])<<4 | unhex(s[i+2])
			i += 2
		}
		dst = append(dst, c)
	}
	return dst
}

// isEscape reports whether the percent sign at s[i] is followed by two hexadecimal digits.
func isEscape[T string | []byte](s T, i int) bool {
	return i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2])
}

func isHex(c byte) bool {
	lower := c | 0x20
	return '0' <= c && c <= '9' || 'a' <= lower && lower <= 'f'
}

// unhex returns the value of a hexadecimal digit.
func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return (c | 0x20) - 'a' + 10
}

// collapseSlashes makes every run of slashes one.
func collapseSlashes(path string) string {
	if !strings.Contains(path, "//") {
		return path
	}
	var out strings.Builder
	out.Grow(len(path))
	for i := range len(path) {
		if path[i] != '/' || i == 0 || path[i-1] != '/' {
			out.WriteByte(path[i])
		}
	}
	return out.String()
}

// slashed returns the segments with a slash in front of each.
func slashed(segments []string) string {
	if len(segments) == 0 {
		return ""
	}
	return "/" + strings.Join(segments, "/")
}
