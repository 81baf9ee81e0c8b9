package upstream

import (
	"context"
	"fmt"
	"net"

	"github.com/gozer-gateway/gozer/internal/tlsout"
)

// dialer opens connections for net/http that can be found closed without a read.
type dialer struct{ *tlsout.Dialer }

func (d dialer) dial(ctx context.Context, _, address string) (net.Conn, error) {
	conn, err := d.Dial(ctx, address)
	if err != nil {
		return nil, err
	}
	return watched(conn), nil
}

func (d dialer) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	secure, err := d.Secure(ctx, conn, address, "http/1.1")
	if err != nil {
		return nil, fmt.Errorf("upstream: %w", err)
	}
	return secure, nil
}
