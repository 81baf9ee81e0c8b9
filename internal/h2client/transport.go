package h2client

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gozer-gateway/gozer/internal/tlsout"
)

// Transport is a pool of HTTP/2 connections to upstream servers. Nothing is added to a
// request, nothing is decoded, redirects are not followed, cookies are not kept, and every
// wait has an end. Any number of goroutines may use it.
type Transport struct {
	settings Settings
	dialer   *tlsout.Dialer
	http     *http.Transport // makes connections and knows their settings

	waiting atomic.Int64 // requests without a place

	mu      sync.Mutex // guards what follows, and all in it
	servers map[origin]*server
	retired bool // connections end with their last stream
}

var _ http.RoundTripper = (*Transport)(nil)

// New returns a Transport without any connection. It starts nothing; a connection has a
// goroutine of its own until it ends.
func New(s Settings) *Transport {
	s = s.withDefaults()
	t := &Transport{settings: s, dialer: tlsout.NewDialer(s.ConnectTimeout, s.TLS), servers: map[origin]*server{}}
	t.http = &http.Transport{
		Protocols:              new(http.Protocols),
		DialContext:            dialed,
		DisableCompression:     true,
		ResponseHeaderTimeout:  s.ReadTimeout,
		IdleConnTimeout:        s.IdleTimeout,
		MaxResponseHeaderBytes: s.MaxHeaderBytes,
		HTTP2: &http.HTTP2Config{
			MaxReceiveBufferPerStream:     int(s.StreamWindow),
			MaxReceiveBufferPerConnection: int(s.ConnectionWindow),
			SendPingTimeout:               s.PingInterval,
			PingTimeout:                   s.PingTimeout,
			WriteByteTimeout:              s.WriteTimeout,
		},
	}
	// Ours is the TLS session, if there is one; see open.
	t.http.Protocols.SetUnencryptedHTTP2(true)
	return t
}

type socketKey struct{}

// dialed hands net/http the connection that open has made.
func dialed(ctx context.Context, _, _ string) (net.Conn, error) {
	s, _ := ctx.Value(socketKey{}).(*socket)
	return s, nil
}

// open makes a connection and waits until the server has said what it allows, so that no
// request is sent to one that speaks something else. ctx ends it.
func (t *Transport) open(ctx context.Context, o origin) (*conn, error) {
	raw, err := t.dial(ctx, o)
	if err != nil {
		return nil, err
	}
	c := &conn{socket: newSocket(raw), born: time.Now()}
	c.http, err = t.http.NewClientConn(context.WithValue(ctx, socketKey{}, c.socket), "http", o.address())
	if err == nil {
		err = c.socket.greeted(ctx, t.settings.ConnectTimeout)
	}
	if err != nil {
		_ = c.socket.Close()
		return nil, unsent(&greetingError{o, err})
	}
	return c, nil
}

// Retire closes the connections that no request uses, and the others as soon as they are
// not used any more. Requests that still come are served all the same.
func (t *Transport) Retire() {
	t.mu.Lock()
	t.retired = true
	t.mu.Unlock()
	t.CloseIdle()
}

// CloseIdle closes the connections that no request uses.
func (t *Transport) CloseIdle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.servers {
		for _, c := range slices.Clone(s.conns) {
			if c.inFlight == 0 {
				t.discard(c)
			}
		}
		t.tidy(s)
	}
}
