package eureka

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// jsonReader reads JSON (RFC 8259) piece by piece from a stream. After the first
// error, which stays in err, every method returns at once.
type jsonReader struct {
	src   io.Reader
	limit int64 // bytes of src
	deep  int   // nesting that is left

	buf      []byte
	pos, end int   // what of buf has not been read
	base     int64 // offset of buf in src
	err      error

	key  []byte // of the last member
	text []byte // of a string with escapes
}

func newJSONReader(src io.Reader, l Limits) *jsonReader {
	r := &jsonReader{src: src, limit: l.Bytes, deep: l.Depth, buf: make([]byte, 16<<10)}
	r.ahead(len("\uFEFF"))
	if bytes.HasPrefix(r.buf[:r.end], []byte("\uFEFF")) {
		r.pos = 3
	}
	return r
}

func (r *jsonReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: JSON: %s at byte %d", ErrMalformed, fmt.Sprintf(format, args...), r.base+int64(r.pos))
	}
}

// more reads on, keeping buf from pos; false at the end, or when something failed.
func (r *jsonReader) more() bool {
	if r.err != nil {
		return false
	}
	r.base += int64(r.pos)
	r.end = copy(r.buf, r.buf[r.pos:r.end])
	r.pos = 0
	if r.end == len(r.buf) {
		r.buf = append(r.buf, make([]byte, len(r.buf))...)
	}
	for range 100 {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		switch {
		case r.base+int64(r.end) > r.limit:
			r.err = fmt.Errorf("%w: more than %d bytes", ErrTooLarge, r.limit)
			return false
		case n > 0:
			return true // an error comes again
		case errors.Is(err, io.EOF):
			return false
		case err != nil:
			r.err = fmt.Errorf("eureka: reading JSON: %w", err)
			return false
		}
	}
	r.err = fmt.Errorf("eureka: reading JSON: %w", io.ErrNoProgress)
	return false
}

// ahead reads on until n bytes are at hand, or reports that there are not so many.
func (r *jsonReader) ahead(n int) bool {
	for r.end-r.pos < n {
		if !r.more() {
			return false
		}
	}
	return true
}

// next gives the byte that the next token begins with, 0 at the end.
func (r *jsonReader) next() byte {
	for {
		for ; r.pos < r.end; r.pos++ {
			switch c := r.buf[r.pos]; c {
			case ' ', '\t', '\n', '\r':
			default:
				return c
			}
		}
		if !r.more() {
			return 0
		}
	}
}

// take reads one punctuation mark.
func (r *jsonReader) take(c byte) bool {
	if got := r.next(); r.err != nil || got != c {
		r.fail("expected %q", c)
		return false
	}
	r.pos++
	return true
}

// object calls member for each member, which must read the value. The key is valid
// until then.
func (r *jsonReader) object(member func(key []byte)) {
	r.nested('{', '}', func() {
		if r.next() != '"' {
			r.fail("expected a key")
			return
		}
		r.key = append(r.key[:0], r.str()...)
		if r.take(':') {
			member(r.key)
		}
	})
}

// array calls element for each element, which must read it.
func (r *jsonReader) array(element func()) { r.nested('[', ']', element) }

func (r *jsonReader) nested(from, to byte, each func()) {
	if !r.take(from) {
		return
	}
	if r.deep--; r.deep < 0 && r.err == nil {
		r.err = fmt.Errorf("%w: nested too deep at byte %d", ErrTooLarge, r.base+int64(r.pos))
	}
	for r.next() != to && r.err == nil {
		if each(); r.next() == ',' {
			r.pos++
			if r.next() == to {
				r.fail("expected a value")
			}
		} else if r.next() != to {
			r.fail("expected ',' or %q", to)
		}
	}
	r.take(to)
	r.deep++
}

// scalar reads a value. It gives the text of a string, number or boolean, valid until
// the next reading, and false for null and, having passed over it, for anything else.
func (r *jsonReader) scalar() ([]byte, bool) {
	switch c := r.next(); {
	case c == '"':
		text := r.str()
		return text, r.err == nil
	case c == 't':
		return r.word("true"), r.err == nil
	case c == 'f':
		return r.word("false"), r.err == nil
	case c == '-' || '0' <= c && c <= '9':
		text := r.number()
		return text, r.err == nil
	default:
		r.skip()
		return nil, false
	}
}

// skip passes over a value.
func (r *jsonReader) skip() {
	switch c := r.next(); c {
	case '{':
		r.object(func([]byte) { r.skip() })
	case '[':
		r.array(r.skip)
	case 'n':
		r.word("null")
	case '"', 't', 'f', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		r.scalar()
	default:
		r.fail("expected a value")
	}
}

// finish checks that nothing follows.
func (r *jsonReader) finish() {
	if r.next() != 0 || r.pos < r.end {
		r.fail("something follows the document")
	}
}
