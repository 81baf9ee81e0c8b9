package h2

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/gozer-gateway/gozer/internal/http1"
)

// wait is a timer around waits that follow one another. When it runs out it calls a function, never
// after end.
type wait struct {
	mu      sync.Mutex
	timer   *time.Timer
	until   time.Time // the end of the current wait
	waiting bool
	over    bool
}

func (w *wait) begin(limit time.Duration, expire func()) {
	if limit <= 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	w.waiting, w.until = true, time.Now().Add(limit)
	if w.timer != nil {
		w.timer.Reset(limit)
		return
	}
	w.timer = time.AfterFunc(limit, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.waiting && !w.over && !time.Now().Before(w.until) { // or it belongs to an earlier wait
			expire()
		}
	})
}

func (w *wait) done() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = false
	if w.timer != nil {
		w.timer.Stop()
	}
}

// end outlasts an expire that is under way.
func (w *wait) end() {
	w.done()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
}

// patientBody is a request body whose every wait has an end. A body that is too slow or malformed is an
// *http1.Error, as in HTTP/1.1.
type patientBody struct {
	io.ReadCloser
	control *http.ResponseController
	limit   time.Duration
	wait    wait
}

func (b *patientBody) Read(p []byte) (int, error) {
	b.wait.begin(b.limit, func() { _ = b.control.SetReadDeadline(time.Unix(1, 0)) }) // fails on no HTTP/2 stream
	n, err := b.ReadCloser.Read(p)
	b.wait.done()
	switch {
	case err == nil, errors.Is(err, io.EOF):
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = &http1.Error{Status: http.StatusRequestTimeout, Reason: "request body too slow"}
	case strings.Contains(err.Error(), "Content-Length"): // net/http has no type for it
		err = &http1.Error{Status: http.StatusBadRequest, Reason: "request body is not as long as its content-length"}
	}
	return n, err
}

// patientWriter resets a stream whose client takes nothing for too long.
type patientWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	limit   time.Duration
	wait    wait
}

func (w *patientWriter) Write(p []byte) (int, error) {
	w.begin()
	defer w.wait.done()
	return w.ResponseWriter.Write(p)
}

// FlushError is for http.ResponseController.
func (w *patientWriter) FlushError() error {
	w.begin()
	defer w.wait.done()
	return w.control.Flush()
}

func (w *patientWriter) begin() {
	w.wait.begin(w.limit, func() { _ = w.control.SetWriteDeadline(time.Unix(1, 0)) }) // as above
}

// Unwrap is for http.ResponseController.
func (w *patientWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
