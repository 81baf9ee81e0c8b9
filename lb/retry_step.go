package lb

import (
	"context"
	"fmt"
	"time"
)

// These are the steps of an exchange between one attempt and the next.

// statusError is a response that is not taken for an answer.
type statusError int

func (e statusError) Error() string { return fmt.Sprintf("lb: server answered %d", int(e)) }

// failure describes the last attempt for a handler.
func (x *exchange) failure(f fault, err error) *Failure {
	return &Failure{Kind: f.kind, Status: f.status, Err: err, Unsent: f.unsent, Repeatable: x.repeats}
}

// judge lets the policy's handler decide what an error says about the server, if it can
// say anything.
func (x *exchange) judge(f fault, err error) fault {
	if h := x.policy.Handler; h != nil && f.outcome != Neutral {
		f.outcome = Healthy
		if h.CircuitTripping(x.failure(f, err)) {
			f.outcome = Unhealthy
		}
	}
	return f
}

// retriable reports that another delivery is allowed after the last fault, and worth it.
func (x *exchange) retriable(same bool) bool {
	if !x.repeats && !x.fault.unsent && !x.fault.turnedAway {
		return false
	}
	last := x.attempts[len(x.attempts)-1]
	f := x.fault
	if last.Status != 0 {
		f.status = last.Status
	}
	return x.policy.Handler == nil || x.policy.Handler.Retriable(x.failure(f, last.Err), same)
}

// granted reports that budget and deadline have room for another attempt. It draws the
// pause before it.
func (x *exchange) granted() bool {
	now := time.Now()
	x.pause = x.policy.Backoff.pause(len(x.attempts))
	if deadline, ok := x.ctx.Deadline(); ok && x.pause > 0 && deadline.Sub(now) <= x.pause {
		return false
	}
	return x.cmd.Budget.withdraw(now)
}

// wait lets the pause go by. It fails if the request ends meanwhile.
func (x *exchange) wait() *Error {
	if x.pause <= 0 {
		return nil
	}
	timer := time.NewTimer(x.pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-x.ctx.Done():
		x.cmd.Budget.refund()
		return &Error{Service: x.cmd.Balancer.Name(), Kind: ended(x.ctx).kind, Attempts: x.attempts, Err: context.Cause(x.ctx)}
	}
}
