package http1

import (
	"context"
	"fmt"
	"net"

	"github.com/gozer-gateway/gozer/internal/hostport"
)

// origin is what a connection leads to.
type origin struct{ scheme, host string }

// address is host:port, with the scheme's port if there is none.
func (o origin) address() string { return hostport.OfURL(o.scheme, o.host) }

// dial opens a connection. Its failures say that nothing of a request was sent, those of a
// TLS handshake included.
func (t *Transport) dial(ctx context.Context, o origin) (net.Conn, error) {
	conn, err := t.dialer.Dial(ctx, o.address())
	if err != nil {
		return nil, unsent(err)
	}
	if o.scheme != "https" {
		return conn, nil
	}
	secure, err := t.dialer.Secure(ctx, conn, o.address(), "http/1.1")
	if err != nil {
		return nil, unsent(fmt.Errorf("http1: %w", err))
	}
	return secure, nil
}
