package lb

import (
	"errors"
	"fmt"
	"time"
)

// ErrNoServer is wrapped by the error of a command whose balancer had no server alive.
var ErrNoServer = errors.New("lb: no server available")

// Error is what Command.Do fails with.
type Error struct {
	Service  string
	Kind     Kind
	Attempts []Attempt // all that were made, in order; none if there was no server
	Err      error     // of the last attempt, or why there was none
}

// Attempt is one try: in an Error one that failed, for a Recorder any.
type Attempt struct {
	Server   string // id
	Start    time.Time
	Status   int  // of the response; in an Error, of one that was given up for another attempt; else 0
	Kind     Kind // of Err
	Err      error
	Duration time.Duration
}

func noServer(service string) *Error {
	return &Error{Service: service, Kind: NoServer, Err: fmt.Errorf("%w for service %q", ErrNoServer, service)}
}

func (e *Error) Error() string {
	switch {
	case e.Kind == NoServer:
		return e.Err.Error()
	case len(e.Attempts) == 0:
		return fmt.Sprintf("lb: service %q: %s: %v", e.Service, e.Kind, e.Err)
	}
	last := e.Attempts[len(e.Attempts)-1]
	return fmt.Sprintf("lb: service %q: %s: attempt %d on %s: %v", e.Service, e.Kind, len(e.Attempts), last.Server, e.Err)
}

// Unwrap gives the error of the last attempt.
func (e *Error) Unwrap() error { return e.Err }

// Last is the kind of the last failure, also where Kind only says that the tries were
// used up.
func (e *Error) Last() Kind {
	n := len(e.Attempts)
	if n > 0 && (e.Kind == NumberOfRetriesExceeded || e.Kind == NumberOfRetriesNextServerExceeded) {
		return e.Attempts[n-1].Kind
	}
	return e.Kind
}

// Cause is a word for what has failed at last.
func (e *Error) Cause() string { return CauseOf(e.Last(), e.Err) }

// Timeout reports that the last attempt, whatever the Kind of the whole, ended for lack of time.
func (e *Error) Timeout() bool {
	last := e.Kind
	if n := len(e.Attempts); n > 0 {
		last = e.Attempts[n-1].Kind
	}
	return last == SocketTimeout || last == ReadTimeout || isTimeout(e.Err)
}
