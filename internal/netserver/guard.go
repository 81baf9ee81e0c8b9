// Package netserver adds to the HTTP/1.1 server of net/http what a gateway must have: a
// connection whose request was not read to its end takes no other one, and a response that
// is cut short never looks complete.
package netserver

import (
	"io"
	"net/http"
	"strings"
	"time"
)

// drainTime bounds how long net/http may read over a body that nobody wanted, so that the
// reset of the connection does not overtake the response.
const drainTime = 2 * time.Second

// Guard returns h for a server of net/http. It has to be the outermost handler. Requests in
// HTTP/2 pass untouched.
func Guard(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 1 {
			h.ServeHTTP(w, r)
			return
		}
		own := &writer{ResponseWriter: w, untilClose: !r.ProtoAtLeast(1, 1)}
		if r.Body != nil && r.Body != http.NoBody {
			own.body = &body{ReadCloser: r.Body}
			r = r.WithContext(r.Context()) // a copy: net/http goes by the body that it has made
			r.Body = own.body
		}
		complete := false
		defer func() { own.end(complete) }()
		h.ServeHTTP(own, r)
		complete = true
	})
}

// end makes sure of what net/http does with the connection when the handler has returned,
// or panics and leaves the response incomplete.
func (w *writer) end(complete bool) {
	if w.hijacked {
		return
	}
	if b := w.body; b != nil && !b.ended.Load() && (w.duplex || !complete) {
		w.leave(complete)
	}
	if !complete && w.begun && w.untilClose {
		w.reset()
	}
}

// leave gives the rest of the body up, and the connection with it.
func (w *writer) leave(complete bool) {
	last(w.ResponseWriter)
	control := http.NewResponseController(w.ResponseWriter)
	w.body.fence(control)
	if complete {
		_ = control.SetReadDeadline(time.Now().Add(drainTime)) // fails on a closed connection
	}
}

// last makes the response the last one of its connection, also when its head has been sent.
func last(w http.ResponseWriter) {
	tooLong := http.MaxBytesReader(w, io.NopCloser(strings.NewReader("x")), 0)
	_, _ = tooLong.Read(make([]byte, 1)) // what it does besides is what counts
}
