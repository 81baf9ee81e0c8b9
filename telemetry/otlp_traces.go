package telemetry

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// TracesSettings say where spans go. They hold from the start to the end.
type TracesSettings struct {
	Exporter Exporter
	Queue    QueueSettings
	Resource *resource.Resource // that the spans come from, see [Resource]
	Logger   *slog.Logger       // hears of a collector in trouble
}

// Traces is the way of spans out of the process. It outlives reloads.
type Traces struct {
	queue    *queue
	exporter *otlptrace.Exporter
	close    func()
	provider *sdktrace.TracerProvider
}

// NewTraces builds it and starts nothing. Spans that end before Run wait for it, as many
// as the queue holds.
func NewTraces(s TracesSettings) (*Traces, error) {
	if err := s.Exporter.check(); err != nil {
		return nil, err
	}
	t := &Traces{}
	t.exporter, t.close = s.Exporter.traces()
	t.queue = newQueue(s.Queue, t.exporter, s.Logger)
	t.provider = provider(t.queue, s.Resource)
	return t, nil
}

// provider makes spans of all it is asked for: who asks has decided to sample.
func provider(p sdktrace.SpanProcessor, r *resource.Resource) *sdktrace.TracerProvider {
	return sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(p), sdktrace.WithSampler(sdktrace.AlwaysSample()),
		sdktrace.WithIDGenerator(ids{}), sdktrace.WithResource(r))
}

// Tracer makes a tracer by the settings of one configuration.
func (t *Traces) Tracer(s TracerSettings) *Tracer { return newTracer(s, t.provider) }

// Stats may be called at any time.
func (t *Traces) Stats() TraceStats { return t.queue.stats() }

// Run sends spans until ctx ends, and what is left then for as long as grace. A
// collector that is down delays it by no more.
func (t *Traces) Run(ctx context.Context, grace time.Duration) {
	if err := t.exporter.Start(context.WithoutCancel(ctx)); err != nil { // it may have ended already
		t.queue.log.Error("traces are not exported", "error", err)
	}
	t.queue.run(ctx, grace)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = t.exporter.Shutdown(last) // everything has been sent or given up
	t.close()
}
