package upstream

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/gozer-gateway/gozer/internal/http1"
	"github.com/gozer-gateway/gozer/internal/tlsout"
)

// dialer opens connections. Its failures say that nothing of a request was
// sent, those of a TLS handshake included.
type dialer struct {
	net  net.Dialer
	tls  *tlsout.Client
	wait time.Duration // for the handshake
}

func newDialer(s http1.TransportSettings) *dialer {
	d := &dialer{net: net.Dialer{Timeout: s.ConnectTimeout}, tls: s.TLS, wait: s.ConnectTimeout}
	if d.tls == nil {
		d.tls = tlsout.New(tlsout.Options{})
	}
	return d
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
	secure, err := d.tls.Handshake(ctx, conn, address, d.wait, "http/1.1")
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("upstream: %w", err)
	}
	return secure, nil
}
