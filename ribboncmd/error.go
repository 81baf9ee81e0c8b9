package ribboncmd

import "errors"

// The reasons that a command itself gives; errors.Is finds them in an *Error.
var (
	ErrTimeout            = errors.New("ribboncmd: deadline exceeded")
	ErrShortCircuited     = errors.New("ribboncmd: circuit is open")
	ErrSemaphoreRejected  = errors.New("ribboncmd: too many concurrent calls")
	ErrThreadPoolRejected = errors.New("ribboncmd: pool and queue are full")
)

// Why there was no fallback response; found in Error.FallbackErr.
var (
	ErrNoFallback       = errors.New("ribboncmd: no fallback available")
	ErrFallbackDisabled = errors.New("ribboncmd: fallback disabled")
	ErrFallbackRejected = errors.New("ribboncmd: too many concurrent fallbacks")
)

// Error is what Execute returns when there is no response to give.
type Error struct {
	Service string
	Outcome Outcome
	// Execution is how the call itself ended. It differs from Outcome only
	// when that is FallbackRejected.
	Execution Outcome
	// Err is the cause: the call's own error, one of the sentinels above, or
	// the reason why the caller's context ended. Never nil.
	Err error
	// FallbackErr is why the fallback did not help; nil if none was due, as
	// after Cancelled and BadRequest, or none was tried yet, as in the cause
	// that a provider is given.
	FallbackErr error
}

// Error follows Hystrix's wording, then names the cause.
func (e *Error) Error() string {
	text := "ribboncmd: " + e.Service + " " + e.happened() + e.fallback() + ": " + e.Err.Error()
	if e.providerFailed() {
		text += "; fallback: " + e.FallbackErr.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// asCause is what a fallback is given: a failure of its own, which it may return, in
// whatever it likes, without making e a part of itself.
func (e *Error) asCause() *Error {
	cause := *e
	return &cause
}

func (e *Error) happened() string {
	switch e.Outcome {
	case Success, Failure, BadRequest:
		return "failed"
	case Timeout:
		return "timed-out"
	case ShortCircuited:
		return "short-circuited"
	case SemaphoreRejected:
		return "could not acquire a semaphore for execution"
	case ThreadPoolRejected:
		return "could not be queued for execution"
	case FallbackRejected:
		return "fallback execution rejected"
	case Cancelled:
		return "cancelled"
	}
	return e.Outcome.String()
}

func (e *Error) fallback() string {
	switch {
	case e.FallbackErr == nil || e.Outcome == FallbackRejected:
		return ""
	case errors.Is(e.FallbackErr, ErrNoFallback):
		return " and no fallback available"
	case errors.Is(e.FallbackErr, ErrFallbackDisabled):
		return " and fallback disabled"
	}
	return " and fallback failed"
}

func (e *Error) providerFailed() bool { return e.fallback() == " and fallback failed" }

// AsBadRequest marks an error of a call as the client's fault: it is neither
// counted against the service nor answered by a fallback. Nil stays nil.
func AsBadRequest(err error) error {
	if err == nil {
		return nil
	}
	return &badRequestError{err}
}

type badRequestError struct{ error }

func (e *badRequestError) Unwrap() error { return e.error }

func isBadRequest(err error) bool {
	var bad *badRequestError
	return errors.As(err, &bad)
}

// AsIs marks an error of a call that Do shall hand to its caller as it is, not
// within an *Error. It counts, and gets a fallback, like any other. Nil stays nil.
func AsIs(err error) error {
	if err == nil {
		return nil
	}
	return &bareError{err}
}

type bareError struct{ error }

func (e *bareError) Unwrap() error { return e.error }

// unwrapped is what the caller of Do gets to see.
func unwrapped(err error) error {
	if bare, ok := errors.AsType[*bareError](err); ok {
		return bare.error
	}
	return err
}

// interruptedError is a call cut short: cause is why, result what the call
// made of it. errors.Is sees only the cause, so that a timeout whose call
// reports "context canceled" is not taken for a caller that went away;
// errors.As also finds the details of the result.
type interruptedError struct{ cause, result error }

func interrupted(cause, result error) error {
	if result == nil {
		return cause
	}
	return &interruptedError{cause, result}
}

func (e *interruptedError) Error() string { return e.cause.Error() + ": " + e.result.Error() }

func (e *interruptedError) Unwrap() error { return e.cause }

func (e *interruptedError) As(target any) bool { return errors.As(e.result, target) }
