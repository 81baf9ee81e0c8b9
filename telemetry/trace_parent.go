package telemetry

import (
	"encoding/binary"

	"go.opentelemetry.io/otel/trace"
)

// parent is what an incoming request says about the trace it belongs to. The zero
// value says nothing.
type parent struct {
	trace   trace.TraceID
	span    trace.SpanID
	flags   trace.TraceFlags
	format  Formats // the one that it was written in
	decided bool    // flags tell whether to sample; B3 may leave that open
	debug   bool    // B3's: sampled, whatever anybody's rate
}

// identified reports that there is a trace to continue, and not a mere decision.
func (p *parent) identified() bool { return p.trace.IsValid() && p.span.IsValid() }

const (
	traceparentLength = len("00-0123456789abcdef0123456789abcdef-0123456789abcdef-01")
	traceIDLength     = 32
	spanIDLength      = 16
	knownFlags        = trace.FlagsSampled | trace.FlagsRandom
)

// parseTraceparent reads a W3C traceparent. What is malformed, too long or all zero
// gives false. A version to come is read as far as version 00 goes.
func parseTraceparent(s string) (p parent, ok bool) {
	if len(s) < traceparentLength || s[2] != '-' || s[35] != '-' || s[52] != '-' {
		return p, false
	}
	var version, flags [1]byte
	if !unhex(version[:], s[:2]) || !unhex(flags[:], s[53:55]) || !unhex(p.trace[:], s[3:35]) || !unhex(p.span[:], s[36:52]) {
		return parent{}, false
	}
	if !wellEnded(version[0], flags[0], s[traceparentLength:]) || !p.identified() {
		return parent{}, false
	}
	p.flags, p.format, p.decided = trace.TraceFlags(flags[0])&knownFlags, W3C, true
	return p, true
}

// wellEnded judges what else a traceparent holds: only versions to come may have more.
func wellEnded(version, flags byte, rest string) bool {
	switch version {
	case 0:
		return rest == "" && trace.TraceFlags(flags)&^knownFlags == 0
	case 0xff:
		return false
	}
	return rest == "" || rest[0] == '-'
}

// parseB3 reads the single field: "0", "1", "d", or trace-span, trace-span-sampling and
// trace-span-sampling-parent.
func parseB3(s string) (p parent, ok bool) {
	p.format = B3
	if len(s) == 1 {
		return p, p.decide(s)
	}
	trace, s, _ := cutDash(s)
	span, s, more := cutDash(s)
	if !p.identify(trace, span) {
		return parent{}, false
	}
	if !more {
		return p, true
	}
	sampling, s, more := cutDash(s)
	if !p.decide(sampling) || more && !isSpanID(s) {
		return parent{}, false
	}
	return p, true
}

// b3Fields are the values of the many fields, each "" if there is none.
type b3Fields struct{ trace, span, sampled, flags string }

func parseB3Multi(f b3Fields) (p parent, ok bool) {
	p.format = B3Multi
	if f == (b3Fields{}) || (f.trace != "" || f.span != "") && !p.identify(f.trace, f.span) {
		return parent{}, false
	}
	sampling := f.sampled
	switch {
	case f.flags == "1":
		sampling = "d"
	case sampling == "":
		return p, p.identified()
	}
	if !p.decide(sampling) {
		return parent{}, false
	}
	return p, true
}

// identify takes trace ids of 64 bits too, as B3 has them.
func (p *parent) identify(traceID, spanID string) bool {
	low := p.trace[:]
	if len(traceID) == traceIDLength/2 {
		low = p.trace[8:]
	}
	return unhex(low, traceID) && unhex(p.span[:], spanID) && p.identified()
}

// decide reads B3's sampling state, "true" and "false" being those of old senders.
func (p *parent) decide(state string) bool {
	switch state {
	case "0", "false":
	case "1", "true":
		p.flags = trace.FlagsSampled
	case "d":
		p.flags, p.debug = trace.FlagsSampled, true
	default:
		return false
	}
	p.decided = true
	return true
}

func isSpanID(s string) bool {
	var id trace.SpanID
	return unhex(id[:], s)
}

func cutDash(s string) (before, after string, found bool) {
	for i := range min(len(s), traceIDLength+1) {
		if s[i] == '-' {
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// unhex fills dst from exactly as many lower-case digits as it has room for.
func unhex(dst []byte, s string) bool {
	if len(s) != 2*len(dst) {
		return false
	}
	for i := range dst {
		high, low := digit(s[2*i]), digit(s[2*i+1])
		if high > 0xf || low > 0xf {
			return false
		}
		dst[i] = high<<4 | low
	}
	return true
}

func digit(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	}
	return 0xff
}

// sampler decides about traces.
type sampler struct {
	heeds bool   // what the parent has decided
	bound uint64 // of a trace id's last 63 bits
}

// sampled is a comparison that comes out the same wherever it is made for a trace.
func (s sampler) sampled(p *parent, id trace.TraceID) bool {
	if s.heeds && p.decided {
		return p.flags.IsSampled()
	}
	return binary.BigEndian.Uint64(id[8:])>>1 < s.bound
}
