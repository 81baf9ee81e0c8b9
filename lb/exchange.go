package lb

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"time"
)

// exchange is one run of Command.Do. It lives on its caller's stack.
type exchange struct {
	cmd     *Command
	ctx     context.Context //nolint:containedctx // it ends with the exchange
	req     *http.Request   // of the current attempt
	call    Call
	url     url.URL // as the caller gave it, without a server
	host    string  // as the caller gave it
	given   bool    // req has been given to the transport
	repeats bool    // what was sent may be sent again
	body    *replay // nil without one

	server   *Server
	same     int       // attempts on server before this one
	next     int       // servers before this one
	tried    []*Server // those servers
	attempts []Attempt
	fault    fault         // of the last attempt
	took     time.Duration // by the last attempt
}

func (x *exchange) run() (*http.Response, error) {
	if x.ctx.Err() != nil {
		x.body.fence()
		return nil, x.fail(ended(x.ctx), context.Cause(x.ctx))
	}
	x.server = x.cmd.Balancer.Choose(x.call.Key, nil)
	if x.server == nil {
		x.body.fence()
		return nil, noServer(x.cmd.Balancer.Name())
	}
	for {
		resp, err := x.attempt()
		again := x.plan(resp, err)
		if again == nil {
			return x.finish(resp, err)
		}
		discard(resp)
		x.server = again
	}
}

// finish gives the last attempt's result to the caller, a response whatever its status.
func (x *exchange) finish(resp *http.Response, err error) (*http.Response, error) {
	if err != nil {
		x.body.fence()
		return nil, x.fail(x.fault, err)
	}
	x.body.settle()
	return resp, nil
}

// attempt sends the request to the current server once. A panic of the transport
// completes the statistics too.
func (x *exchange) attempt() (resp *http.Response, err error) {
	start := time.Now()
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
		}
		x.cmd.Balancer.End(x.server, end, x.took, x.fault.outcome)
	}()
	clear(x.call.Header)
	return Carry(x.ctx, x.cmd.Transport, x.outbound(), x.call.Header)
}

func (x *exchange) diagnose(err error) fault {
	if over(x.ctx) {
		f := ended(x.ctx)
		if x.body.awaited() {
			f.outcome = Neutral // the caller of Do had the time, not the server
		}
		return f
	}
	if x.body.failed() {
		return fault{kind: General, outcome: Neutral}
	}
	return classify(err)
}

// plan finds the server of the next attempt, nil if the last one stands.
func (x *exchange) plan(resp *http.Response, err error) *Server {
	if err == nil && !x.unwanted(resp.StatusCode) {
		return nil
	}
	x.record(resp, err)
	switch {
	case !x.mayGoOn():
		return nil
	case x.same < x.cmd.Retry.MaxSame:
		return x.sameServer()
	case x.next < x.cmd.Retry.MaxNext:
		return x.nextServer()
	}
	return nil
}

func (x *exchange) unwanted(status int) bool {
	return x.repeats && x.cmd.Retry.repeatsStatus(status)
}

func (x *exchange) record(resp *http.Response, err error) {
	a := Attempt{Server: x.server.id(), Kind: x.fault.kind, Err: err, Duration: x.took}
	if resp != nil {
		a.Status = resp.StatusCode
	}
	x.attempts = append(x.attempts, a)
}

// mayGoOn reports that another delivery is allowed after this fault.
func (x *exchange) mayGoOn() bool {
	if over(x.ctx) || x.body.failed() {
		return false
	}
	return x.repeats || x.fault.unsent
}

func (x *exchange) sameServer() *Server {
	if !x.body.rewind(x.ctx) {
		return nil
	}
	x.same++
	return x.server
}

// nextServer moves on. A failed connection alone is no reason to try the only server again.
func (x *exchange) nextServer() *Server {
	x.tried = append(x.tried, x.server)
	s := x.cmd.Balancer.Choose(x.call.Key, x.tried)
	if s == nil || !x.repeats && s.Same(x.server) || !x.body.rewind(x.ctx) {
		return nil
	}
	x.next++
	x.same = 0
	return s
}

// fail makes the error of the command. As in Ribbon the kind follows from the number of
// attempts, if retries were allowed and all used, and from the last fault otherwise.
func (x *exchange) fail(f fault, err error) *Error {
	policy, kind := &x.cmd.Retry, f.kind
	switch {
	case kind == Cancelled || len(x.attempts) == 0:
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
