// Package upstream sends requests to upstream servers through net/http's
// client, tuned for a gateway: nothing is added to a request, nothing is
// decoded, redirects are not followed, cookies are not kept, and every wait has
// an end.
package upstream

import (
	"context"
	"net"
	"net/http"
	"strings"
	"time"
)

// Settings of one pool of connections. The zero value of a field means the
// default given with it.
type Settings struct {
	// ConnectTimeout bounds the dial and, on its own, the TLS handshake.
	// Default 1 s.
	ConnectTimeout time.Duration

	// ReadTimeout bounds the wait for the response head once the request is
	// sent, and then each wait for more of the body. Default 1 s. An event
	// stream may pause for as long as it likes.
	ReadTimeout time.Duration

	// AcquireTimeout bounds the wait for a free connection when a limit is
	// reached. Default ConnectTimeout.
	AcquireTimeout time.Duration

	// MaxTotal and MaxPerHost bound the connections in use, over all hosts and
	// per host:port. Defaults 200 and 50.
	MaxTotal, MaxPerHost int

	// IdleTimeout closes a connection that was not used for so long. Default
	// 30 s.
	IdleTimeout time.Duration

	// MaxHeaderBytes bounds the response head. Default 256 KiB.
	MaxHeaderBytes int64

	// SkipVerify accepts any certificate and host name from TLS upstreams.
	SkipVerify bool
}

func (s Settings) withDefaults() Settings {
	set(&s.ConnectTimeout, time.Second)
	set(&s.ReadTimeout, time.Second)
	set(&s.AcquireTimeout, s.ConnectTimeout)
	set(&s.MaxTotal, 200)
	set(&s.MaxPerHost, 50)
	set(&s.IdleTimeout, 30*time.Second)
	set(&s.MaxHeaderBytes, 256<<10)
	return s
}

func set[T int | int64 | time.Duration](v *T, fallback T) {
	if *v <= 0 {
		*v = fallback
	}
}

// ErrReadTimeout is the failure of a response body that paused for longer than
// ReadTimeout. It is a net.Error with Timeout true.
var ErrReadTimeout net.Error = timeoutError("upstream: no data within the read timeout")

// ErrPoolExhausted is the failure of a request that found no free connection
// within AcquireTimeout.
var ErrPoolExhausted error = poolExhaustedError{}

type poolExhaustedError struct{}

func (poolExhaustedError) Error() string {
	return "upstream: no free connection within the acquire timeout"
}

// NothingSent tells the load balancer that another server may be tried.
func (poolExhaustedError) NothingSent() bool { return true }

type timeoutError string

func (e timeoutError) Error() string { return string(e) }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }

// Transport is a pool of connections to upstream servers. Any number of
// goroutines may use it.
type Transport struct {
	http        *http.Transport
	limits      *limits
	readTimeout time.Duration
}

var _ http.RoundTripper = (*Transport)(nil)

// New returns a Transport without any connection. It starts nothing.
func New(s Settings) *Transport {
	s = s.withDefaults()
	dialer := newDialer(s)
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
	res, err := t.send(req.WithContext(ctx))
	if err != nil {
		cancel(nil)
		t.limits.release(h)
		return nil, err
	}
	b := t.body(res, cancel, h)
	res.Body = b
	if conn, ok := b.ReadCloser.(duplex); ok {
		b.patience = 0
		res.Body = switched{b, conn}
	}
	return res, nil
}

func (t *Transport) body(res *http.Response, cancel context.CancelCauseFunc, h *host) *body {
	b := &body{ReadCloser: res.Body, cancel: cancel, release: func() { t.limits.release(h) }}
	if !isEventStream(res.Header.Get("Content-Type")) {
		b.patience = t.readTimeout
	}
	return b
}

func isEventStream(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(strings.TrimSpace(media), "text/event-stream")
}

// CloseIdle closes the connections that no request uses.
func (t *Transport) CloseIdle() { t.http.CloseIdleConnections() }
