package http1

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"sync/atomic"
)

// exchange is one request with its response. Each has its own, so that a
// goroutine which a handler has left behind finds an exchange that is over and
// not that of somebody else.
type exchange struct {
	conn     *serverConn
	context  requestContext
	response response
	begun    atomic.Bool  // the head of the response is fixed
	cut      atomic.Bool  // the server has ended the request
	body     *requestBody // nil without one
}

// receive reads the head of a request.
func (c *serverConn) receive() (*exchange, error) {
	h := &c.head
	h.reset(requestHead)
	if err := h.read(&c.in, &c.server.limits); err != nil {
		return nil, err
	}
	if err := h.finishRequest(); err != nil {
		return nil, err
	}
	if err := h.fillURL(&c.url); err != nil {
		return nil, err
	}
	if h.framing == noBody {
		c.in.release() // a thousand requests that wait need no buffers
	}
	x := &exchange{conn: c}
	x.context.exchange = x
	x.context.downstream.interim, x.context.downstream.crowd = &x.response, &c.server.crowd
	x.response.begin(x)
	c.fillRequest(x)
	return x, nil
}

// fillRequest makes of the head what net/http would make of it.
func (c *serverConn) fillRequest(x *exchange) {
	h := &c.head
	header := c.header
	if h.framing == noBody {
		c.values = h.fillHeader(header, c.values)
	} else { // whoever is left behind with the body may look at it later
		header = make(http.Header, len(h.fields))
		h.fillHeader(header, nil)
		c.request = new(http.Request)
	}
	*c.request = http.Request{
		Method:        h.method,
		URL:           &c.url,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    h.minor,
		Header:        header,
		Body:          http.NoBody,
		ContentLength: h.length,
		Close:         !h.persistent(),
		Host:          h.host,
		RequestURI:    h.target,
		RemoteAddr:    c.remote,
		TLS:           c.tls,
	}
	if h.minor == 0 {
		c.request.Proto = "HTTP/1.0"
	}
	*c.request = *c.request.WithContext(&x.context)
	if h.framing != noBody {
		x.expectBody()
	}
}

// expectBody gives the request its body.
func (x *exchange) expectBody() {
	c := x.conn
	h := &c.head
	b := &requestBody{exchange: x, awaited: h.expectContinue}
	b.body.reset(&c.in, h.framing, h.length, &c.request.Trailer, &c.server.limits)
	if h.framing == chunkedBody {
		c.request.TransferEncoding = []string{"chunked"}
		c.request.Trailer = h.announced()
	}
	x.body = b
	c.request.Body = b
}

// handle lets the handler answer. It returns true if the response is complete
// and the connection can be used further.
func (x *exchange) handle() (ok bool) {
	c := x.conn
	defer func() {
		if failure := recover(); failure != nil {
			x.panicked(failure)
			ok = false
		}
	}()
	phase := phaseHandler
	if x.body != nil {
		phase = phaseUnread
	}
	if !c.reading.keep(phase, c.server.clock.ticks.Load()+patience) {
		return false
	}
	if c.base.Err() != nil || c.cut.Load() {
		x.context.cancel()
	}
	if c.head.target == "*" {
		c.server.Count.answer(Error{http.StatusOK, "request about the server"})
		x.response.Header()["Content-Length"] = []string{"0"}
	} else {
		c.server.Handler.ServeHTTP(&x.response, c.request)
	}
	return x.response.finish()
}

// panicked cuts the connection, so that what has been sent does not look like
// the whole response.
func (x *exchange) panicked(failure any) {
	x.response.abandon()
	if failure != http.ErrAbortHandler { //nolint:errorlint // it is a panic value, compared as net/http does
		x.conn.server.log.Error("handler panicked", "client", x.conn.remote, "panic", fmt.Sprint(failure), "stack", string(debug.Stack()))
	}
}

// end tells those whom the handler has left behind that the request is over: who sees
// its context end finds the body closed.
func (x *exchange) end() {
	if x.body != nil {
		_ = x.body.Close()
	}
	x.context.end()
}

// settle reads over what is left of the request's body. It returns true if
// another request can follow.
func (x *exchange) settle() bool {
	c := x.conn
	if !x.finishBody() {
		c.linger(c.conn)
		return false
	}
	if x.response.closing {
		if !c.request.Close || len(c.in.buffered()) > 0 {
			c.linger(c.conn)
		}
		return false
	}
	return true
}
