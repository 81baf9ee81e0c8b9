package http1

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// serverConn is a client's connection. It belongs to the goroutine of serve but
// for the vigils and current, which the sweeper looks at.
type serverConn struct {
	server *Server
	conn   net.Conn
	given  net.Conn        // conn, or what it is wrapped in to tell whose it is
	base   context.Context //nolint:containedctx // the parent of the requests' contexts, which are values of this type's
	socket syscall.RawConn // nil if it cannot be told whether the client has left
	pusher pusher          // without a socket for TLS, and where it cannot be had
	tls    *tls.ConnectionState
	remote string
	client netip.Addr // invalid if the address is not one of IP
	place  int        // in server.conns or server.taken, guarded by its mu

	reading, writing vigil
	current          atomic.Pointer[exchange] // the request that is being handled
	cut              atomic.Bool              // the connection was ended from outside
	moves            atomic.Uint64            // pieces of bodies that move from socket to socket
	stall            stall                    // of the sweeper

	in     reader
	served int
	taken  bool // hijacked

	*work             // nil while nothing has come or the connection dozes
	waking sync.Mutex // held by the sweeper while it ends phaseIdle
	until  uint64     // the tick at which an idle connection ends, 0 for none
}

// work is what a connection needs while it serves a request, and uses again for
// the next one.
type work struct {
	head           head
	request        *http.Request // of the exchange
	plain          http.Request  // for those without a body
	url            url.URL
	header         http.Header
	values         []string
	responseHeader http.Header
	sent           sentHead
	out            output
}

func newWork(c *serverConn) *work {
	w := &work{header: http.Header{}, responseHeader: http.Header{}, out: output{conn: c}}
	w.request = &w.plain
	return w
}

func newServerConn(base context.Context, s *Server, conn net.Conn, remote net.Addr) *serverConn {
	c := &serverConn{server: s, conn: conn, given: conn, base: base, remote: remote.String()}
	if a, ok := remote.(*net.TCPAddr); ok {
		c.client = a.AddrPort().Addr().Unmap().WithZone("")
	}
	c.socket = socketOf(conn)
	c.pusher.init(c.socket)
	return c
}

// serve answers requests until the connection ends.
func (c *serverConn) serve() {
	c.startFirstWait()
	if !c.shakeHands() {
		c.leave()
		return
	}
	c.in.init(c.conn, c.server.pool)
	c.serveOn()
}

func (c *serverConn) serveOn() {
	for {
		switch c.await() {
		case dozing:
			c.work = nil
			go c.serveOn() // on a stack that is small again
			return
		case arrived:
			if c.serveOne() {
				c.forget()
				continue
			}
		case ended:
		}
		c.leave()
		return
	}
}

// leave ends the connection and what the server knows of it.
func (c *serverConn) leave() {
	if !c.taken {
		_ = c.conn.Close() // what was written has been written
	}
	c.in.drop()
	c.server.dismiss(c)
}

// serveOne reads one request and answers it. It returns true if the connection
// can serve another one.
func (c *serverConn) serveOne() bool {
	if c.work == nil {
		c.work = newWork(c)
	}
	c.served++
	x, err := c.receive()
	if err != nil {
		if !c.greeted() {
			c.refuse(err)
		}
		return false
	}
	c.current.Store(x)
	ok := x.handle()
	c.current.Store(nil)
	x.end()
	if !ok {
		x.leaveBody()
		return false
	}
	return x.settle()
}

// refuse answers what cannot be taken for a request.
func (c *serverConn) refuse(err error) {
	refused, ok := errors.AsType[*Error](err)
	if !ok && c.reading.expired() && len(c.in.buffered()) > 0 {
		refused, ok = &Error{http.StatusRequestTimeout, "request head too slow"}, true
	}
	if !ok {
		return
	}
	c.server.Count.answer(*refused)
	answer := c.refusal(refused)
	if c.server.Refused != nil {
		c.server.Refused(answer)
	}
	c.server.log.Debug("request refused", "client", c.remote, "error", refused)
	if c.out.refuse(answer) == nil {
		c.linger(c.conn)
	}
}

// turnAwayTime bounds the answer to a connection that there is no room for. A socket takes it
// at once, so it is long: the answer must not be lost because this process was held up.
const turnAwayTime = 5 * time.Second

// turnAway answers a connection that there is no room for. Nothing has been
// read from it, and nothing will be.
func (c *serverConn) turnAway() {
	c.server.log.Debug("too many connections", "client", c.remote)
	defer func() { _ = c.conn.Close() }()
	_ = c.conn.SetDeadline(time.Now().Add(turnAwayTime)) // fails on a closed connection
	if _, secure := c.conn.(*tls.Conn); !secure {
		c.work = newWork(c)
		_ = c.out.refuse(c.refusal(&Error{http.StatusServiceUnavailable, "too many connections"})) // best effort
	}
}

// forget drops what the last request has left, so that an idle connection does
// not keep it in memory.
func (c *serverConn) forget() {
	c.head.forget()
	c.plain = http.Request{}
	c.request = &c.plain
	c.header = emptied(c.header)
	c.responseHeader = emptied(c.responseHeader)
	c.sent = sentHead{}
	clear(c.values)
}

// emptied returns h, or a new map if h has become large.
func emptied(h http.Header) http.Header {
	if len(h) > 32 {
		return http.Header{}
	}
	clear(h)
	return h
}

// cancel ends the request that is being handled, if there is one.
func (c *serverConn) cancel() {
	if x := c.current.Load(); x != nil {
		x.context.cancel()
	}
}

// cutOff ends the connection from outside.
func (c *serverConn) cutOff() {
	c.cut.Store(true) // for a request that is not current yet
	if x := c.current.Load(); x != nil {
		x.cut.Store(true)
	}
	_ = c.raw().Close() // wakes whoever waits for it; TLS would say goodbye, and wait for that
	c.cancel()
}
