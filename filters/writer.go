package filters

import (
	"io"
	"net/http"
)

// writer is the client's side of a request. It remembers whether a final
// response head has left, after which nothing but its body can be sent.
type writer struct {
	http.ResponseWriter
	committed bool
}

var _ io.ReaderFrom = (*writer)(nil)

func (w *writer) WriteHeader(status int) {
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols {
		w.committed = true
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *writer) Write(p []byte) (int, error) {
	w.committed = true
	return w.ResponseWriter.Write(p)
}

func (w *writer) ReadFrom(r io.Reader) (int64, error) {
	w.committed = true
	return io.Copy(w.ResponseWriter, r)
}

// Unwrap lets http.ResponseController reach Flush, Hijack and the deadlines.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
