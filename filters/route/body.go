package route

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/http1"
	"github.com/gozer-gateway/gozer/ribboncmd"
)

// blame tells the command that a call failed because of the client's body, so
// that the service gets no bad mark for it and no fallback answers.
func blame(c *filters.Context, err error) error {
	if failure := clientsFailure(c, err); failure != nil {
		return ribboncmd.AsBadRequest(failure)
	}
	return err
}

// clientsFailure returns what made a call fail if it was not the upstream: a
// client's body that could not be read to its end or was still being waited for when time was up,
// or a filter's that does not keep to its length, or what filters have made of the
// request.
func clientsFailure(c *filters.Context, err error) error {
	awaited := c.AwaitsBody() // first: the wait may end with a failure at this moment
	switch failure := c.BodyError(); {
	case err == nil:
		return nil
	case isUnsendable(err):
		return &filters.StatusError{Status: http.StatusInternalServerError, Cause: "Invalid request", Err: err}
	case errors.Is(err, errLongBody):
		return &filters.StatusError{Status: http.StatusInternalServerError, Cause: "Invalid request body", Err: err}
	case failure != nil:
		return brokenBody(failure)
	case awaited && timedOut(err):
		return &filters.StatusError{Status: http.StatusRequestTimeout, Cause: "Request body did not arrive in time", Err: err}
	}
	return nil
}

func timedOut(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout() || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ribboncmd.ErrTimeout)
}

func isUnsendable(err error) bool {
	_, ok := errors.AsType[http1.UnsendableError](err)
	return ok
}

// brokenBody is the failure of a request whose body could not be read to its
// end. The engine may know a better status, such as that of a body too slow.
func brokenBody(err error) error {
	status := http.StatusBadRequest
	refused, known := errors.AsType[*http1.Error](err)
	timeout, slow := errors.AsType[net.Error](err)
	switch {
	case known:
		status = refused.Status
	case slow && timeout.Timeout():
		status = http.StatusRequestTimeout
	}
	return &filters.StatusError{Status: status, Cause: "Request body could not be read", Err: err}
}

// bodyDeadline makes the wait for the client's body end with the deadline of
// the call. The returned function lifts it again, for an upload that goes on
// beside the answer.
func bodyDeadline(ctx context.Context, c *filters.Context) (lift func()) {
	at, ok := ctx.Deadline()
	if !ok || c.Out.ContentLength == 0 {
		return func() {}
	}
	client := http.NewResponseController(c.Writer())
	if client.SetReadDeadline(at) != nil {
		return func() {} // not a connection
	}
	return func() { _ = client.SetReadDeadline(time.Time{}) } // it worked a moment ago
}

// exactBody is the body of a filter that has said how long it is. A longer one
// is an error, since its end would be lost.
type exactBody struct {
	io.ReadCloser
	left int64
}

var errLongBody = errors.New("route: Out.Body is longer than Out.ContentLength")

func (b *exactBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errLongBody
	}
	if b.left == 0 && err == nil {
		err = b.end()
	}
	return n, err
}

// end looks for what must not be there.
func (b *exactBody) end() error {
	var more [1]byte
	n, err := io.ReadFull(b.ReadCloser, more[:])
	if n > 0 {
		return errLongBody
	}
	return err
}
