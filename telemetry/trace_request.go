package telemetry

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/grpc"
	"github.com/gozer-gateway/gozer/lb"
	"github.com/gozer-gateway/gozer/ribboncmd"
)

// request is one that is recorded. It is the context of that request: the one it
// had, with the span and the baggage in it.
type request struct {
	context.Context //nolint:containedctx // this is a context: it has a parent

	tracer *Tracer
	first  trace.TraceID   // of the span if it has no parent
	values context.Context //nolint:containedctx // holds what OpenTelemetry puts into contexts, and nothing else
	span   trace.Span
	debug  bool // B3's

	mu       sync.Mutex
	ended    bool      // guarded by mu
	answered *answered // guarded by mu; of the attempt whose response goes to the client
}

type keyOfRequest struct{}

// requestKey finds the request in a context.
var requestKey any = keyOfRequest{} //nolint:gochecknoglobals // a constant: making one anew would allocate

// requestOf is nil for a request that is not recorded.
func requestOf(ctx context.Context) *request {
	r, _ := ctx.Value(requestKey).(*request)
	return r
}

// Value looks among the trace's own values first.
func (r *request) Value(key any) any {
	if key == requestKey {
		return r
	}
	if v := r.values.Value(key); v != nil {
		return v
	}
	return r.Context.Value(key)
}

// Interruptible hands on what internal/http1 asks contexts for.
func (r *request) Interruptible() bool {
	parent, ok := r.Context.(interface{ Interruptible() bool })
	return ok && parent.Interruptible()
}

// AfterFunc lets derived contexts do without a goroutine if the parent can.
func (r *request) AfterFunc(f func()) (stop func() bool) {
	if parent, ok := r.Context.(interface{ AfterFunc(f func()) func() bool }); ok {
		return parent.AfterFunc(f)
	}
	return context.AfterFunc(r.Context, f)
}

// hold keeps the span of an attempt open for as long as the request takes. It returns
// false when that is over, or has a span to hold already.
func (r *request) hold(a *answered) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.answered != nil {
		return false
	}
	r.answered = a
	return true
}

func (r *request) end() *answered {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	return r.answered
}

// End ends the spans of a request whose response has been sent, or cut short.
func (*Tracer) End(c *filters.Context) {
	if !c.Trace.Sampled {
		return
	}
	r := requestOf(c.Request.Context())
	if r == nil {
		return
	}
	now := trace.WithTimestamp(time.Now())
	if attempt := r.end(); attempt != nil {
		attempt.end(failureOfBody(c), now)
	}
	pattern := ""
	if c.Route != nil {
		pattern = c.Route.FullPath
	}
	r.span.SetName(spanName(c.Request.Method, pattern))
	failed, why := failureOf(c)
	r.span.SetAttributes(outcomeAttributes(c, failed)...)
	if failed {
		r.span.SetStatus(codes.Error, why)
	}
	r.span.End(now)
}

// failureOf judges as the semantic conventions do: what the client has done wrong is no
// failure of a server.
func failureOf(c *filters.Context) (failed bool, why string) {
	code, isCall := c.CallStatus()
	failed = c.Status() >= 500 || isCall && serversFault(grpc.Code(code))
	if c.Err == nil || errors.Is(c.Err, filters.ErrClientGone) {
		return failed, ""
	}
	return failed || c.Cut() || c.Aborted(), clipped(c.Err.Error(), maxText)
}

// failureOfBody is a word for why the answer's body broke off, empty if it did not or if
// the client had left.
func failureOfBody(c *filters.Context) string {
	body, ok := errors.AsType[*filters.BodyError](c.Err)
	if !ok || c.Request.Context().Err() != nil {
		return ""
	}
	return lb.Direct(c.Request.Context(), "", body.Err).Cause()
}

// errorType is what an attribute says about a failure: a word out of a small set.
func errorType(c *filters.Context) string {
	if c.Err == nil {
		return ""
	}
	if c.Cut() {
		return "shutdown"
	}
	if errors.Is(c.Err, filters.ErrClientGone) || c.Request.Context().Err() != nil {
		return "client_gone"
	}
	if failure, ok := errors.AsType[*ribboncmd.Error](c.Err); ok && failure.Outcome != ribboncmd.Failure {
		return strings.ToLower(failure.Outcome.String())
	}
	if failure, ok := errors.AsType[*lb.Error](c.Err); ok {
		return failure.Cause()
	}
	return failureOfBody(c)
}

// Failed notes on the span of the request what its command, or one that a filter has
// used, had to do.
func (*Tracer) Failed(ctx context.Context, failure *ribboncmd.Error, fellBack bool) {
	r := requestOf(ctx)
	if r == nil {
		return
	}
	about := trace.WithAttributes(serviceKey.String(failure.Service), outcomeKey.String(failure.Execution.String()))
	if name := eventNames(failure.Execution); name != "" {
		r.span.AddEvent(name, about)
	}
	if fellBack {
		r.span.AddEvent("fallback", about)
		r.span.SetAttributes(attribute.Bool("gozer.fallback", true))
	}
}

func eventNames(o ribboncmd.Outcome) string {
	switch o {
	case ribboncmd.ShortCircuited:
		return "circuit open"
	case ribboncmd.SemaphoreRejected, ribboncmd.ThreadPoolRejected:
		return "bulkhead full"
	case ribboncmd.Timeout:
		return "deadline passed"
	case ribboncmd.Success, ribboncmd.Failure, ribboncmd.FallbackRejected, ribboncmd.BadRequest, ribboncmd.Cancelled:
	}
	return ""
}
