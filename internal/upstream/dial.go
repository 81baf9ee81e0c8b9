package upstream

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"github.com/gozer-gateway/gozer/internal/http1"
)

// dialer opens connections. Its failures say that nothing of a request was
// sent, those of a TLS handshake included.
type dialer struct {
	net  net.Dialer
	tls  *tls.Config
	wait time.Duration // for the handshake
}

func newDialer(s http1.TransportSettings) *dialer {
	return &dialer{
		net: net.Dialer{Timeout: s.ConnectTimeout},
		tls: &tls.Config{
			NextProtos:         []string{"http/1.1"},
			InsecureSkipVerify: s.SkipVerify, //nolint:gosec // the user's own zuul.ssl-hostname-validation-enabled: false
		},
		wait: s.ConnectTimeout,
	}
}

func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.net.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return watched(conn), nil
}

func (d *dialer) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	config := d.tls.Clone()
	config.ServerName = host
	secure := tls.Client(conn, config)
	ctx, cancel := context.WithTimeout(ctx, d.wait)
	defer cancel()
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, &handshakeError{address, err}
	}
	return secure, nil
}

// handshakeError is a TLS session that did not come about.
type handshakeError struct {
	address string
	err     error
}

func (e *handshakeError) Error() string {
	return fmt.Sprintf("upstream: TLS handshake with %s: %v", e.address, e.err)
}

func (e *handshakeError) Unwrap() error { return e.err }

// NothingSent tells the load balancer that another server may be tried.
func (*handshakeError) NothingSent() bool { return true }
