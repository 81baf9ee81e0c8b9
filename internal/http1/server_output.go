package http1

import "net"

// largestWrite is how much is given to the connection at a time, so that a slow
// client that takes something now and then is not taken for a stalled one.
const largestWrite = 64 << 10

// WriteError is the failure to send something to the client. It tells the
// client's failures from those of the source that a response is copied from.
type WriteError struct{ Err error }

func (e *WriteError) Error() string { return "http1: writing to the client: " + e.Err.Error() }
func (e *WriteError) Unwrap() error { return e.Err }

// output gathers what goes to the client, so that it leaves in few writes.
type output struct {
	conn   *serverConn
	lent   *buffer
	buf    []byte // not sent yet; within lent if it has not outgrown it
	parts  [3][]byte
	vector net.Buffers
	crlf   [2]byte
}

// begin makes the output ready for a response.
func (o *output) begin() {
	if o.lent == nil {
		o.lent = o.conn.server.pool.get(smallestBuffer)
		o.buf = o.lent.bytes[:0]
	}
}

// end gives the buffer back, whatever is in it.
func (o *output) end() {
	if o.lent != nil {
		o.conn.server.pool.put(o.lent)
		o.lent, o.buf = nil, nil
	}
}

// fits reports whether n bytes more can wait.
func (o *output) fits(n int) bool { return len(o.buf)+n <= smallestBuffer }

// flush sends what has been gathered.
func (o *output) flush() error {
	if len(o.buf) == 0 {
		return nil
	}
	err := o.write(o.buf)
	o.buf = o.buf[:0]
	return err
}

// flushWith sends what has been gathered and then p, in as few writes as
// possible; a chunk gets the CRLF that ends it.
func (o *output) flushWith(p []byte, chunk bool) error {
	for len(p) > largestWrite {
		if err := o.writeParts(p[:largestWrite], false); err != nil {
			return err
		}
		p = p[largestWrite:]
	}
	return o.writeParts(p, chunk)
}

func (o *output) writeParts(p []byte, chunk bool) error {
	c := o.conn
	o.parts[0], o.parts[1] = o.buf, p
	o.vector = o.parts[:2]
	if chunk {
		o.crlf = [2]byte{'\r', '\n'}
		o.parts[2] = o.crlf[:]
		o.vector = o.parts[:3]
	}
	c.startWrite()
	_, err := o.vector.WriteTo(c.conn)
	o.buf = o.buf[:0]
	o.parts = [3][]byte{}
	return c.endWrite(err)
}

// write sends p, which should not be larger than largestWrite.
func (o *output) write(p []byte) error {
	o.conn.server.crowd.giveWay()
	o.conn.startWrite()
	return o.conn.endWrite(o.conn.send(p))
}

// send writes all of p.
func (c *serverConn) send(p []byte) error {
	if c.pusher.socket != nil {
		return c.pusher.write(p)
	}
	_, err := c.conn.Write(p)
	return err
}

// startWrite begins a wait for the client to take something.
func (c *serverConn) startWrite() {
	if s := c.server; s.WriteTimeout > 0 {
		c.writing.keep(phaseWrite, s.clock.after(s.WriteTimeout))
	}
}

// endWrite ends the wait. A connection that has failed is of no use any more,
// nor is the request that it carries.
func (c *serverConn) endWrite(err error) error {
	if c.server.WriteTimeout > 0 {
		c.writing.rest()
	}
	if err == nil {
		return nil
	}
	c.cancel()
	return &WriteError{err}
}
