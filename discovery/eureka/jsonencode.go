package eureka

import (
	"strconv"
	"time"
	"unicode/utf8"
)

// jsonOutput writes objects.
type jsonOutput struct {
	b    []byte
	more bool // a member came before
}

var _ output = (*jsonOutput)(nil)

func (o *jsonOutput) fields() fields { return fields{output: o, override: "overriddenStatus"} }

func (e Encoder) jsonApplications(b []byte, a *Applications, flush func([]byte) ([]byte, error)) ([]byte, error) {
	o := &jsonOutput{b: append(b, `{"applications":{`...)}
	if !e.Compact {
		o.hash(a)
	}
	o.list("application")
	for i := range a.Applications {
		o.comma()
		o.application(&a.Applications[i], e.Compact)
		var err error
		if o.b, err = flush(o.b); err != nil {
			return o.b, err
		}
	}
	o.b, o.more = append(o.b, ']'), true
	if e.Compact {
		o.key("registeredApplicationsEmpty")
		o.b = strconv.AppendBool(o.b, len(a.Applications) == 0)
		o.hash(a)
	}
	return append(o.b, "}}"...), nil
}

func (o *jsonOutput) hash(a *Applications) {
	o.key("versions__delta")
	o.b = append(strconv.AppendInt(append(o.b, '"'), a.VersionsDelta, 10), '"')
	o.text("apps__hashcode", a.HashCode)
}

func (o *jsonOutput) application(a *Application, compact bool) {
	o.begin()
	o.text("name", a.Name)
	o.list("instance")
	for _, i := range a.Instances {
		o.comma()
		o.instance(i, compact)
	}
	o.b = append(o.b, "]}"...)
	o.more = true
}

func (o *jsonOutput) instance(i *Instance, compact bool) {
	o.begin()
	if compact {
		o.fields().compact(i)
	} else {
		o.fields().full(i)
	}
	o.close("")
}

func (o *jsonOutput) begin() { o.b, o.more = append(o.b, '{'), false }

// list begins a list as a member, which the caller ends.
func (o *jsonOutput) list(name string) {
	o.key(name)
	o.b, o.more = append(o.b, '['), false
}

func (o *jsonOutput) comma() {
	if o.more {
		o.b = append(o.b, ',')
	}
	o.more = true
}

// key begins a member; name needs no escapes.
func (o *jsonOutput) key(name string) {
	o.comma()
	o.b = append(append(append(o.b, '"'), name...), '"', ':')
}

func (o *jsonOutput) open(name string) {
	o.key(name)
	o.begin()
}

func (o *jsonOutput) typed(name, class string) {
	o.open(name)
	o.text("@class", class)
}

func (o *jsonOutput) close(string) { o.b, o.more = append(o.b, '}'), true }

func (o *jsonOutput) text(name, value string) {
	o.key(name)
	o.b = appendJSONText(o.b, value)
}

func (o *jsonOutput) entry(key, value string) {
	o.comma()
	o.b = append(appendJSONText(o.b, key), ':')
	o.b = appendJSONText(o.b, value)
}

func (o *jsonOutput) number(name string, n int64) {
	o.key(name)
	o.b = strconv.AppendInt(o.b, n, 10)
}

// stamp writes a string that holds a number.
func (o *jsonOutput) stamp(name string, t time.Time) {
	o.key(name)
	o.b = append(strconv.AppendInt(append(o.b, '"'), t.UnixMilli(), 10), '"')
}

func (o *jsonOutput) port(name string, p Port) {
	o.key(name)
	o.b = append(o.b, `{"$":`...)
	o.b = strconv.AppendInt(o.b, int64(p.Number), 10)
	o.b = append(o.b, `,"@enabled":"`...)
	o.b = append(strconv.AppendBool(o.b, p.Enabled), `"}`...)
}

// appendJSONText appends a string. What is not UTF-8 becomes U+FFFD.
func appendJSONText(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c < ' ' || c == '"' || c == '\\' {
				b = appendJSONEscape(append(b, s[from:i]...), c)
				from = i + 1
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			b = append(append(b, s[from:i]...), "\uFFFD"...)
			from = i + 1
		}
		i += size
	}
	return append(append(b, s[from:]...), '"')
}

func appendJSONEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	const hex = "0123456789abcdef"
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
