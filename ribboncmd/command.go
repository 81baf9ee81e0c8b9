package ribboncmd

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"
)

// Command guards the calls of one service under one configuration. Make it
// with Commands.Command. It is safe for concurrent use and holds nothing that
// would have to be closed.
type Command struct {
	service  string
	commands *Commands
	policy   policy
	attached atomic.Pointer[attachment]
}

// attachment is what a command has found in the registry.
type attachment struct {
	state *state
	pool  *pool // of its own policy; nil unless Thread
}

// Service returns the service id.
func (c *Command) Service() string { return c.service }

// Settings returns the settings that the command was made with.
func (c *Command) Settings() Settings { return c.policy.Settings }

// Execute runs the call unless circuit or bulkhead refuse it, which they do at
// once, and answers from the fallback when there is no response in time. Any
// HTTP response is a success, its status whatever it may be.
//
// The call runs on the caller's goroutine, once at most. At the deadline its
// context ends with the cause ErrTimeout, and a response that still comes is
// closed. Its permit is held until it returns; the body is read without one
// and without deadline. The caller has to close the body, which ends the
// context. A panic of the call counts as a failure and goes on.
//
// Errors are always *Error. The caller's own end is reported as Cancelled
// and counts for nobody; if the caller's deadline was it, as Timeout.
func (c *Command) Execute(ctx context.Context, run Run) (*http.Response, error) {
	a := c.attach()
	s := a.state
	x := execution{start: time.Now()}
	resp := c.execute(ctx, a, &x, run)
	if x.err == nil {
		return resp, nil
	}
	cause := x.failure(c.service)
	resp, failure := c.fallBack(ctx, s, cause)
	s.answered(&x)
	c.policy.tell(ctx, cause, failure == nil)
	if failure != nil {
		s.count(EventExceptionThrown)
		return nil, failure
	}
	return resp, nil
}

// execute is everything but the fallback. A panic in run leaves the outcome as
// Failure.
func (c *Command) execute(ctx context.Context, a *attachment, x *execution, run Run) (resp *http.Response) {
	s := a.state
	trialID, ok := s.breaker.admit(&c.policy.Breaker, x.start, c.policy.guard())
	if !ok {
		s.count(EventShortCircuited)
		x.outcome, x.err = ShortCircuited, ErrShortCircuited
		return nil
	}
	x.outcome = Failure
	defer func() { s.finish(&c.policy, trialID, x, time.Now()) }()

	call := newCall(ctx, x.start, c.policy.deadline())
	if x.waited, x.err = a.enter(&call.ctx, &c.policy.Settings); x.err != nil {
		call.ctx.release()
		x.outcome = refusalOf(x.err)
		return nil
	}
	defer a.leave()
	x.begin()
	resp, x.outcome, x.err = call.do(run, c.policy.FailureStatus)
	if x.outcome == Success && c.policy.FailureFields != nil {
		x.outcome = c.judge(s, resp)
	}
	return resp
}

// attach finds the state of the service and puts the command's policy in
// force.
func (c *Command) attach() *attachment {
	a := c.attached.Load()
	if a == nil || a.state.forgotten.Load() {
		a = c.commands.attach(c.service, &c.policy)
		c.attached.Store(a)
	}
	if c.policy.newer(a.state.policy.Load()) {
		a.state.adopt(&c.policy, a.pool)
		c.commands.look()
	}
	return a
}

// Retire lets go of what is kept about a service that is no more, once its last call has
// ended; Run sees to it. What an operator has forced on its circuit stays, and so does a service
// that a later command executes for before that.
func (c *Commands) Retire(service string) {
	s := c.find(service)
	if s != nil && s.breaker.override.Load() == int32(NotForced) {
		s.retired.Store(true)
		c.look()
	}
}

// PutInForce lets the settings hold for a service that has executed lately, which
// its next execution would do as well: management then shows them at once, and
// waiting calls have the places of a pool that has grown.
func (c *Command) PutInForce() {
	if c.commands.find(c.service) != nil {
		c.attach()
	}
}
