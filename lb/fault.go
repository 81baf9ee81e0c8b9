package lb

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"syscall"
	"time"
)

// fault is what an error of the transport means.
type fault struct {
	kind    Kind
	status  int  // of a response that is a failure
	unsent  bool // the server cannot have seen any of the request
	outcome Outcome

	turnedAway bool // see RetryPolicy.TurnedAway
}

// NotSent marks an error of a transport that had not written a byte of the request when
// it failed, so that Command moves on to the next server whatever the method. Dial
// errors of package net and failed certificate checks are recognised without it.
func NotSent(err error) error {
	if err == nil {
		return nil
	}
	return &notSentError{err}
}

type notSentError struct{ error }

func (e *notSentError) Unwrap() error { return e.error }

func (e *notSentError) NothingSent() bool { return true }

// over reports that a context has ended, or is about to: a deadline may pass on a
// connection a little before the context's own timer notices.
func over(ctx context.Context) bool {
	if ctx.Err() != nil {
		return true
	}
	at, limited := ctx.Deadline()
	return limited && time.Until(at) <= 0
}

// ended is the fault of a context that is over.
func ended(ctx context.Context) fault {
	err := ctx.Err()
	if err == nil || isTimeout(context.Cause(ctx)) || errors.Is(err, context.DeadlineExceeded) {
		return fault{kind: SocketTimeout, outcome: Unhealthy}
	}
	return fault{kind: Cancelled, outcome: Neutral}
}

// classify maps the errors of Go's network stack to the kinds of Ribbon's.
func classify(err error) fault {
	if status, ok := errors.AsType[statusError](err); ok {
		return fault{kind: ServerThrottled, status: int(status), outcome: Unhealthy}
	}
	var own interface{ CallersFault() bool }
	if errors.As(err, &own) && own.CallersFault() {
		return fault{kind: General, outcome: Neutral}
	}
	f := fault{unsent: isUnsent(err), outcome: Healthy}
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		f.kind = UnknownHost
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		f.kind = NoRouteToHost
	case f.unsent:
		f.kind = Connect
	case isTimeout(err):
		f.kind = ReadTimeout
	}
	switch {
	case isUnasked(err):
		f.outcome = Neutral
	case f.kind == Connect || isTimeout(err) || isSocket(err):
		f.outcome = Unhealthy
	}
	return f
}

// isUnasked reports that a limit of the transport kept the request from its server.
func isUnasked(err error) bool {
	var marked interface{ ServerUnasked() bool }
	return errors.As(err, &marked) && marked.ServerUnasked()
}

// isUnsent reports that no connection, or no TLS session on it, came about.
func isUnsent(err error) bool {
	var marked interface{ NothingSent() bool }
	if errors.As(err, &marked) {
		return marked.NothingSent()
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return true
	}
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	return errors.As(err, &dns) || errors.As(err, &certificate) || errors.As(err, &record) ||
		isTimeout(err) && err.Error() == handshakeTimeout
}

// handshakeTimeout is the text of net/http's error, which has no exported type.
const handshakeTimeout = "net/http: TLS handshake timeout"

func isTimeout(err error) bool {
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

// isSocket reports what would be a SocketException in Java.
func isSocket(err error) bool {
	for _, errno := range [...]syscall.Errno{
		syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE,
		syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ENETDOWN,
	} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}
