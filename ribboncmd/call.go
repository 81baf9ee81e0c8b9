package ribboncmd

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// Run makes the upstream call of one request. It must stop when ctx ends; its
// response's body stays readable after the deadline, until it is closed.
type Run = func(ctx context.Context) (*http.Response, error)

// call is one call of Run: its context and the body that outlives it, in one
// allocation.
type call struct {
	ctx  callContext
	body body
}

func newCall(parent context.Context, now time.Time, limit time.Duration) *call {
	c := &call{ctx: callContext{parent: parent}}
	if limit > 0 {
		c.ctx.deadline = now.Add(limit)
	}
	return c
}

// do runs the call and judges its result. Whatever comes too late is closed.
// A caller that went away when the response was there has not failed.
func (c *call) do(run Run, failureStatus func(int) bool) (*http.Response, Outcome, error) {
	kept := false
	defer func() {
		if !kept {
			c.ctx.release()
		}
	}()
	resp, err := run(&c.ctx)
	cause := c.ctx.settle()
	if err != nil || resp == nil || errors.Is(cause, ErrTimeout) {
		discard(resp)
		outcome, err := failureOf(cause, err)
		return nil, outcome, err
	}
	kept = true
	c.bind(resp)
	if failureStatus != nil && failureStatus(resp.StatusCode) {
		return resp, Failure, nil
	}
	return resp, Success, nil
}

func discard(resp *http.Response) {
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close() // nobody is left to hear of it
	}
}

var errNoResponse = errors.New("ribboncmd: call returned neither response nor error")

// failureOf names the outcome of a call without a response: cut short for the
// given cause, if there is one, else failed with err.
func failureOf(cause, err error) (Outcome, error) {
	switch timedOut := errors.Is(cause, ErrTimeout); {
	case cause != nil && !timedOut:
		return Cancelled, interrupted(cause, err)
	case isBadRequest(err):
		return BadRequest, err
	case timedOut:
		return Timeout, interrupted(cause, err)
	case err == nil:
		return Failure, errNoResponse
	}
	return Failure, err
}

// refusalOf names the outcome of a call that the bulkhead did not let in.
func refusalOf(err error) Outcome {
	switch {
	case errors.Is(err, ErrSemaphoreRejected):
		return SemaphoreRejected
	case errors.Is(err, ErrThreadPoolRejected):
		return ThreadPoolRejected
	case errors.Is(err, ErrTimeout):
		return Timeout
	}
	return Cancelled
}
