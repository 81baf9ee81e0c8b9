package route

import (
	"errors"
	"net/http"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/http1"
	"github.com/gozer-gateway/gozer/ribboncmd"
)

// blame tells the command that a call failed because of the client's body, so
// that the service gets no bad mark for it and no fallback answers.
func blame(c *filters.Context, err error) error {
	if failure := c.BodyError(); err != nil && failure != nil {
		return ribboncmd.AsBadRequest(brokenBody(failure))
	}
	return err
}

// brokenBody is the failure of a request whose body could not be read to its
// end. The engine may know a better status, such as that of a body too slow.
func brokenBody(err error) error {
	status := http.StatusBadRequest
	if refused, ok := errors.AsType[*http1.Error](err); ok {
		status = refused.Status
	}
	return &filters.StatusError{Status: status, Cause: "Request body could not be read", Err: err}
}
