package h2client

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/gozer-gateway/gozer/internal/hostport"
)

// origin is what a connection leads to.
type origin struct{ scheme, host string }

// address is host:port, with the scheme's port if there is none.
func (o origin) address() string { return hostport.OfURL(o.scheme, o.host) }

var (
	errNeedsTLS   = errors.New("h2client: HTTP/2 by ALPN needs a server with TLS; h2c is for those without")
	errNeedsClear = errors.New("h2client: h2c needs a server without TLS; h2 is for those with it")
	errNoALPN     = errors.New("h2client: the server does not offer HTTP/2 in its TLS handshake")
)

// dial opens a connection. Its failures say that nothing of a request was sent.
func (t *Transport) dial(ctx context.Context, o origin) (net.Conn, error) {
	secure := o.scheme == "https"
	switch {
	case secure && t.settings.Cleartext:
		return nil, unsent(errNeedsClear)
	case !secure && !t.settings.Cleartext:
		return nil, unsent(errNeedsTLS)
	}
	conn, err := t.dialer.Dial(ctx, o.address())
	if err != nil {
		return nil, unsent(err)
	}
	if !secure {
		return conn, nil
	}
	session, err := t.dialer.Secure(ctx, conn, o.address(), "h2")
	if err == nil && session.ConnectionState().NegotiatedProtocol != "h2" {
		_ = conn.Close()
		err = errNoALPN
	}
	if err != nil {
		return nil, unsent(fmt.Errorf("h2client: %w", err))
	}
	return session, nil
}
