package route

import (
	"net/http"

	"github.com/gozer-gateway/gozer/filters"
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
// end.
func brokenBody(err error) error {
	return &filters.StatusError{Status: http.StatusBadRequest, Cause: "Request body could not be read", Err: err}
}
