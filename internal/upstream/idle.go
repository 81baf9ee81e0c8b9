package upstream

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"syscall"

	"github.com/gozer-gateway/gozer/internal/tlsout"
)

// errClosedWhileIdle is the failure of a request that got a connection which
// its peer had closed already. Nothing was sent, and nothing read of the body.
var errClosedWhileIdle = errors.New("upstream: connection was closed while idle")

// send sends a request. A connection from the pool that turns out to be closed
// is replaced by another one, whatever the method: net/http does that only for
// requests that it may also repeat.
func (t *Transport) send(req *http.Request) (*http.Response, error) {
	if req.Body == nil && repeatable(req.Method) {
		return t.http.RoundTrip(req)
	}
	for {
		var a attempt
		res, err := t.http.RoundTrip(a.request(req))
		if err == nil || !a.refused.Load() || req.Context().Err() != nil {
			return res, err
		}
	}
}

func repeatable(method string) bool {
	switch method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}

// attempt is one try to send a request. It ends before anything is sent, or
// read of the body, if its connection is closed.
type attempt struct {
	refused atomic.Bool
}

func (a *attempt) request(req *http.Request) *http.Request {
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{GotConn: a.gotConn})
	req = req.WithContext(ctx)
	if req.Body != nil {
		req.Body = &attemptBody{req.Body, a}
	}
	return req
}

// gotConn is called before net/http begins to write.
func (a *attempt) gotConn(info httptrace.GotConnInfo) {
	c := plain(info.Conn)
	a.refused.Store(info.Reused && c != nil && c.refuseIfClosed())
}

// attemptBody is the body for one attempt. When that is refused, the body stays
// untouched for the next.
type attemptBody struct {
	io.ReadCloser
	attempt *attempt
}

func (b *attemptBody) Read(p []byte) (int, error) {
	if b.attempt.refused.Load() {
		return 0, errClosedWhileIdle
	}
	return b.ReadCloser.Read(p)
}

func (b *attemptBody) Close() error {
	if b.attempt.refused.Load() {
		return nil
	}
	return b.ReadCloser.Close()
}

// conn is a connection that can be found closed without reading from it. It has
// no ReadFrom, which would pass Write by.
type conn struct {
	net.Conn
	tcp    *net.TCPConn
	raw    syscall.RawConn
	closed atomic.Bool
}

func watched(c net.Conn) net.Conn {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return c
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return c
	}
	return &conn{Conn: c, tcp: tcp, raw: raw}
}

// plain finds the connection that was dialed below TLS; nil if it is another.
func plain(c net.Conn) *conn {
	if t, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = t.NetConn()
	}
	if s, ok := c.(*tlsout.Socket); ok {
		c = s.Conn
	}
	watched, _ := c.(*conn)
	return watched
}

// refuseIfClosed reports that the peer has closed the connection, on which no
// further byte is sent then.
func (c *conn) refuseIfClosed() bool {
	closed := false
	err := c.raw.Control(func(fd uintptr) { closed = hungUp(fd) })
	if err != nil || closed {
		c.closed.Store(true)
	}
	return c.closed.Load()
}

func (c *conn) Write(p []byte) (int, error) {
	if c.closed.Load() {
		return 0, errClosedWhileIdle
	}
	return c.Conn.Write(p)
}

// CloseWrite ends one direction of a tunnel.
func (c *conn) CloseWrite() error { return c.tcp.CloseWrite() }
