package lb

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"
)

// exchange is one run of Command.Do. It lives on its caller's stack.
type exchange struct {
	cmd     *Command
	policy  *RetryPolicy
	ctx     context.Context //nolint:containedctx // it ends with the exchange
	req     *http.Request   // of the current attempt
	call    Call
	url     url.URL     // as the caller gave it, without a server
	host    string      // as the caller gave it
	given   bool        // req has been given to the transport
	repeats bool        // what was sent may be sent again
	body    *replay     // nil without one
	watch   *watch      // nil without listeners
	span    AttemptSpan // of the current attempt; nil unless it is recorded

	server   *Server
	same     int       // attempts on server before this one
	next     int       // servers before this one
	tried    []*Server // those servers
	attempts []Attempt
	fault    fault         // of the last attempt
	started  time.Time     // the last attempt
	took     time.Duration // by it
	stay     bool          // the next one is on the same server
	pause    time.Duration // before it
}

func (x *exchange) run() (*http.Response, error) {
	if err := x.begin(); err != nil {
		return nil, x.end(err)
	}
	for {
		resp, err := x.attempt()
		again := x.plan(resp, err)
		if again == nil {
			return x.finish(resp, err)
		}
		x.giveUp(resp)
		if err := x.wait(); err != nil {
			return nil, x.end(err)
		}
		x.move(again)
	}
}

// begin finds the first server.
func (x *exchange) begin() *Error {
	if x.watch != nil {
		if err := x.watch.executionStart(); err != nil {
			x.watch = nil
			return x.fail(fault{kind: Aborted}, err)
		}
	}
	if x.ctx.Err() != nil {
		return x.fail(ended(x.ctx), context.Cause(x.ctx))
	}
	x.server = x.call.Server
	if x.server == nil {
		x.server = x.cmd.Balancer.Choose(x.call.Key, nil)
	}
	switch {
	case x.server == nil:
		return noServer(x.cmd.Balancer.Name())
	case x.server.Stats() == nil:
		return x.fail(fault{}, ErrForeignServer)
	}
	x.cmd.Budget.deposit()
	return nil
}

// finish gives the last attempt's result to the caller, a response whatever its status.
func (x *exchange) finish(resp *http.Response, err error) (*http.Response, error) {
	if err != nil {
		return nil, x.end(x.fail(x.fault, err))
	}
	x.body.settle()
	if x.span != nil {
		x.span.Answered(resp)
	}
	x.watch.executionSuccess(resp)
	return resp, nil
}

// end tells of the error that the caller gets.
func (x *exchange) end(err *Error) *Error {
	x.body.fence()
	attempts := x.same
	if len(x.attempts) > 0 && err.Kind != Aborted {
		attempts++
	}
	x.watch.executionFailed(x.server, attempts, x.next, err)
	return err
}

// giveUp releases a response in favour of another attempt.
func (x *exchange) giveUp(resp *http.Response) {
	if resp != nil {
		x.watch.serverException(statusError(resp.StatusCode))
		x.traceGivenUp(resp)
		discard(resp)
	}
}

// attempt sends the request to the current server once. A panic of the transport
// completes the statistics too.
func (x *exchange) attempt() (resp *http.Response, err error) {
	if x.watch != nil {
		if err := x.watch.serverStart(x.server, x.same, x.next); err != nil {
			x.fault = fault{kind: Aborted}
			return nil, err
		}
	}
	start := time.Now()
	x.started = start
	x.cmd.Balancer.Begin(x.server, start)
	x.fault = fault{}
	defer func() {
		x.took = time.Since(start)
		end := start.Add(x.took)
		switch {
		case err != nil:
			x.fault = x.diagnose(err)
		case resp != nil:
			x.fault.outcome = OutcomeOf(resp.StatusCode)
			if turned := x.policy.TurnedAway; turned != nil && turned(resp.Header) {
				x.fault.turnedAway, x.fault.outcome = true, Failing
			}
		}
		x.cmd.Balancer.End(x.server, end, x.took, x.fault.outcome)
		x.tell(resp, err)
		if resp == nil {
			x.traceFailure(err)
		}
	}()
	clear(x.call.Header)
	first := !x.given
	req := x.outbound()
	x.trace(first)
	resp, err = Carry(x.ctx, x.cmd.Transport, req, x.call.Header)
	if err == nil && x.policy.throttled(resp.StatusCode) {
		discard(resp)
		return nil, statusError(resp.StatusCode)
	}
	return resp, err
}

