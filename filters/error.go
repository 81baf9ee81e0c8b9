package filters

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
)

// StatusError is a failure that chooses the client's answer; Zuul calls it
// ZuulException. The error phase turns it into a response.
type StatusError struct {
	// Status is the HTTP status of the answer.
	Status int
	// Cause is shown to the client as the message of the error body, so it
	// must not carry secrets.
	Cause string
	// Header holds fields of the answer, such as WWW-Authenticate or
	// Retry-After; nil for none. It is not changed.
	Header http.Header
	// Err is the underlying failure, for logs only; nil if there is none.
	Err error
}

// Refuse returns an error that makes the error phase answer with status and
// cause. A filter returns it from Run.
func Refuse(status int, cause string) error {
	return &StatusError{Status: status, Cause: cause}
}

func (e *StatusError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("%d %s", e.Status, e.Cause)
	}
	return fmt.Sprintf("%d %s: %v", e.Status, e.Cause, e.Err)
}

func (e *StatusError) Unwrap() error { return e.Err }

// ResponseHeader returns Header; SendError asks for it.
func (e *StatusError) ResponseHeader() http.Header { return e.Header }

// FilterError tells which filter failed. The runner wraps every error that
// leaves a filter in it, so errors.As finds it in Context.Err.
type FilterError struct {
	Phase  Phase
	Filter string
	Err    error
}

func (e *FilterError) Error() string { return e.Cause() + ": " + e.Err.Error() }

func (e *FilterError) Unwrap() error { return e.Err }

// Cause is Zuul's errorCause for a failure without a status of its own, for
// example "pre:PreDecorationFilter" (zuul.md 1.3).
func (e *FilterError) Cause() string { return string(e.Phase) + ":" + e.Filter }

// BodyError is the failure of an answer's body after its head: it broke off, or had
// another length than announced.
type BodyError struct{ Err error }

func (e *BodyError) Error() string { return e.Err.Error() }

func (e *BodyError) Unwrap() error { return e.Err }

// PanicError is the failure of a filter that panicked. The panic stops at the
// filter: the request fails with 500 and no other request is harmed.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("filter panicked: %v", e.Value) }

// ErrClientGone says that the client went away before it had its whole answer.
// It is nobody's failure: it is not logged as an error and counts against no
// server.
var ErrClientGone = errors.New("filters: client went away")

// ErrShutdown says that the gateway has ended the request, because it was shutting down and
// the time for that was over.
var ErrShutdown = errors.New("filters: the gateway is shutting down")

func recovered(v any) error {
	return &PanicError{Value: v, Stack: debug.Stack()}
}
