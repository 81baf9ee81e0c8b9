package tlsout

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// Dialer opens connections to servers and makes sessions on them. It is safe for
// concurrent use.
type Dialer struct {
	net  net.Dialer
	tls  *Client
	wait time.Duration
}

// NewDialer returns a dialer that gives a connection and then its handshake so long each;
// 0: no limit. A nil client is one with the default options.
func NewDialer(wait time.Duration, client *Client) *Dialer {
	if client == nil {
		client = New(Options{})
	}
	return &Dialer{net.Dialer{Timeout: wait}, client, wait}
}

// Dial connects to a host:port by TCP.
func (d *Dialer) Dial(ctx context.Context, address string) (net.Conn, error) {
	return d.net.DialContext(ctx, "tcp", address)
}

// Secure is Client.Handshake that closes conn if it fails.
func (d *Dialer) Secure(ctx context.Context, conn net.Conn, address, protocol string) (*tls.Conn, error) {
	session, err := d.tls.Handshake(ctx, conn, address, d.wait, protocol)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return session, nil
}
