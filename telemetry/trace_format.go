package telemetry

import (
	"errors"
	"fmt"
	"strings"
)

// Formats is a set of ways to write the context of a trace into header fields.
type Formats uint8

// The formats. Where an incoming request has several, the first one of this list that
// is well-formed counts.
const (
	W3C     Formats = 1 << iota // traceparent and tracestate
	B3                          // the one field b3
	B3Multi                     // X-B3-TraceId and its companions
	// Baggage is the field baggage: it is read for filters and written into their own
	// calls. Routed requests keep theirs as it is, with or without it.
	Baggage
)

const (
	anyB3   = B3 | B3Multi
	anyIDs  = W3C | anyB3
	defined = anyIDs | Baggage
)

// ParseFormats reads names: of Spring ("W3C", "B3", "B3_MULTI") and of OTEL_PROPAGATORS
// ("tracecontext", "baggage", "b3", "b3multi", "none"), in any case.
func ParseFormats(names []string) (Formats, error) {
	var all Formats
	var problems []error
	for _, name := range names {
		f, ok := formatNamed(strings.TrimSpace(name))
		if !ok {
			problems = append(problems, fmt.Errorf("telemetry: unknown propagation format %q", clipped(name, maxShown)))
		}
		all |= f
	}
	return all, errors.Join(problems...)
}

func formatNamed(name string) (Formats, bool) {
	switch strings.ToLower(name) {
	case "w3c", "tracecontext":
		return W3C, true
	case "b3":
		return B3, true
	case "b3_multi", "b3multi":
		return B3Multi, true
	case "baggage":
		return Baggage, true
	case "none", "":
		return 0, true
	}
	return 0, false
}

// maxShown bounds what messages quote.
const maxShown = 40

// clipped is s without what is beyond n bytes.
func clipped(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 { // not within a character
		n--
	}
	return s[:n]
}
