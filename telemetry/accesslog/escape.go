package accesslog

import (
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

const digits = "0123456789abcdef"

// appendPlain appends text to a line of a textual format. Quotes, backslashes and
// what is not printable ASCII become \xHH, so that nobody who chooses a path or a
// header can end a field or a line.
func appendPlain(dst []byte, text string) []byte {
	start := 0
	for i := range len(text) {
		if b := text[i]; b < ' ' || b >= 0x7f || b == '"' || b == '\\' {
			dst = append(dst, text[start:i]...)
			dst = append(dst, '\\', 'x', digits[b>>4], digits[b&15])
			start = i + 1
		}
	}
	return append(dst, text[start:]...)
}

// appendJSON appends text as a JSON string. Controls, what is no UTF-8, and what changes
// the look of the rest, such as the direction of writing, are escaped.
func appendJSON(dst []byte, text string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(text); {
		b := text[i]
		if b >= ' ' && b < 0x7f && b != '"' && b != '\\' {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if r >= 0xa0 && !unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) && (r != utf8.RuneError || size > 1) {
			i += size
			continue
		}
		dst = append(dst, text[start:i]...)
		dst = appendEscape(dst, r, size)
		i += size
		start = i
	}
	return append(append(dst, text[start:]...), '"')
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
