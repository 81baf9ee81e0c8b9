package lb

import (
	"context"
	"errors"
	"net/http"
)

// Tracer follows the attempts of calls. It is asked on the goroutine of the call, many
// calls at once, right before an attempt is sent.
type Tracer interface {
	// StartAttempt returns nil for a call that is not recorded. It keeps nothing of a.
	StartAttempt(ctx context.Context, a AttemptStart) AttemptSpan
}

// AttemptStart is what is known about an attempt before it is sent.
type AttemptStart struct {
	Service string // "" for a URL route
	Server  string // id; "" for a URL route
	Zone    string // of the server; "" if it names none
	Rule    string // by which the server was chosen; "" for a URL route
	Request *http.Request
	Resend  int  // attempts before this one
	Hedge   bool // a copy that runs beside others

	// Routed says that the response becomes the answer to the client, and so ends with
	// the client's request.
	Routed bool
}

// AttemptSpan is an attempt that is recorded. Inject is called first; then one of the
// others, once.
type AttemptSpan interface {
	// Inject sets what tells the server of the span.
	Inject(h http.Header)
	// Failed ends an attempt without a response, or with one, of the given status, that is
	// given up for another attempt or that says that the server is throttled.
	Failed(status int, kind Kind, err error)
	// Answered takes note of the response that the caller gets. It may wrap resp.Body.
	Answered(resp *http.Response)
}

// descent says where a call comes from: whether its header may be written to, and who
// ends its response.
type descent uint8

const (
	routed   descent = iota // from Send
	borrowed                // the header belongs to the caller
	hedged                  // one copy of several
)

// trace begins the span of an attempt, whose header it makes the attempt's own.
func (x *exchange) trace(first bool) {
	t, r := x.cmd.Tracer, x.req
	if t == nil {
		return
	}
	x.span = t.StartAttempt(x.ctx, AttemptStart{
		Service: x.cmd.Balancer.Name(), Server: x.server.id(), Zone: x.server.Zone, Rule: x.cmd.Rule, Request: r,
		Resend: x.call.resent + len(x.attempts), Hedge: x.call.descent == hedged, Routed: x.call.descent == routed,
	})
	if x.span == nil {
		return
	}
	if !first || x.call.descent == borrowed {
		r.Header = r.Header.Clone()
	}
	x.span.Inject(r.Header)
}

// traceFailure ends the span of an attempt without a response.
func (x *exchange) traceFailure(err error) {
	if x.span == nil {
		return
	}
	status := 0
	if s, ok := errors.AsType[statusError](err); ok {
		status = int(s)
	}
	x.span.Failed(status, x.fault.kind, err)
	x.span = nil
}

// traceGivenUp ends the span of a response that is given up.
func (x *exchange) traceGivenUp(resp *http.Response) {
	if x.span != nil {
		x.span.Failed(resp.StatusCode, x.fault.kind, nil)
		x.span = nil
	}
}
