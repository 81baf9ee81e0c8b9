package eureka

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Names of XML elements escape what a name cannot hold (section 2.4): "_" is "__",
// "$" is "_-", anything else that XML forbids is "_." with four hex digits for each
// UTF-16 unit, which XStream understands too.

// appendName appends the name of the element for a metadata key.
func appendName(b []byte, key string) []byte {
	for at, r := range key {
		switch {
		case r == '_':
			b = append(b, "__"...)
		case r == '$':
			b = append(b, "_-"...)
		case isNameRune(r, at == 0):
			b = utf8.AppendRune(b, r)
		case r > 0xffff:
			r -= 0x10000
			b = appendUnit(appendUnit(b, 0xd800|r>>10), 0xdc00|r&0x3ff)
		default:
			b = appendUnit(b, r)
		}
	}
	return b
}

func appendUnit(b []byte, unit rune) []byte {
	const digits = "0123456789abcdef"
	return append(b, '_', '.', digits[unit>>12&15], digits[unit>>8&15], digits[unit>>4&15], digits[unit&15])
}

// isNameRune is stricter than XML about letters outside ASCII, since parsers differ there.
func isNameRune(r rune, first bool) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z':
		return true
	case '0' <= r && r <= '9', r == '-', r == '.':
		return !first
	}
	return false
}

// unescapeName undoes appendName; a lone "_" stays.
func unescapeName(name string) string {
	if !strings.Contains(name, "_") {
		return name
	}
	var key []byte
	for len(name) > 0 {
		r, size := nameRune(name)
		key = utf8.AppendRune(key, r)
		name = name[size:]
	}
	return string(key)
}

func nameRune(name string) (r rune, size int) {
	switch {
	case strings.HasPrefix(name, "__"):
		return '_', 2
	case strings.HasPrefix(name, "_-"):
		return '$', 2
	}
	if high, ok := unit(name); ok {
		low, paired := unit(name[6:])
		if high>>10 == 0xd800>>10 && paired && low>>10 == 0xdc00>>10 {
			return 0x10000 + (high&0x3ff)<<10 + low&0x3ff, 12
		}
		return high, 6
	}
	return utf8.DecodeRuneInString(name)
}

func unit(name string) (rune, bool) {
	if len(name) < 6 || name[:2] != "_." {
		return 0, false
	}
	n, err := strconv.ParseUint(name[2:6], 16, 16)
	return rune(n), err == nil
}
