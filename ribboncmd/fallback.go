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
	switch {
	case failure.Outcome == Cancelled || failure.Outcome == BadRequest:
		return nil, failure
	case !c.policy.Fallback.Enabled:
		s.count(EventFallbackDisabled)
		failure.FallbackErr = ErrFallbackDisabled
		return nil, failure
	case c.policy.provider == nil:
		s.count(EventFallbackMissing)
		failure.FallbackErr = ErrNoFallback
		return nil, failure
	case !s.fallbacks.take(c.policy.Fallback.MaxConcurrent):
		s.count(EventFallbackRejection)
		failure.Outcome = FallbackRejected
		failure.FallbackErr = ErrFallbackRejected
		return nil, failure
	}
	defer s.fallbacks.giveBack()
	resp, err := c.provide(ctx, failure)
	if err != nil {
		s.count(EventFallbackFailure)
		failure.FallbackErr = err
		return nil, failure
	}
	s.count(EventFallbackSuccess)
	return resp, nil
}

// provide asks the provider; a panic of it becomes an error.
func (c *Command) provide(ctx context.Context, cause *Error) (resp *http.Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			resp, err = nil, fmt.Errorf("ribboncmd: fallback provider panicked: %v", p)
		}
	}()
	resp, err = c.policy.provider.Fallback(ctx, c.service, cause)
	if err != nil {
		discard(resp)
		return nil, err
	}
	if resp == nil {
		return nil, errNoFallbackResponse
	}
	return resp, nil
}
