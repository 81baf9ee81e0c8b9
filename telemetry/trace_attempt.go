package telemetry

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/gozer-gateway/gozer/internal/grpc"
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
	open := &answered{a.span, resp}
	switch {
	case a.routed && a.request.hold(open):
	case resp.Body == nil || resp.StatusCode == http.StatusSwitchingProtocols:
		open.end("")
	default:
		resp.Body = &tracedBody{ReadCloser: resp.Body, answered: open}
	}
}

// answered is the span of an attempt whose response has begun.
type answered struct {
	span trace.Span
	resp *http.Response
}

// end ends the span with the response. broke is a word for why that broke off, empty if it
// did not.
func (a *answered) end(broke string, how ...trace.SpanEndOption) {
	code, told := a.callStatus(broke == "")
	if told {
		a.span.SetAttributes(callAttributes(code)...)
	}
	if broke == "" && told && code != grpc.OK {
		broke = nameOf(code)
	}
	if broke != "" {
		a.span.SetAttributes(semconv.ErrorTypeKey.String(broke))
		a.span.SetStatus(codes.Error, "")
	}
	a.span.End(how...)
}

// callStatus is how a gRPC call has ended. whole says that the body has been read, and with
// it the trailer.
func (a *answered) callStatus(whole bool) (grpc.Code, bool) {
	if !grpc.IsContent(a.resp.Header) {
		return 0, false
	}
	if code, told := grpc.Ended(a.resp.Header); told || !whole {
		return code, told
	}
	return grpc.Ended(a.resp.Trailer)
}

// tracedBody ends a span when the body ends or is closed.
type tracedBody struct {
	io.ReadCloser
	answered *answered
	once     sync.Once
}

func (b *tracedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.once.Do(func() { b.answered.end(breakOf(b.answered.resp, err)) })
	}
	return n, err
}

// breakOf is a word for the end of a body that is not its good one.
func breakOf(resp *http.Response, err error) string {
	if errors.Is(err, io.EOF) {
		return ""
	}
	ctx := context.Background()
	if resp.Request != nil {
		ctx = resp.Request.Context()
	}
	return lb.Direct(ctx, "", err).Cause()
}

// Close closes the body first: it may have to wait.
func (b *tracedBody) Close() error {
	err := b.ReadCloser.Close()
	b.once.Do(func() { b.answered.end("") })
	return err
}
