package http1

import (
	"net/http"
	"strconv"
)

// Error says why a message was refused. The connection that carried it cannot
// be used any further.
type Error struct {
	// Status is the answer to a request that is refused; a response that is
	// refused has StatusBadGateway.
	Status int

	// Reason names the offence, without bytes of the message.
	Reason string
}

func (e *Error) Error() string {
	return "http1: " + e.Reason + " (" + strconv.Itoa(e.Status) + ")"
}

func refuse(status int, reason string) error { return &Error{status, reason} }

func malformed(reason string) error { return &Error{http.StatusBadRequest, reason} }
