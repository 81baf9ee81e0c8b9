package h2client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/gozer-gateway/gozer/internal/http1"
)

// unsentError is a failure of a request that no server has begun to work on: the load
// balancer may try another one, whatever the method.
type unsentError struct{ error }

func unsent(err error) error { return &unsentError{err} }

func (e *unsentError) Unwrap() error   { return e.error }
func (*unsentError) NothingSent() bool { return true }

// greetingError is a connection on which HTTP/2 did not come about.
type greetingError struct {
	origin origin
	err    error
}

func (e *greetingError) Error() string {
	return fmt.Sprintf("h2client: HTTP/2 with %s: %v", e.origin.address(), e.err)
}

func (e *greetingError) Unwrap() error { return e.err }

// ownError is a fault of the request itself.
type ownError struct{ error }

func (e *ownError) Unwrap() error    { return e.error }
func (*ownError) CallersFault() bool { return true }

var (
	errNoURL     = &ownError{errors.New("h2client: request without a URL or a host")}
	errScheme    = &ownError{errors.New("h2client: URL is neither http nor https")}
	errNoBody    = &ownError{errors.New("h2client: request with a length and no body")}
	errShortBody = &ownError{errors.New("h2client: request body is shorter than its length")}
)

// Of net/http's own errors only the texts are to be had. A test of every one makes sure
// that they stay.
const (
	textUnusable   = "http2: client conn not usable"
	textNotUp      = "http2: client conn could not be established"
	textGoingAway  = "http2: Transport received Server's graceful shutdown GOAWAY"
	textGoneAtOnce = "http2: Transport received GOAWAY from server"
	textLongHeader = "request header list larger than peer's advertised limit"
	codeRefused    = 7
)

// StreamError has the shape that net/http's stream errors convert to.
type StreamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e StreamError) Error() string {
	return fmt.Sprintf("h2client: stream reset with code %d", e.Code)
}

// refused reports that the server has not begun to work on a request: it has said so by
// REFUSED_STREAM, or by a GOAWAY that leaves out the request's stream (RFC 9113 8.7).
func refused(err error) bool {
	if reset, ok := errors.AsType[StreamError](err); ok {
		return reset.Code == codeRefused
	}
	text := err.Error()
	return text == textGoingAway || strings.HasPrefix(text, textGoneAtOnce) || notBegun(err)
}

// notBegun reports that no stream was opened at all.
func notBegun(err error) bool {
	text := err.Error()
	return text == textUnusable || text == textNotUp
}

// leaving reports that a connection, but not its server, has become useless for a request
// that has not been worked on.
func leaving(err error) bool { return err.Error() == textGoingAway || notBegun(err) }

// broken reports that the connection ended under a request.
func broken(err error) bool {
	var op *net.OpError
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.As(err, &op)
}

// explain makes the error of a request out of net/http's.
func explain(ctx context.Context, err error) error {
	var timeout net.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case strings.Contains(err.Error(), textLongHeader):
		return &ownError{err}
	case refused(err):
		return unsent(err)
	case errors.As(err, &timeout) && timeout.Timeout():
		return http1.ErrReadTimeout
	}
	return err
}
