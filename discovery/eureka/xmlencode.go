package eureka

import (
	"strconv"
	"time"
	"unicode/utf8"
)

// xmlOutput writes elements.
type xmlOutput struct {
	b []byte
}

var _ output = (*xmlOutput)(nil)

func (e Encoder) xmlApplications(b []byte, a *Applications, flush func([]byte) ([]byte, error)) ([]byte, error) {
	o := &xmlOutput{b}
	o.open("applications")
	if !e.Compact {
		o.hash(a)
	}
	for i := range a.Applications {
		e.xmlApplication(o, &a.Applications[i])
		var err error
		if o.b, err = flush(o.b); err != nil {
			return o.b, err
		}
	}
	if e.Compact {
		o.text("registeredApplicationsEmpty", boolText(len(a.Applications) == 0))
		o.hash(a)
	}
	o.close("applications")
	return o.b, nil
}

func (o *xmlOutput) hash(a *Applications) {
	o.number("versions__delta", a.VersionsDelta)
	o.text("apps__hashcode", a.HashCode)
}

func (e Encoder) xmlApplication(o *xmlOutput, a *Application) {
	o.open("application")
	o.text("name", a.Name)
	for _, i := range a.Instances {
		e.xmlInstance(o, i)
	}
	o.close("application")
}

func (e Encoder) xmlInstance(o *xmlOutput, i *Instance) {
	f := fields{output: o, override: "overriddenstatus", v1: e.V1}
	o.open("instance")
	if e.Compact {
		f.compact(i)
	} else {
		f.full(i)
	}
	o.close("instance")
}

func (o *xmlOutput) open(name string) { o.b = append(append(append(o.b, '<'), name...), '>') }

func (o *xmlOutput) typed(name, class string) {
	o.b = append(append(append(o.b, '<'), name...), ` class="`...)
	o.b = append(appendXMLText(o.b, class), `">`...)
}

func (o *xmlOutput) close(name string) { o.b = append(append(append(o.b, "</"...), name...), '>') }

func (o *xmlOutput) text(name, value string) {
	o.open(name)
	o.b = appendXMLText(o.b, value)
	o.close(name)
}

// entry leaves out what has no name at all.
func (o *xmlOutput) entry(key, value string) {
	if key == "" {
		return
	}
	o.b = append(o.b, '<')
	from := len(o.b)
	o.b = appendName(o.b, key)
	to := len(o.b)
	o.b = appendXMLText(append(o.b, '>'), value)
	o.b = append(o.b, "</"...)
	o.b = append(append(o.b, o.b[from:to]...), '>')
}

func (o *xmlOutput) number(name string, n int64) {
	o.open(name)
	o.b = strconv.AppendInt(o.b, n, 10)
	o.close(name)
}

func (o *xmlOutput) stamp(name string, t time.Time) { o.number(name, t.UnixMilli()) }

func (o *xmlOutput) port(name string, p Port) {
	o.b = append(append(append(o.b, '<'), name...), ` enabled="`...)
	o.b = append(strconv.AppendBool(o.b, p.Enabled), `">`...)
	o.b = strconv.AppendInt(o.b, int64(p.Number), 10)
	o.close(name)
}

// appendXMLText appends character data. What XML cannot hold becomes U+FFFD.
func appendXMLText(b []byte, s string) []byte {
	from := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if escape := xmlEscape(r, size); escape != "" {
			b = append(append(b, s[from:i]...), escape...)
			from = i + size
		}
		i += size
	}
	return append(b, s[from:]...)
}

func xmlEscape(r rune, size int) string {
	switch {
	case r == '&':
		return "&amp;"
	case r == '<':
		return "&lt;"
	case r == '>':
		return "&gt;"
	case r == '"':
		return "&quot;"
	case r == '\r':
		return "&#13;"
	case r < ' ' && r != '\t' && r != '\n', r == 0xfffe, r == 0xffff, r == utf8.RuneError && size == 1:
		return "\uFFFD"
	}
	return ""
}
