package h2client

import (
	"context"
	"errors"
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

var (
	errNeedsTLS   = errors.New("h2client: HTTP/2 by ALPN needs a server with TLS; h2c is for those without")
	errNeedsClear = errors.New("h2client: h2c needs a server without TLS; h2 is for those with it")
	errNoALPN     = errors.New("h2client: the server does not offer HTTP/2 in its TLS handshake")
)

// dialer opens connections. Its failures say that nothing of a request was sent.
type dialer struct {
	net       net.Dialer
	tls       *tlsout.Client
	wait      time.Duration // for the handshake
	cleartext bool
}

func newDialer(s Settings) *dialer {
	d := &dialer{net: net.Dialer{Timeout: s.ConnectTimeout}, tls: s.TLS, wait: s.ConnectTimeout, cleartext: s.Cleartext}
	if d.tls == nil {
		d.tls = tlsout.New(tlsout.Options{})
	}
	return d
}

func (d *dialer) dial(ctx context.Context, o origin) (net.Conn, error) {
	secure := o.scheme == "https"
	switch {
	case secure && d.cleartext:
		return nil, unsent(errNeedsClear)
	case !secure && !d.cleartext:
		return nil, unsent(errNeedsTLS)
	}
	conn, err := d.net.DialContext(ctx, "tcp", o.address())
	if err != nil {
		return nil, unsent(err)
	}
	if !secure {
		return conn, nil
	}
	session, err := d.tls.Handshake(ctx, conn, o.address(), d.wait, "h2")
	if err == nil && session.ConnectionState().NegotiatedProtocol != "h2" {
		err = errNoALPN
	}
	if err != nil {
		_ = conn.Close()
		return nil, unsent(fmt.Errorf("h2client: %w", err))
	}
	return session, nil
}
