package telemetry

import (
	"net/http"

	"go.opentelemetry.io/otel/trace"
)

// The fields in the form that http.Header has them.
const (
	traceparentField = "Traceparent"
	tracestateField  = "Tracestate"
	baggageField     = "Baggage"
	b3Field          = "B3"
	b3TraceField     = "X-B3-Traceid"
	b3SpanField      = "X-B3-Spanid"
	b3ParentField    = "X-B3-Parentspanid"
	b3SampledField   = "X-B3-Sampled"
	b3FlagsField     = "X-B3-Flags"
)

// received finds the parent of a request. A field that is there twice is malformed.
func received(h http.Header, accepted Formats) parent {
	if accepted&W3C != 0 {
		if p, ok := parseTraceparent(only(h[traceparentField])); ok {
			return p
		}
	}
	if accepted&B3 != 0 {
		if p, ok := parseB3(only(h[b3Field])); ok {
			return p
		}
	}
	if accepted&B3Multi != 0 {
		p, _ := parseB3Multi(b3Fields{only(h[b3TraceField]), only(h[b3SpanField]), only(h[b3SampledField]), only(h[b3FlagsField])})
		return p
	}
	return parent{}
}

// only is the value of a field that occurs once.
func only(values []string) string {
	if len(values) != 1 {
		return ""
	}
	return values[0]
}

// remove deletes the fields of formats.
func remove(h http.Header, formats Formats) {
	if formats&W3C != 0 {
		delete(h, traceparentField)
	}
	if formats&B3 != 0 {
		delete(h, b3Field)
	}
	if formats&B3Multi != 0 {
		delete(h, b3TraceField)
		delete(h, b3SpanField)
		delete(h, b3ParentField)
		delete(h, b3SampledField)
		delete(h, b3FlagsField)
	}
}

// identity is what a request tells about its trace on its way upstream.
type identity struct {
	trace trace.TraceID
	span  trace.SpanID
	flags trace.TraceFlags
	debug bool // B3's
}

// write sets the fields of formats. All values are cut from one string.
func (i *identity) write(formats Formats, set func(name, value string)) {
	var text [traceparentLength]byte
	copy(text[:], "00-")
	hexInto(text[3:35], i.trace[:])
	text[35] = '-'
	hexInto(text[36:52], i.span[:])
	text[52] = '-'
	hexInto(text[53:], []byte{byte(i.flags & knownFlags)})
	all := string(text[:])
	if formats&W3C != 0 {
		set(traceparentField, all)
	}
	if formats&anyB3 != 0 {
		i.writeB3(formats, all, set)
	}
}

func (i *identity) writeB3(formats Formats, all string, set func(name, value string)) {
	if formats&B3 != 0 {
		set(b3Field, all[3:53]+i.sampling())
	}
	if formats&B3Multi == 0 {
		return
	}
	set(b3TraceField, all[3:35])
	set(b3SpanField, all[36:52])
	if i.debug {
		set(b3FlagsField, "1")
	} else {
		set(b3SampledField, i.sampling())
	}
}

// sampling is B3's sampling state.
func (i *identity) sampling() string {
	switch {
	case i.debug:
		return "d"
	case i.flags.IsSampled():
		return "1"
	}
	return "0"
}

func hexInto(dst, src []byte) {
	const digits = "0123456789abcdef"
	for i, b := range src {
		dst[2*i], dst[2*i+1] = digits[b>>4], digits[b&0xf]
	}
}
