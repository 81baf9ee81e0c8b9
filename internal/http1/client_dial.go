package http1

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/gozer-gateway/gozer/internal/tlsout"
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
	tls  *tlsout.Client
	wait time.Duration // for the handshake
}

func newDialer(s TransportSettings) *dialer {
	d := &dialer{net: net.Dialer{Timeout: s.ConnectTimeout}, tls: s.TLS, wait: s.ConnectTimeout}
	if d.tls == nil {
		d.tls = tlsout.New(tlsout.Options{})
	}
	return d
}

func (d *dialer) dial(ctx context.Context, o origin) (net.Conn, error) {
	conn, err := d.net.DialContext(ctx, "tcp", o.address())
	if err != nil {
		return nil, unsent(err)
	}
	if o.scheme != "https" {
		return conn, nil
	}
	secure, err := d.tls.Handshake(ctx, conn, o.address(), d.wait, "http/1.1")
	if err != nil {
		_ = conn.Close()
		return nil, unsent(fmt.Errorf("http1: %w", err))
	}
	return secure, nil
}
