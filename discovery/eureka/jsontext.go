package eureka

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

func (r *jsonReader) word(want string) []byte {
	r.ahead(len(want))
	if !bytes.HasPrefix(r.buf[r.pos:r.end], []byte(want)) {
		r.fail("expected a value")
		return nil
	}
	r.pos += len(want)
	return r.buf[r.pos-len(want) : r.pos]
}

func (r *jsonReader) number() []byte {
	n := 0
	for {
		for ; r.pos+n < r.end; n++ {
			switch c := r.buf[r.pos+n]; {
			case '0' <= c && c <= '9', c == '-', c == '+', c == '.', c == 'e', c == 'E':
				continue
			}
			break
		}
		if r.pos+n < r.end || !r.more() {
			break
		}
	}
	text := r.buf[r.pos : r.pos+n]
	if !isNumber(text) {
		r.fail("not a number")
	}
	r.pos += n
	return text
}

// isNumber checks the grammar of RFC 8259, section 6.
func isNumber(text []byte) bool {
	text = bytes.TrimPrefix(text, []byte("-"))
	whole := digits(text)
	if whole == 0 || whole > 1 && text[0] == '0' {
		return false
	}
	text = text[whole:]
	if len(text) > 0 && text[0] == '.' {
		fraction := digits(text[1:])
		if fraction == 0 {
			return false
		}
		text = text[1+fraction:]
	}
	if len(text) == 0 {
		return true
	}
	if text[0] != 'e' && text[0] != 'E' {
		return false
	}
	text = text[1:]
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		text = text[1:]
	}
	return len(text) > 0 && digits(text) == len(text)
}

func digits(text []byte) int {
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return n
}

// str reads a string; pos is at its quote. The result is valid until the next reading.
func (r *jsonReader) str() []byte {
	n, plain := 1, true
	for {
		for ; r.pos+n < r.end; n++ {
			switch c := r.buf[r.pos+n]; {
			case c == '"':
				raw := r.buf[r.pos+1 : r.pos+n]
				r.pos += n + 1
				return r.checked(raw, plain)
			case c == '\\':
				return r.escaped(n)
			case c < ' ':
				r.fail("control character in a string")
				return nil
			case c >= utf8.RuneSelf:
				plain = false
			}
		}
		if !r.more() {
			r.fail("string without end")
			return nil
		}
	}
}

func (r *jsonReader) checked(text []byte, plain bool) []byte {
	if !plain && !utf8.Valid(text) {
		r.fail("string is not UTF-8")
		return nil
	}
	return text
}

// escaped reads a string whose first n bytes, with the quote, have no escapes.
func (r *jsonReader) escaped(n int) []byte {
	r.text = append(r.text[:0], r.buf[r.pos+1:r.pos+n]...)
	r.pos += n
	for r.err == nil {
		if r.pos == r.end && !r.more() {
			r.fail("string without end")
			return nil
		}
		c := r.buf[r.pos]
		r.pos++
		switch {
		case c == '"':
			return r.checked(r.text, false)
		case c == '\\':
			r.escape()
		case c < ' ':
			r.fail("control character in a string")
		default:
			r.text = append(r.text, c)
		}
	}
	return nil
}

// escape reads what follows a backslash.
func (r *jsonReader) escape() {
	if r.pos == r.end && !r.more() {
		r.fail("string without end")
		return
	}
	c := r.buf[r.pos]
	r.pos++
	if c == 'u' {
		r.text = utf8.AppendRune(r.text, r.escapedRune())
		return
	}
	const short, meant = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	at := bytes.IndexByte([]byte(short), c)
	if at < 0 {
		r.fail("unknown escape")
		return
	}
	r.text = append(r.text, meant[at])
}

// escapedRune reads four hex digits and, if they are half of a pair, the other half.
func (r *jsonReader) escapedRune() rune {
	first := r.hex()
	if !utf16.IsSurrogate(first) {
		return first
	}
	r.ahead(len(`\u0000`))
	if !bytes.HasPrefix(r.buf[r.pos:r.end], []byte(`\u`)) {
		return utf8.RuneError
	}
	at := r.pos
	r.pos += 2
	if pair := utf16.DecodeRune(first, r.hex()); pair != utf8.RuneError {
		return pair
	}
	r.pos = at // the second stands for itself
	return utf8.RuneError
}

func (r *jsonReader) hex() rune {
	if !r.ahead(4) {
		r.fail("string without end")
		return 0
	}
	var n rune
	for _, c := range r.buf[r.pos : r.pos+4] {
		switch {
		case '0' <= c && c <= '9':
			n = n<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			n = n<<4 | rune(c|0x20-'a'+10)
		default:
			r.fail("unknown escape")
			return 0
		}
	}
	r.pos += 4
	return n
}
