package lb

import (
	"errors"
	"io"
)

// Failure is what a RetryHandler judges: an attempt that failed, or a response that
// the policy does not take for an answer.
type Failure struct {
	Kind   Kind
	Status int   // of such a response, else 0
	Err    error // of the transport; nil with a Status that may be repeated
	// Unsent tells that the server cannot have seen any of the request.
	Unsent bool
	// Repeatable tells that call, method and policy allow to deliver the request again.
	Repeatable bool
}

// Socket tells whether the failure is what Java calls a SocketException: refused,
// unreachable, reset, a broken pipe; here the time-out of a connect too.
func (f *Failure) Socket() bool { return f.Kind == Connect || isSocket(f.Err) }

// Timeout tells whether the server, or the connecting, took too long.
func (f *Failure) Timeout() bool {
	return f.Kind == ReadTimeout || f.Kind == SocketTimeout || f.Err != nil && isTimeout(f.Err)
}

// RetryHandler decides what of the failures is worth a retry. It can only narrow what
// the policy allows: neither a failure that is not Repeatable nor Unsent is repeated, nor
// more often than the policy says. It is called from any number of goroutines.
type RetryHandler interface {
	// Retriable tells whether another attempt may follow, on the same server or on the next.
	Retriable(f *Failure, same bool) bool
	// CircuitTripping tells whether the failure counts against the server's health. It is not
	// asked about failures before a transport had to do with the server.
	CircuitTripping(f *Failure) bool
}

// DefaultRetryHandler is DefaultLoadBalancerRetryHandler: the same server gets another
// attempt if it could not be reached or was too slow, the next one whatever happened. A
// status that may be repeated is repeated.
type DefaultRetryHandler struct{}

var _ RetryHandler = DefaultRetryHandler{}

// Retriable is as above.
func (DefaultRetryHandler) Retriable(f *Failure, same bool) bool {
	switch {
	case !same:
		return true
	case f.Kind == ServerThrottled:
		return false
	}
	return f.Status != 0 || f.Kind == Connect || f.Timeout()
}

// CircuitTripping is what a Command without a handler does: sockets and time-outs count.
func (DefaultRetryHandler) CircuitTripping(f *Failure) bool {
	return f.Kind == ServerThrottled || f.Socket() || f.Timeout()
}

// HTTPRetryHandler is that of Ribbon's HTTP clients: the same server also gets another
// attempt if it has broken the connection, or none was free.
type HTTPRetryHandler struct{}

var _ RetryHandler = HTTPRetryHandler{}

// Retriable is as above.
func (HTTPRetryHandler) Retriable(f *Failure, same bool) bool {
	if (DefaultRetryHandler{}).Retriable(f, same) {
		return true
	}
	return f.Kind != ServerThrottled && (f.Socket() || f.Unsent && f.Kind != UnknownHost || isEOF(f.Err))
}

// CircuitTripping is that of DefaultRetryHandler.
func (HTTPRetryHandler) CircuitTripping(f *Failure) bool {
	return DefaultRetryHandler{}.CircuitTripping(f)
}

// isEOF reports a connection that was closed without an answer.
func isEOF(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// RequestSpecificRetryHandler is Ribbon's of that name, which its clients choose by
// method: both fields for GET, ConnectErrors alone for what must not be repeated.
type RequestSpecificRetryHandler struct {
	ConnectErrors bool         // a connection that was refused or broken
	AllErrors     bool         // everything
	Base          RetryHandler // says what counts against a server; nil is DefaultRetryHandler
}

var _ RetryHandler = RequestSpecificRetryHandler{}

// Retriable follows the fields; a throttled server is left for the next one in any case.
func (h RequestSpecificRetryHandler) Retriable(f *Failure, same bool) bool {
	switch {
	case h.AllErrors:
		return true
	case f.Kind == ServerThrottled:
		return !same
	}
	return h.ConnectErrors && f.Socket()
}

// CircuitTripping is what Base says.
func (h RequestSpecificRetryHandler) CircuitTripping(f *Failure) bool {
	if h.Base == nil {
		return DefaultRetryHandler{}.CircuitTripping(f)
	}
	return h.Base.CircuitTripping(f)
}
