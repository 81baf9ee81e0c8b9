package http1

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// origin is what a connection leads to.
type origin struct{ scheme, host string }

// address is host:port, with the scheme's port if there is none.
func (o origin) address() string {
	if strings.LastIndexByte(o.host, ':') > strings.LastIndexByte(o.host, ']') {
		return o.host
	}
	if o.scheme == "https" {
		return o.host + ":443"
	}
	return o.host + ":80"
}

// dialer opens connections. Its failures say that nothing of a request was
// sent, those of a TLS handshake included.
type dialer struct {
	net  net.Dialer
	tls  *tls.Config
	wait time.Duration // for the handshake
}

func newDialer(s TransportSettings) *dialer {
	return &dialer{
		net: net.Dialer{Timeout: s.ConnectTimeout},
		tls: &tls.Config{
			NextProtos:         []string{"http/1.1"},
			InsecureSkipVerify: s.SkipVerify, //nolint:gosec // the user's own zuul.ssl-hostname-validation-enabled: false
			ClientSessionCache: tls.NewLRUClientSessionCache(0),
		},
		wait: s.ConnectTimeout,
	}
}

func (d *dialer) dial(ctx context.Context, o origin) (net.Conn, error) {
	conn, err := d.net.DialContext(ctx, "tcp", o.address())
	if err != nil {
		return nil, unsent(err)
	}
	if o.scheme != "https" {
		return conn, nil
	}
	secure, err := d.handshake(ctx, conn, o.address())
	if err != nil {
		_ = conn.Close()
		return nil, unsent(fmt.Errorf("http1: TLS handshake with %s: %w", o.address(), err))
	}
	return secure, nil
}

func (d *dialer) handshake(ctx context.Context, conn net.Conn, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	config := d.tls.Clone()
	config.ServerName = host
	secure := tls.Client(&tlsSocket{Conn: conn}, config)
	ctx, cancel := context.WithTimeout(ctx, d.wait)
	defer cancel()
	return secure, secure.HandshakeContext(ctx)
}

// tlsSocket is the connection under a TLS session. It remembers whether that
// has ended without the session's own end, in which case what was received may
// have been cut by anybody.
type tlsSocket struct {
	net.Conn
	ended bool
}

func (s *tlsSocket) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	s.ended = s.ended || err == io.EOF //nolint:errorlint // package net never wraps it
	return n, err
}
