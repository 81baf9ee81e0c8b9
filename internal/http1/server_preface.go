package http1

import "bytes"

// preface is what a client that knows the server to speak HTTP/2 sends first. Its
// first line looks like that of a request, which is why it is noticed when that
// has been refused.
const (
	preface     = prefaceLine + "\r\nSM\r\n\r\n"
	prefaceLine = "PRI * HTTP/2.0\r\n"
)

// greeted hands over a connection that begins with the preface, and returns when it
// has ended. It returns false if it is none of that kind.
func (c *serverConn) greeted() bool {
	if c.server.Preface == nil || c.tls != nil || c.served != 1 || !bytes.HasPrefix(c.in.buffered(), []byte(prefaceLine)) {
		return false
	}
	for len(c.in.buffered()) < len(preface) {
		if c.in.fill() != nil {
			return false
		}
	}
	if !bytes.HasPrefix(c.in.buffered(), []byte(preface)) || !c.reading.rest() {
		return false
	}
	received := bytes.Clone(c.in.buffered())
	c.in.drop()
	c.work = nil
	c.server.Preface(c.given, received)
	return true
}
