package backendtest

import (
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// Answer answers every request with status and body.
func Answer(status int, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, body)
	})
}

// Sequence gives the first request to the first handler, the second to the
// second and so on; the last one keeps all that follow.
func Sequence(handlers ...http.Handler) http.Handler {
	var n atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i := min(int(n.Add(1)), len(handlers))
		handlers[i-1].ServeHTTP(w, r)
	})
}

// Slow hands the request to next after d, unless the client leaves first.
func Slow(d time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		wait := time.NewTimer(d)
		defer wait.Stop()
		select {
		case <-wait.C:
			next.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	})
}

// Hang reads the request and never answers; it ends when the client leaves.
func Hang() http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
}

// HangUp reads the request and closes the connection without an answer.
func HangUp() http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		panic(http.ErrAbortHandler)
	})
}

// Reset makes the client see "connection reset by peer" in place of an answer.
// It works on a Backend only.
func Reset() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		_ = c.(*conn).reset()
	})
}

// Cut announces more bytes than it sends: body arrives, the rest never does.
func Cut(body string, missing int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)+missing))
		io.WriteString(w, body)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
}
