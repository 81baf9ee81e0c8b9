package telemetry

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"net/http"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/trace"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/lb"
	"github.com/gozer-gateway/gozer/ribboncmd"
)

// TracerSettings are what a reload may change about tracing.
type TracerSettings struct {
	// Probability is the share of traces that are sampled, from 0 to 1.
	Probability float64
	// IgnoreParent samples by Probability even what the caller has decided about.
	IgnoreParent bool
	// Consume are the formats that are understood, Produce those that upstreams get.
	Consume, Produce Formats
	// TrustedOnly takes the traces of trusted proxies only; the requests of anybody else
	// begin traces of their own.
	TrustedOnly bool
}

// Tracer decides which requests are recorded, and makes the spans of those. Any number
// of goroutines may use it. The spans go to the Traces it was made from.
type Tracer struct {
	settings TracerSettings
	sampler  sampler
	tracer   trace.Tracer
	replaced Formats // whose fields are not passed on as they came
}

var (
	_ filters.Observer = (*Tracer)(nil)
	_ lb.Tracer        = (*Tracer)(nil)
	_ ribboncmd.Tracer = (*Tracer)(nil)
)

// newTracer makes a tracer whose spans a provider makes, which has to sample all.
func newTracer(s TracerSettings, p trace.TracerProvider) *Tracer {
	return &Tracer{
		settings: s,
		sampler:  sampler{!s.IgnoreParent, uint64(min(max(s.Probability, 0), 1) * (1 << 63))},
		tracer:   p.Tracer(scope),
		replaced: (s.Consume | s.Produce) & anyIDs,
	}
}

// scope names the instrumentation.
const scope = "github.com/gozer-gateway/gozer"

// Begin decides about a request: it notes its trace in c.Trace and sees to it that the
// upstream hears of the decision. If the request is recorded, its context has the span
// from now on.
func (t *Tracer) Begin(c *filters.Context) {
	p := t.parentOf(c)
	id := identity{trace: p.trace, span: p.span, flags: p.flags &^ trace.FlagsSampled, debug: p.debug}
	if !p.identified() {
		id.trace, id.span = newTraceID(), newSpanID()
	}
	if t.sampler.sampled(&p, id.trace) {
		id.flags |= trace.FlagsSampled
		t.record(c, &p, &id)
		return
	}
	c.Trace = filters.Trace{TraceID: id.trace, SpanID: id.span}
	t.pass(c, &p, &id)
}

func (t *Tracer) parentOf(c *filters.Context) parent {
	if t.settings.TrustedOnly && !c.Origin().Proxied {
		return parent{}
	}
	return received(c.Request.Header, t.settings.Consume)
}

// pass tells the upstream of a trace that is not recorded here. What says just that
// already stays as it came.
func (t *Tracer) pass(c *filters.Context, p *parent, id *identity) {
	asItCame := p.format == W3C && t.settings.Produce == W3C && p.flags == id.flags
	if asItCame {
		remove(c.Out.Header, t.replaced&anyB3)
		return
	}
	remove(c.Out.Header, t.replaced)
	id.debug = false
	id.write(t.settings.Produce, c.Out.SetField)
	if !t.keepsState(p) {
		delete(c.Out.Header, tracestateField)
	}
}

// record begins the span of a request.
func (t *Tracer) record(c *filters.Context, p *parent, id *identity) {
	r := &request{Context: c.Request.Context(), tracer: t, debug: p.debug}
	r.first = id.trace
	state, err := t.stateOf(c.Request.Header, p)
	if err != nil || !t.keepsState(p) {
		delete(c.Out.Header, tracestateField)
	}
	r.values = context.Background()
	if p.identified() {
		r.values = trace.ContextWithRemoteSpanContext(r.values, trace.NewSpanContext(trace.SpanContextConfig{
			TraceID: p.trace, SpanID: p.span, TraceFlags: id.flags, TraceState: state, Remote: true,
		}))
	}
	remove(c.Out.Header, t.replaced)
	_, r.span = t.tracer.Start(r, spanName(c.Request.Method, ""), trace.WithSpanKind(trace.SpanKindServer),
		trace.WithTimestamp(c.Start), trace.WithAttributes(requestAttributes(c)...))
	r.values = trace.ContextWithSpan(r.baggage(c.Request.Header), r.span)
	sc := r.span.SpanContext()
	c.Trace = filters.Trace{TraceID: sc.TraceID(), SpanID: sc.SpanID(), Sampled: true}
	own := identity{sc.TraceID(), sc.SpanID(), sc.TraceFlags(), p.debug}
	own.write(t.settings.Produce, c.Out.SetField) // for whoever sends without a load balancer
	*c.Request = *c.Request.WithContext(r)        // whoever holds the request sees the span
}

// keepsState reports that tracestate goes on as it came: beside a traceparent.
func (t *Tracer) keepsState(p *parent) bool {
	return t.replaced&W3C == 0 || p.format == W3C && t.settings.Produce&W3C != 0
}

// stateOf reads tracestate, which counts only beside a traceparent.
func (t *Tracer) stateOf(h http.Header, p *parent) (trace.TraceState, error) {
	if p.format != W3C || len(h[tracestateField]) == 0 {
		return trace.TraceState{}, nil
	}
	return parseState(h[tracestateField])
}

// baggage is the context that carries what the request brings for others.
func (r *request) baggage(h http.Header) context.Context {
	lines := h[baggageField]
	if r.tracer.settings.Consume&Baggage == 0 || len(lines) == 0 {
		return context.Background()
	}
	b, err := parseBaggage(lines)
	if err != nil {
		return context.Background()
	}
	return baggage.ContextWithBaggage(context.Background(), b)
}

// ids make the trace id that was decided about the one of the root span.
type ids struct{}

func (ids) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	if r, ok := ctx.Value(requestKey).(*request); ok {
		return r.first, newSpanID()
	}
	return newTraceID(), newSpanID()
}

func (ids) NewSpanID(context.Context, trace.TraceID) trace.SpanID { return newSpanID() }

func newTraceID() (id trace.TraceID) {
	binary.BigEndian.PutUint64(id[:8], rand.Uint64()|1) // never all zero
	binary.BigEndian.PutUint64(id[8:], rand.Uint64())
	return id
}

func newSpanID() (id trace.SpanID) {
	for !id.IsValid() {
		binary.BigEndian.PutUint64(id[:], rand.Uint64())
	}
	return id
}
