package http1

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"time"
)

// Hijack gives the connection to the handler, after what has been written so
// far. It counts against the server's limits until the handler returns.
// Shutdown does not wait for it, and Close ends the request's context.
func (w *response) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c := w.conn()
	if w.over.Load() || w.hijacked {
		return nil, nil, http.ErrHijacked
	}
	if w.status != 0 {
		if err := w.FlushError(); err != nil {
			return nil, nil, err
		}
	}
	if !c.reading.rest() || !c.writing.rest() {
		return nil, nil, &WriteError{net.ErrClosed}
	}
	w.hijacked, c.taken = true, true
	c.server.handOver(c)
	_ = c.conn.SetDeadline(time.Time{}) // fails on a closed connection, as the handler will see
	received := bytes.Clone(c.in.buffered())
	c.in.drop()
	c.out.end()
	in := bufio.NewReader(io.MultiReader(bytes.NewReader(received), c.conn))
	_, _ = in.Peek(len(received)) // what has been received is there
	return c.conn, bufio.NewReadWriter(in, bufio.NewWriter(c.conn)), nil
}

// reset makes the end of the connection an error for the client. Below TLS it ends at
// once, for a goodbye there would look like an orderly end.
func (c *serverConn) reset() {
	raw := c.raw()
	if conn, ok := raw.(interface{ SetLinger(seconds int) error }); ok {
		_ = conn.SetLinger(0) // fails on a closed connection
	}
	if c.tls != nil {
		_ = raw.Close() // as above
	}
}
