package telemetry

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"sync"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/gozer-gateway/gozer/lb"
)

// StartAttempt begins the span of one attempt, below the span in the call's context.
func (t *Tracer) StartAttempt(ctx context.Context, s lb.AttemptStart) lb.AttemptSpan {
	r := requestOf(ctx)
	if r == nil {
		return nil
	}
	traced, span := t.tracer.Start(ctx, spanName(s.Request.Method, ""), trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attemptAttributes(&s)...))
	a := &attempt{request: r, span: span, routed: s.Routed, produce: t.settings.Produce}
	if !s.Routed {
		a.baggage = baggage.FromContext(traced)
	}
	return a
}

type attempt struct {
	request *request
	span    trace.Span
	routed  bool
	produce Formats
	baggage baggage.Baggage // of a filter's own call
}

var _ lb.AttemptSpan = (*attempt)(nil)

func (a *attempt) Inject(h http.Header) {
	sc := a.span.SpanContext()
	id := identity{sc.TraceID(), sc.SpanID(), sc.TraceFlags(), a.request.debug}
	id.write(a.produce, func(name, value string) { h[name] = []string{value} })
	if state := sc.TraceState(); a.produce&W3C != 0 && state.Len() > 0 {
		h[tracestateField] = []string{state.String()}
	}
	if a.produce&Baggage != 0 && a.baggage.Len() > 0 && h[baggageField] == nil {
		h[baggageField] = []string{a.baggage.String()}
	}
}

func (a *attempt) Failed(status int, kind lb.Kind, err error) {
	what := lb.CauseOf(kind, err)
	if err == nil {
		what = strconv.Itoa(status)
	}
	if status > 0 {
		a.span.SetAttributes(semconv.HTTPResponseStatusCode(status))
	}
	a.span.SetAttributes(outcomeKey.String(what), semconv.ErrorTypeKey.String(what))
	description := ""
	if err != nil {
		description = clipped(err.Error(), maxText)
	}
	a.span.SetStatus(codes.Error, description)
	a.span.End()
}

// Answered ends the span with the response: with the client's request if the response
// is what the client gets, else with the body.
func (a *attempt) Answered(resp *http.Response) {
	a.span.SetAttributes(semconv.HTTPResponseStatusCode(resp.StatusCode), outcomeKey.String("answered"))
	if resp.StatusCode >= http.StatusBadRequest { // of a client span this is an error
		a.span.SetAttributes(semconv.ErrorTypeKey.String(strconv.Itoa(resp.StatusCode)))
		a.span.SetStatus(codes.Error, "")
	}
	switch {
	case a.routed && a.request.hold(a.span):
	case resp.Body == nil || resp.StatusCode == http.StatusSwitchingProtocols:
		a.span.End()
	default:
		resp.Body = &tracedBody{ReadCloser: resp.Body, span: a.span}
	}
}

// tracedBody ends a span when the body ends or is closed.
type tracedBody struct {
	io.ReadCloser
	span trace.Span
	once sync.Once
}

func (b *tracedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.once.Do(func() { b.span.End() })
	}
	return n, err
}

// Close closes the body first: it may have to wait.
func (b *tracedBody) Close() error {
	err := b.ReadCloser.Close()
	b.once.Do(func() { b.span.End() })
	return err
}
