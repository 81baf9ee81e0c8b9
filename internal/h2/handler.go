package h2

import (
	"context"
	"crypto/tls"
	"io"
	"maps"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gozer-gateway/gozer/internal/http1"
)

// client is what the requests of one connection share.
type client struct {
	tls     func() *tls.ConnectionState // nil without TLS
	since   time.Time
	started atomic.Int64 // requests
}

type contextKey struct{}

// remember puts the connection into the context of its requests.
func remember(ctx context.Context, c net.Conn) context.Context {
	known := &client{since: time.Now()}
	switch c := c.(type) {
	case *conn:
		if c.state != nil {
			known.tls = func() *tls.ConnectionState { return c.state }
		}
	case *tls.Conn: // before its handshake
		known.tls = sync.OnceValue(func() *tls.ConnectionState { state := c.ConnectionState(); return &state })
	}
	return context.WithValue(ctx, contextKey{}, known)
}

// handler is the settings' handler behind the checks of this package, which leave HTTP/1 alone.
func (s *Settings) handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		known, ok := r.Context().Value(contextKey{}).(*client)
		if !ok || r.ProtoMajor != 2 {
			s.Handler.ServeHTTP(w, r)
			return
		}
		if s.isLast(known) {
			w.Header().Set("Connection", "close") // net/http makes GOAWAY of it
		}
		if known.tls != nil {
			r.TLS = known.tls() // whatever :scheme says
		}
		if err := s.check(r); err != nil {
			s.Log.Debug("request refused", "client", r.RemoteAddr, "error", err)
			answer := http1.Refuse(r.RemoteAddr, err)
			if r.Method == http.MethodHead {
				answer.Body = ""
			}
			if s.Refused != nil {
				s.Refused(answer)
			}
			maps.Copy(w.Header(), answer.Header)
			w.WriteHeader(answer.Status)
			_, _ = io.WriteString(w, answer.Body) // the client's loss
			return
		}
		s.serve(w, r)
	})
}

// isLast counts a request and reports that no further one shall follow on the connection.
func (s *Settings) isLast(c *client) bool {
	n := c.started.Add(1)
	return s.MaxRequests > 0 && n >= int64(s.MaxRequests) || s.MaxAge > 0 && time.Since(c.since) > s.MaxAge
}

// serve gives the handler what it would have in HTTP/1.1: no body where there is none, waits with
// an end, interim responses.
func (s *Settings) serve(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	patient := &patientWriter{ResponseWriter: w, control: control, limit: s.WriteTimeout}
	defer patient.wait.end()
	r = r.WithContext(http1.RelayInterim(r.Context(), func(status int, header http.Header) { sendInterim(w, status, header) }))
	if r.ContentLength == 0 {
		r.Body = http.NoBody
	} else {
		body := &patientBody{ReadCloser: r.Body, control: control, limit: s.BodyTimeout}
		defer body.wait.end()
		r.Body = body
	}
	s.Handler.ServeHTTP(patient, r)
}

// sendInterim sends a 1xx response and leaves the header as it was.
func sendInterim(w http.ResponseWriter, status int, header http.Header) {
	if status <= http.StatusSwitchingProtocols || status >= http.StatusOK {
		return // 100 is net/http's affair, and there is no 101 in HTTP/2 (RFC 9113 8.6)
	}
	own := w.Header()
	before := own.Clone()
	clear(own)
	maps.Copy(own, header)
	w.WriteHeader(status)
	clear(own)
	maps.Copy(own, before)
}
