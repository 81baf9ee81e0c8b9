package accesslog

import (
	"math/bits"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

const digits = "0123456789abcdef"

// appendPlain appends text to a line of a textual format. Quotes, backslashes and
// what is not printable ASCII become \xHH, so that nobody who chooses a path or a
// header can end a field or a line.
func appendPlain(dst []byte, text string) []byte {
	for {
		n := plain(text)
		dst = append(dst, text[:n]...)
		if n == len(text) {
			return dst
		}
		b := text[n]
		dst = append(dst, '\\', 'x', digits[b>>4], digits[b&15])
		text = text[n+1:]
	}
}

// appendJSON appends text as the inside of a JSON string. Controls, what is no UTF-8, and
// what changes the look of the rest, such as the direction of writing, are escaped.
func appendJSON(dst []byte, text string) []byte {
	for {
		n := plain(text)
		dst = append(dst, text[:n]...)
		if n == len(text) {
			return dst
		}
		r, size := utf8.DecodeRuneInString(text[n:])
		if shownInJSON(r, size) {
			dst = append(dst, text[n:n+size]...)
		} else {
			dst = appendEscape(dst, r, size)
		}
		text = text[n+size:]
	}
}

// shownInJSON tells of what is beyond ASCII that it stands for itself.
func shownInJSON(r rune, size int) bool {
	return r >= 0xa0 && !unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) && (r != utf8.RuneError || size > 1)
}

// plain is the length of the longest prefix of text that is the same in all formats:
// printable ASCII without quotes and backslashes.
func plain(text string) int {
	i := 0
	for ; i+8 <= len(text); i += 8 {
		if special := specials(eight(text[i:])); special != 0 {
			return i + bits.TrailingZeros64(special)/8
		}
	}
	for ; i < len(text); i++ {
		if b := text[i]; b < ' ' || b >= 0x7f || b == '"' || b == '\\' {
			break
		}
	}
	return i
}

// eight are the first eight bytes of text, the first one lowest.
func eight(text string) uint64 {
	_ = text[7]
	return uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
		uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
}

// specials has the top bit of the lowest byte that is not plain, and is 0 if all eight
// are. What it has above that bit means nothing, as there borrows and carries come in.
func specials(eight uint64) uint64 {
	const each, top = 0x0101010101010101, 0x8080808080808080
	quote, backslash := eight^each*'"', eight^each*'\\'
	return (eight | (eight + each) | (eight - each*' ') | (quote - each) | (backslash - each)) & top
}

func appendEscape(dst []byte, r rune, size int) []byte {
	switch {
	case r == '"' || r == '\\':
		return append(dst, '\\', byte(r))
	case r == utf8.RuneError && size == 1:
		return append(dst, `\ufffd`...)
	case r > 0xffff:
		high, low := utf16.EncodeRune(r)
		return appendEscape(appendEscape(dst, high, 0), low, 0)
	}
	return append(dst, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}

// shortened cuts text to so many bytes, between characters.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "..."
}
