package accesslog

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gozer-gateway/gozer/internal/headers"
)

// part appends one piece of a line.
type part func(dst []byte, e *entry) []byte

func patternLine(parts []part) func([]byte, *entry) []byte {
	return func(dst []byte, e *entry) []byte {
		for _, p := range parts {
			dst = p(dst, e)
		}
		return dst
	}
}

// parsePattern reads Tomcat's notation: %x, and %{name}x.
func parsePattern(pattern string) ([]part, error) {
	if pattern == "" {
		return nil, errors.New("is empty, but the format is that of the pattern")
	}
	var parts []part
	for rest := pattern; rest != ""; {
		percent := strings.IndexByte(rest, '%')
		if percent != 0 {
			if percent < 0 {
				percent = len(rest)
			}
			parts = append(parts, literal(rest[:percent]))
			rest = rest[percent:]
			continue
		}
		p, length, err := directive(rest)
		if err != nil {
			return nil, err
		}
		parts, rest = append(parts, p), rest[length:]
	}
	return parts, nil
}

func literal(text string) part {
	return func(dst []byte, _ *entry) []byte { return append(dst, text...) }
}

// directive reads one, which text begins with, and says how long it is.
func directive(text string) (part, int, error) {
	if !strings.HasPrefix(text, "%{") {
		if len(text) < 2 {
			return nil, 0, fmt.Errorf("%q is not finished", text)
		}
		p := simple()[text[1]]
		if p == nil {
			return nil, 0, fmt.Errorf("there is no %q", text[:2])
		}
		return p, 2, nil
	}
	end := strings.IndexByte(text, '}')
	if end < 0 || end+1 == len(text) {
		return nil, 0, fmt.Errorf("%q is not finished", text)
	}
	p, err := named(text[2:end], text[end+1])
	return p, end + 2, err
}

// simple are the directives without a name.
func simple() map[byte]part {
	return map[byte]part{
		'%': literal("%"),
		'a': fieldPart("client"),
		'A': literal("-"), // the local address says nothing behind a balancer
		'b': sent("-"),
		'B': sent("0"),
		'D': func(dst []byte, e *entry) []byte { return strconv.AppendInt(dst, e.account.Took.Milliseconds(), 10) },
		'F': func(dst []byte, e *entry) []byte {
			return strconv.AppendInt(dst, max(e.last().Took, 0).Milliseconds(), 10)
		},
		'h': fieldPart("client"),
		'H': fieldPart("protocol"),
		'I': literal("-"), // there are no threads
		'l': literal("-"), // nobody asks identd
		'm': fieldPart("method"),
		'q': appendQuery,
		'r': requestLine,
		's': fieldPart("status"),
		'S': literal("-"), // there are no sessions
		't': func(dst []byte, e *entry) []byte { return e.times.common(dst, e.Start) },
		'T': func(dst []byte, e *entry) []byte { return appendSeconds(dst, e.account.Took) },
		'u': literal("-"), // filters know users, not the gateway
		'U': fieldPart("path"),
		'v': fieldPart("host"),
		'X': connection,
	}
}

// named are the directives with one.
func named(name string, kind byte) (part, error) {
	switch kind {
	case 'i', 'o':
		return headerPart(name, kind == 'i'), nil
	case 'r':
		if _, known := fieldNamed(name); !known {
			return nil, fmt.Errorf("there is no %%{%s}r; there are %s", name, strings.Join(slices.Sorted(slices.Values(fieldNames())), ", "))
		}
		return fieldPart(name), nil
	case 't':
		return timePart(name)
	case 'c', 's':
		return nil, fmt.Errorf("%%{%s}%c: cookies and sessions are not logged", name, kind)
	}
	return nil, fmt.Errorf("there is no %%{…}%c", kind)
}

func fieldPart(name string) part {
	f, _ := fieldNamed(name)
	return func(dst []byte, e *entry) []byte { return f.plain(dst, e) }
}

// plain appends the field, or a hyphen without one.
func (f *field) plain(dst []byte, e *entry) []byte {
	switch {
	case f.text != nil:
		return appendOrHyphen(dst, e, f.text(e))
	case f.num != nil:
		if n := f.num(e); n >= 0 {
			return strconv.AppendInt(dst, n, 10)
		}
	case f.took != nil:
		if took := f.took(e); took >= 0 {
			return appendMillis(dst, took)
		}
	case f.flag != nil:
		if f.flag(e) {
			return append(dst, "true"...)
		}
	default:
		if addr := f.addr(e); addr.IsValid() {
			return addr.AppendTo(dst)
		}
	}
	return append(dst, '-')
}

func appendOrHyphen(dst []byte, e *entry, text string) []byte {
	if text == "" {
		return append(dst, '-')
	}
	return appendPlain(dst, shortened(text, e.log.MaxField))
}

func headerPart(name string, ofRequest bool) part {
	h := shown(name)
	return func(dst []byte, e *entry) []byte {
		return appendOrHyphen(dst, e, e.header(h, ofRequest))
	}
}

func sent(nothing string) part {
	return func(dst []byte, e *entry) []byte {
		if e.account.BytesOut == 0 {
			return append(dst, nothing...)
		}
		return strconv.AppendInt(dst, e.account.BytesOut, 10)
	}
}

func appendQuery(dst []byte, e *entry) []byte {
	query := e.query()
	if query == "" {
		return dst
	}
	return appendPlain(append(dst, '?'), shortened(query, e.log.MaxField))
}

func requestLine(dst []byte, e *entry) []byte {
	if e.Request.Method == "" { // it was no HTTP
		return append(dst, '-')
	}
	dst = append(appendPlain(dst, shortened(e.Request.Method, e.log.MaxField)), ' ')
	dst = appendQuery(appendPlain(dst, shortened(e.path(), e.log.MaxField)), e)
	return appendPlain(append(dst, ' '), e.Request.Proto)
}

// connection is X for a response cut short, - for a connection that ends with it, + for
// one that goes on.
func connection(dst []byte, e *entry) []byte {
	switch {
	case e.Aborted() || e.Request.Context().Err() != nil:
		return append(dst, 'X')
	case e.Request.Close || headers.Lists(e.Sent("Connection"), "close"):
		return append(dst, '-')
	}
	return append(dst, '+')
}

func appendSeconds(dst []byte, d time.Duration) []byte {
	return strconv.AppendFloat(dst, d.Seconds(), 'f', 3, 64)
}

// timePart reads what %{…}t may hold beside Java's formats, which are not understood.
func timePart(form string) (part, error) {
	switch form {
	case "sec":
		return func(dst []byte, e *entry) []byte { return strconv.AppendInt(dst, e.Start.Unix(), 10) }, nil
	case "msec":
		return func(dst []byte, e *entry) []byte { return strconv.AppendInt(dst, e.Start.UnixMilli(), 10) }, nil
	case "msec_frac":
		return func(dst []byte, e *entry) []byte {
			return append(dst, fmt.Sprintf("%03d", e.Start.UnixMilli()%1000)...)
		}, nil
	case "iso":
		return func(dst []byte, e *entry) []byte { return e.Start.AppendFormat(dst, jsonTime) }, nil
	}
	return nil, fmt.Errorf("%%{%s}t is none of sec, msec, msec_frac, iso", form)
}
