package netserver

import (
	"bufio"
	"io"
	"net"
	"net/http"
)

// writer is the client's side of a request.
type writer struct {
	http.ResponseWriter
	body     *body // nil without one
	duplex   bool  // net/http leaves the body alone
	begun    bool
	hijacked bool

	untilClose bool // the body of the response ends with the connection
}

var (
	_ io.ReaderFrom = (*writer)(nil)
	_ http.Hijacker = (*writer)(nil)
)

func (w *writer) WriteHeader(status int) {
	if status >= http.StatusOK {
		w.begin()
	}
	w.ResponseWriter.WriteHeader(status)
}

// begin announces the end of the connection when the answer comes before the end of the body.
func (w *writer) begin() {
	if w.begun {
		return
	}
	w.begun = true
	if w.duplex && !w.body.ended.Load() {
		w.Header().Set("Connection", "close")
	}
	w.untilClose = w.untilClose && w.Header().Get("Content-Length") == ""
}

func (w *writer) Write(p []byte) (int, error) {
	w.begin()
	return w.ResponseWriter.Write(p)
}

func (w *writer) ReadFrom(r io.Reader) (int64, error) {
	w.begin()
	return io.Copy(w.ResponseWriter, r)
}

// FlushError is for http.ResponseController.
func (w *writer) FlushError() error {
	w.begin()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// EnableFullDuplex is for http.ResponseController. Without it net/http itself reads the body
// to its end before the response, or closes the connection.
func (w *writer) EnableFullDuplex() error {
	err := http.NewResponseController(w.ResponseWriter).EnableFullDuplex()
	w.duplex = err == nil && w.body != nil
	return err
}

func (w *writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	w.hijacked = w.hijacked || err == nil
	return conn, rw, err
}

// Unwrap is for http.ResponseController.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