// tell lets the caller's recorder know of the attempt that has just ended.
func (x *exchange) tell(resp *http.Response, err error) {
	if x.call.Recorder == nil {
		return
	}
	a := Attempt{Server: x.server.id(), Start: x.started, Kind: x.fault.kind, Err: err, Duration: x.took}
	if resp != nil {
		a.Status = resp.StatusCode
	} else if throttled, ok := errors.AsType[statusError](err); ok {
		a.Status = int(throttled)
	}
	x.call.Recorder.Attempted(a)
}

func (x *exchange) diagnose(err error) fault {
	if over(x.ctx) {
		f := ended(x.ctx)
		if x.body.awaited() || isUnasked(err) {
			f.outcome = Neutral // the caller of Do, or the transport, had the time, not the server
		}
		return f
	}
	if x.body.failed() {
		return fault{kind: General, outcome: Neutral}
	}
	return x.judge(classify(err), err)
}

// plan finds the server of the next attempt, nil if the last one stands.
func (x *exchange) plan(resp *http.Response, err error) *Server {
	if err == nil && !x.unwanted(resp.StatusCode) && !x.fault.turnedAway || x.fault.kind == Aborted {
		return nil
	}
	x.record(resp, err)
	if err != nil {
		x.watch.serverException(err)
	}
	if over(x.ctx) || x.body.failed() {
		return nil
	}
	x.stay = x.same < x.policy.MaxSame && x.retriable(true)
	if !x.stay && !x.mayMove() || !x.granted() {
		return nil
	}
	s := x.upcoming()
	if s == nil {
		x.cmd.Budget.refund()
	}
	return s
}

// mayMove reports that the next server may be tried.
func (x *exchange) mayMove() bool {
	return x.call.Server == nil && x.next < x.policy.MaxNext && x.retriable(false)
}

func (x *exchange) unwanted(status int) bool {
	return x.repeats && x.policy.repeatsStatus(status)
}

func (x *exchange) record(resp *http.Response, err error) {
	a := Attempt{Server: x.server.id(), Start: x.started, Kind: x.fault.kind, Err: err, Duration: x.took}
	if resp != nil {
		a.Status = resp.StatusCode
	}
	x.attempts = append(x.attempts, a)
}

// upcoming finds the server of another attempt, nil if there cannot be one. A failed
// connection alone is no reason to try the only server again.
func (x *exchange) upcoming() *Server {
	s := x.server
	if !x.stay {
		x.tried = append(x.tried, x.server)
		s = x.cmd.Balancer.Choose(x.call.Key, x.tried)
		if s == nil || s.Stats() == nil || !x.repeats && s.Same(x.server) {
			return nil
		}
	}
	if !x.body.rewind(x.ctx) {
		return nil
	}
	return s
}

// move begins the attempt on the server that plan has found.
func (x *exchange) move(s *Server) {
	if x.stay {
		x.same++
		return
	}
	x.server, x.same = s, 0
	x.next++
}

// fail makes the error of the command. As in Ribbon the kind follows from the number of
// attempts, if retries were allowed and all used, and from the last fault otherwise.
func (x *exchange) fail(f fault, err error) *Error {
	policy, kind := x.policy, f.kind
	switch {
	case kind == Cancelled || kind == Aborted || len(x.attempts) == 0:
	case policy.MaxNext > 0 && x.next == policy.MaxNext:
		kind = NumberOfRetriesNextServerExceeded
	case policy.MaxSame > 0 && x.same == policy.MaxSame:
		kind = NumberOfRetriesExceeded
	}
	return &Error{Service: x.cmd.Balancer.Name(), Kind: kind, Attempts: x.attempts, Err: err}
}

// maxDrain is the length up to which the body of a discarded response is read, so that
// its connection can be used again.
const maxDrain = 4 << 10

// discard releases a response that is given up for another attempt.
func discard(resp *http.Response) {
	if resp == nil {
		return
	}
	if resp.ContentLength >= 0 && resp.ContentLength <= maxDrain {
		_, _ = io.CopyN(io.Discard, resp.Body, maxDrain)
	}
	_ = resp.Body.Close()
}
