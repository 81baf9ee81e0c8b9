package telemetry

import (
	"log/slog"

	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// NewTracer makes a tracer whose spans a processor hears of.
func NewTracer(s TracerSettings, p sdktrace.SpanProcessor) *Tracer {
	return newTracer(s, provider(p, resource.Empty()))
}

// Identity is what a header says about a trace.
type Identity struct {
	Trace, Span      string
	Sampled, Decided bool
}

func identityOf(p parent, ok bool) (Identity, bool) {
	return Identity{p.trace.String(), p.span.String(), p.flags.IsSampled(), p.decided}, ok && p.identified()
}

// ParseTraceparent and the others read one header.
func ParseTraceparent(s string) (Identity, bool) { return identityOf(parseTraceparent(s)) }

func ParseB3(s string) (Identity, bool) { return identityOf(parseB3(s)) }

func ParseB3Multi(trace, span, sampled, flags string) (Identity, bool) {
	return identityOf(parseB3Multi(b3Fields{trace, span, sampled, flags}))
}

// Queue is the queue of ended spans.
type Queue = queue

func NewQueue(s QueueSettings, e sdktrace.SpanExporter, l *slog.Logger) *Queue {
	return newQueue(s, e, l)
}

func (q *queue) Stats() TraceStats { return q.stats() }

var RunQueue = (*queue).run
