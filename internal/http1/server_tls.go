package http1

import (
	"crypto/tls"
	"errors"
	"net"
	"strings"
)

// raw is the connection below TLS, or the connection itself.
func (c *serverConn) raw() net.Conn {
	if secure, ok := c.conn.(*tls.Conn); ok {
		return secure.NetConn()
	}
	return c.conn
}

// shakeHands makes TLS ready. It returns false if the connection is of no use
// here.
func (c *serverConn) shakeHands() bool {
	conn, ok := c.conn.(*tls.Conn)
	if !ok {
		return true
	}
	c.socket = socketOf(conn.NetConn())
	if err := conn.HandshakeContext(c.base); err != nil {
		c.handshakeFailed(err)
		return false
	}
	state := conn.ConnectionState()
	c.tls = &state
	switch state.NegotiatedProtocol {
	case "", "http/1.1", "http/1.0":
		return true
	}
	if c.server.NextProto != nil && c.reading.rest() {
		c.server.NextProto(conn)
	}
	return false
}

// handshakeFailed lets the client read why: without waiting for it, what it has sent
// meanwhile would reset the connection, and the reset could overtake the alert.
func (c *serverConn) handshakeFailed(err error) {
	c.server.Count.failHandshake()
	c.server.log.Debug("TLS handshake failed", "client", c.remote, "error", err)
	if c.server.HandshakeFailed != nil {
		c.server.HandshakeFailed(err)
	}
	if c.reading.expired() {
		return
	}
	if plain, ok := errors.AsType[tls.RecordHeaderError](err); ok && plain.Conn != nil && looksLikeHTTP(plain.RecordHeader) {
		_, _ = plain.Conn.Write([]byte(httpToHTTPS)) // best effort
	}
	c.linger(c.raw())
}

// httpToHTTPS answers a request without TLS, as net/http does.
const httpToHTTPS = "HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"

func looksLikeHTTP(start [5]byte) bool {
	for _, method := range []string{"GET /", "HEAD ", "POST ", "PUT /", "OPTIO", "DELET", "PATCH", "CONNE", "TRACE"} {
		if strings.HasPrefix(string(start[:]), method) {
			return true
		}
	}
	return false
}
