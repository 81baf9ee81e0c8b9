package lb

import (
	"context"
	"net/http"
)

// ExecutionListener hears of the steps of a command's calls, in this order: ExecutionStart;
// for every attempt ServerStart and, if it fails, ServerException; at last
// ExecutionSuccess or ExecutionFailed. Each step is told to all listeners in their order
// before the next one begins. Nil functions are left out. They are called on the
// goroutine of the call, many calls at once, and should be quick.
type ExecutionListener struct {
	// Name is for configuration, which can switch a listener off.
	Name string
	// ExecutionStart begins a call. An error ends it: no other function is called then, and
	// the caller gets the error, in an *Error of Kind Aborted.
	ExecutionStart func(e *Execution) error
	// ServerStart begins an attempt on e.Server. An error ends the call, as if the attempt
	// had failed for good; the server is not asked, and nothing is counted for it.
	ServerStart func(e *Execution) error
	// ServerException ends an attempt that failed, or whose response is given up for
	// another attempt; its statistics are complete then.
	ServerException func(e *Execution, err error)
	// ExecutionSuccess ends a call with a response, whose body is not read yet.
	ExecutionSuccess func(e *Execution, resp *http.Response)
	// ExecutionFailed ends a call with the error that its caller gets.
	ExecutionFailed func(e *Execution, err error)
}

// Execution is a call as one listener sees it. It is valid as long as the call.
type Execution struct {
	Service string
	// Request is what is sent: method, header, path and query. Its URL names no server in
	// the beginning. Its body is not for listeners.
	Request *http.Request
	// Server is the current one; nil before the first.
	Server *Server
	// PastAttempts counts the attempts on Server before this one; at the end of a call that
	// failed, all of them.
	PastAttempts int
	// PastServers counts the servers before this one.
	PastServers int

	ctx    context.Context //nolint:containedctx // it ends with the call
	values map[any]any
}

// Context is the call's, which all listeners share.
func (e *Execution) Context() context.Context { return e.ctx }

// Set keeps a value for the later steps of this call. Other listeners do not see it.
func (e *Execution) Set(key, value any) {
	if e.values == nil {
		e.values = make(map[any]any)
	}
	e.values[key] = value
}

// Value gives what Set kept, nil if nothing.
func (e *Execution) Value(key any) any { return e.values[key] }

// watch tells the listeners of a command about one call. A nil watch has nobody to tell
// of the steps that end something; the others are not for it.
type watch struct {
	listeners []ExecutionListener
	views     []Execution // one for each listener
}

// newWatch makes the watch of a command that has listeners.
func newWatch(ctx context.Context, c *Command, req *http.Request) *watch {
	w := &watch{c.Listeners, make([]Execution, len(c.Listeners))}
	for i := range w.views {
		w.views[i] = Execution{Service: c.Balancer.Name(), Request: req, ctx: ctx}
	}
	return w
}

// at moves the views to where the call is.
func (w *watch) at(s *Server, pastAttempts, pastServers int) {
	for i := range w.views {
		e := &w.views[i]
		e.Server, e.PastAttempts, e.PastServers = s, pastAttempts, pastServers
	}
}

func (w *watch) executionStart() error {
	return w.ask(func(l *ExecutionListener) func(*Execution) error { return l.ExecutionStart })
}

func (w *watch) serverStart(s *Server, pastAttempts, pastServers int) error {
	w.at(s, pastAttempts, pastServers)
	return w.ask(func(l *ExecutionListener) func(*Execution) error { return l.ServerStart })
}

// ask stops at the first listener that objects.
func (w *watch) ask(step func(*ExecutionListener) func(*Execution) error) error {
	for i := range w.listeners {
		f := step(&w.listeners[i])
		if f == nil {
			continue
		}
		if err := f(&w.views[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *watch) serverException(err error) {
	if w != nil {
		w.tellError(err, func(l *ExecutionListener) func(*Execution, error) { return l.ServerException })
	}
}

func (w *watch) executionFailed(s *Server, attempts, pastServers int, err error) {
	if w != nil {
		w.at(s, attempts, pastServers)
		w.tellError(err, func(l *ExecutionListener) func(*Execution, error) { return l.ExecutionFailed })
	}
}

func (w *watch) tellError(err error, step func(*ExecutionListener) func(*Execution, error)) {
	for i := range w.listeners {
		if f := step(&w.listeners[i]); f != nil {
			f(&w.views[i], err)
		}
	}
}

func (w *watch) executionSuccess(resp *http.Response) {
	if w != nil {
		w.tellSuccess(resp)
	}
}

func (w *watch) tellSuccess(resp *http.Response) {
	for i := range w.listeners {
		if f := w.listeners[i].ExecutionSuccess; f != nil {
			f(&w.views[i], resp)
		}
	}
}
