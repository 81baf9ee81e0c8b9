package ribboncmd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

var errNoFallbackResponse = errors.New("ribboncmd: provider returned neither response nor error")

// fallBack turns a failure into the provider's response, or else completes the
// failure with the reason why there is none. The client's own failures get no
// fallback.
func (c *Command) fallBack(ctx context.Context, s *state, failure *Error) (*http.Response, *Error) {
	if c.refuseFallback(s, failure, c.policy.provider != nil) != EventFallbackSuccess {
		return nil, failure
	}
	defer s.fallbacks.giveBack()
	resp, err := c.provide(ctx, failure.asCause())
	if s.fellBack(failure, err); err != nil {
		return nil, failure
	}
	return resp, nil
}

// refuseFallback counts and returns why there will be no fallback. If there will be
// one it returns EventFallbackSuccess, and a permit has to be given back; numEvents
// stands for a failure that has none due.
func (c *Command) refuseFallback(s *state, failure *Error, there bool) Event {
	var event Event
	switch {
	case failure.Outcome == Cancelled || failure.Outcome == BadRequest:
		return numEvents
	case !c.policy.Fallback.Enabled:
		event, failure.FallbackErr = EventFallbackDisabled, ErrFallbackDisabled
	case !there:
		event, failure.FallbackErr = EventFallbackMissing, ErrNoFallback
	case !s.fallbacks.take(c.policy.Fallback.MaxConcurrent):
		event, failure.FallbackErr = EventFallbackRejection, ErrFallbackRejected
		failure.Outcome = FallbackRejected
	default:
		return EventFallbackSuccess
	}
	s.count(event)
	return event
}

// fellBack counts and returns what became of a fallback.
func (s *state) fellBack(failure *Error, err error) Event {
	event := EventFallbackSuccess
	switch {
	case errors.Is(err, ErrNoFallback):
		event = EventFallbackMissing
	case err != nil:
		event = EventFallbackFailure
	}
	failure.FallbackErr = err
	s.count(event)
	return event
}

// provide asks the provider; a panic of it becomes an error.
func (c *Command) provide(ctx context.Context, cause *Error) (resp *http.Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			resp, err = nil, fmt.Errorf("ribboncmd: fallback provider panicked: %v", p)
		}
	}()
	resp, err = c.policy.provider.Fallback(ctx, c.service, cause)
	if err == nil {
		err = complete(resp)
	}
	if err != nil {
		discard(resp)
		return nil, err
	}
	return resp, nil
}

// complete gives a response what filters rely on, or tells why it cannot answer a
// request.
func complete(resp *http.Response) error {
	switch {
	case resp == nil:
		return errNoFallbackResponse
	case resp.StatusCode < http.StatusOK || resp.StatusCode > 999:
		return fmt.Errorf("ribboncmd: provider's status %d does not end a request", resp.StatusCode)
	}
	if resp.Header == nil {
		resp.Header = http.Header{}
	}
	if resp.Body == nil {
		resp.Body = http.NoBody
	}
	return nil
}
