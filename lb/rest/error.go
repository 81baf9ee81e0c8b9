package rest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
)

// The two families of statuses, for errors.Is.
var (
	ErrClient = errors.New("rest: the request was refused (4xx)")
	ErrServer = errors.New("rest: the server failed (5xx)")
)

// Error is a response with a status from 400 on. Its text shows neither the body nor the
// values of variables.
type Error struct {
	Method string
	URI    string // the template, or the URL without its query
	Status int
	Header http.Header
	Body   []byte // its first bytes
	Cut    bool   // there was more
}

// Error names the call and the status.
func (e *Error) Error() string {
	return fmt.Sprintf("rest: %s %s: %d %s", e.Method, e.URI, e.Status, http.StatusText(e.Status))
}

// Is makes the error one of ErrClient or ErrServer.
func (e *Error) Is(target error) bool {
	return target == ErrClient && e.Status < http.StatusInternalServerError ||
		target == ErrServer && e.Status >= http.StatusInternalServerError
}

// StatusOf gives the status of the Error in err, 0 without one: then there was no
// response, or it could not be read.
func StatusOf(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Status
	}
	return 0
}

// refused makes the error of a response, of which it reads and keeps so much, and closes it.
func (c *call) refused(res *http.Response, limit int64) error {
	defer res.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(res.Body, limit+1)) // what there is of it; the status is the failure
	e := &Error{Method: c.request.Method, URI: c.uri, Status: res.StatusCode, Header: res.Header, Body: body}
	if int64(len(body)) > limit {
		e.Body, e.Cut = body[:limit], true
	}
	return e
}
