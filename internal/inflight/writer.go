package inflight

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"

	"github.com/gozer-gateway/gozer/internal/grpc"
)

// writer notes when a response begins.
type writer struct {
	http.ResponseWriter
	requests *Requests
	request  *request
}

var (
	_ io.ReaderFrom = (*writer)(nil)
	_ http.Hijacker = (*writer)(nil)
)

// WriteHeader leaves interim responses alone. Of a request that was cut nothing begins.
func (w *writer) WriteHeader(status int) {
	final := status >= http.StatusOK || status == http.StatusSwitchingProtocols
	if final && w.begin() != nil {
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *writer) begin() error {
	if w.request.cut.Load() && !w.saysFailure() {
		return context.Canceled
	}
	if w.requests.draining.Load() {
		w.Header().Set("Connection", "close") // of which HTTP/2 makes GOAWAY
	}
	w.request.begun.Store(true)
	return nil
}

// saysFailure reports that the response is that of a gRPC call that has failed.
func (w *writer) saysFailure() bool {
	if !w.request.call {
		return false
	}
	h := w.Header()
	status := h.Get(grpc.StatusField)
	if trailer := h[http.TrailerPrefix+grpc.StatusField]; len(trailer) > 0 {
		status = trailer[0]
	}
	return status != "" && status != "0"
}

func (w *writer) Write(p []byte) (int, error) {
	if err := w.begin(); err != nil {
		return 0, err
	}
	return w.ResponseWriter.Write(p)
}

func (w *writer) ReadFrom(r io.Reader) (int64, error) {
	if err := w.begin(); err != nil {
		return 0, err
	}
	return io.Copy(w.ResponseWriter, r)
}

// FlushError is for http.ResponseController.
func (w *writer) FlushError() error {
	if err := w.begin(); err != nil {
		return err
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

func (w *writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.request.begun.Store(true)
		w.request.hijacked.Store(true)
	}
	return conn, rw, err
}

// Unwrap is for http.ResponseController.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
