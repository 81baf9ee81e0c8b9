package telemetry

import (
	"errors"
	"strings"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/trace"
)

// What is read of fields that may be as long as the whole head of a request.
const (
	maxState   = 512 // bytes that W3C asks vendors to pass on
	maxBaggage = 8192
)

var errTooLong = errors.New("telemetry: field is too long")

// joined makes one value of the lines of a list.
func joined(lines []string, most int) (string, error) {
	total := 0
	for _, l := range lines {
		total += len(l) + 1
	}
	if total > most+1 {
		return "", errTooLong
	}
	return strings.Join(lines, ","), nil
}

func parseState(lines []string) (trace.TraceState, error) {
	value, err := joined(lines, maxState)
	if err != nil {
		return trace.TraceState{}, err
	}
	return trace.ParseTraceState(value)
}

func parseBaggage(lines []string) (baggage.Baggage, error) {
	value, err := joined(lines, maxBaggage)
	if err != nil {
		return baggage.Baggage{}, err
	}
	return baggage.Parse(value)
}
