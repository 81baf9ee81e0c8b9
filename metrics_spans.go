package gozer

import "github.com/gozer-gateway/gozer/telemetry"

// spans tells what became of spans, if there is a way out for any.
func (g *Gateway) spans(e *telemetry.Emitter) {
	if g.exports.traces == nil {
		return
	}
	s := g.exports.traces.Stats()
	const name, help = "gozer_trace_spans_total", "Spans, by what became of them."
	e.Counter(name, help, float64(s.Exported), "outcome", "exported")
	e.Counter(name, help, float64(s.Failed), "outcome", "failed")
	e.Counter(name, help, float64(s.Dropped), "outcome", "dropped")
	e.Gauge("gozer_trace_spans_waiting", "Spans that wait to be sent.", float64(s.Waiting))
}
