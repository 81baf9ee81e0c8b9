package http1

import (
	"context"
	"errors"
	"net"
	"os"
	"time"
)

// ErrReadTimeout is the failure of a server that sent nothing, or took nothing
// of the request, for longer than ReadTimeout. It is a net.Error with Timeout
// true.
var ErrReadTimeout net.Error = timeoutError("http1: no progress within the read timeout")

// ErrPoolExhausted is the failure of a request that found no free connection
// within AcquireTimeout. Its methods NothingSent and ServerUnasked return true.
var ErrPoolExhausted error = poolExhaustedError{}

type timeoutError string

func (e timeoutError) Error() string { return string(e) }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }

type poolExhaustedError struct{}

func (poolExhaustedError) Error() string {
	return "http1: no free connection within the acquire timeout"
}

func (poolExhaustedError) NothingSent() bool   { return true }
func (poolExhaustedError) ServerUnasked() bool { return true }

// Unasked marks the failure of a request that had no connection yet, and was not having
// one made: it says nothing about the server.
func Unasked(err error) error { return &unaskedError{err} }

type unaskedError struct{ error }

func (e *unaskedError) Unwrap() error     { return e.error }
func (*unaskedError) NothingSent() bool   { return true }
func (*unaskedError) ServerUnasked() bool { return true }

// unsentError is a failure before the first byte of a request had left: the
// load balancer may try another server, whatever the method.
type unsentError struct{ error }

func unsent(err error) error { return &unsentError{err} }

func (e *unsentError) Unwrap() error   { return e.error }
func (*unsentError) NothingSent() bool { return true }

// explain gives the reason of a connection's failure in place of the deadline
// by which it came about.
func explain(ctx context.Context, err error) error {
	if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if at, ok := ctx.Deadline(); ok && !time.Now().Before(at) {
		return context.DeadlineExceeded // its own timer may be a little late
	}
	return ErrReadTimeout
}
