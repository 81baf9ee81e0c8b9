// Package upstream sends requests to upstream servers through net/http's
// client, tuned for a gateway: nothing is added to a request, nothing is
// decoded, redirects are not followed, cookies are not kept, and every wait has
// an end. It is the counterpart of http1.Transport: it takes the same settings
// and fails with the same errors.
package upstream

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gozer-gateway/gozer/internal/http1"
	"github.com/gozer-gateway/gozer/internal/patient"
	"github.com/gozer-gateway/gozer/internal/tlsout"
)

// Transport is a pool of connections to upstream servers. Any number of
// goroutines may use it.
type Transport struct {
	http        *http.Transport
	limits      *limits
	readTimeout time.Duration
	retired     atomic.Bool
}

var _ http.RoundTripper = (*Transport)(nil)

// New returns a Transport without any connection. It starts nothing. Of the
// settings, MaxLifetime has no effect.
func New(s http1.TransportSettings) *Transport {
	s = s.WithDefaults()
	dialer := dialer{tlsout.NewDialer(s.ConnectTimeout, s.TLS)}
	return &Transport{
		limits:      newLimits(s),
		readTimeout: s.ReadTimeout,
		http: &http.Transport{
			DialContext:            dialer.dial,
			DialTLSContext:         dialer.dialTLS,
			ResponseHeaderTimeout:  s.ReadTimeout,
			IdleConnTimeout:        s.IdleTimeout,
			MaxIdleConns:           s.MaxTotal,
			MaxIdleConnsPerHost:    s.MaxPerHost,
			MaxResponseHeaderBytes: s.MaxHeaderBytes,
			DisableCompression:     true,
			WriteBufferSize:        8 << 10,
			ReadBufferSize:         16 << 10,
		},
	}
}

// RoundTrip sends one request and returns the response head; see
// http.RoundTripper. The body must be closed, which gives the connection back.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	h, err := t.limits.acquire(req.Context(), req.URL.Host)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	res, err := t.send(prepared(req.WithContext(ctx)))
	if err == nil {
		err = check(res)
	}
	if err != nil {
		cancel(nil)
		t.release(h)
		return nil, quiet{err}
	}
	b := t.body(res, cancel, h)
	res.Body = b
	if conn, ok := b.ReadCloser.(duplex); ok {
		b.Patience = 0
		res.Body = switched{b, conn}
	}
	return res, nil
}

func (t *Transport) body(res *http.Response, cancel context.CancelCauseFunc, h *host) *patient.Body {
	b := &patient.Body{ReadCloser: res.Body, Cancel: cancel, Release: func() { t.release(h) }}
	if !isEventStream(res.Header.Get("Content-Type")) {
		b.Patience = t.readTimeout
	}
	return b
}

func isEventStream(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(strings.TrimSpace(media), "text/event-stream")
}

func (t *Transport) release(h *host) {
	t.limits.release(h)
	if t.retired.Load() {
		t.CloseIdle()
	}
}

// Retire is CloseIdle for a Transport that is not to be used any more. Requests that
// are under way or still come are served, and no connection is kept for later.
func (t *Transport) Retire() {
	t.retired.Store(true)
	t.CloseIdle() // net/http closes what becomes idle from now on, until the next request
}

// CloseIdle closes the connections that no request uses.
func (t *Transport) CloseIdle() { t.http.CloseIdleConnections() }
