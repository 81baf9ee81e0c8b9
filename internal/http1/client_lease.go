package http1

// lease is the use of a connection and of a place in the pool for one exchange,
// once the response head is there.
type lease struct {
	transport  *Transport
	host       *poolHost
	conn       *clientConn
	upload     *upload
	persistent bool // the server will answer another request
}

// end gives everything back, once. The connection is kept if the response is
// complete and nothing came behind it, and if the request has been sent.
func (l *lease) end(complete bool) {
	c := l.conn
	l.conn = nil
	keep := complete && l.persistent && l.upload.finished() && len(c.reader.buffered()) == 0
	if !c.watch.end(c) || c.broken.Load() {
		keep = false
	}
	if !keep {
		c.close()
		l.transport.pool.release(l.host, nil)
		return
	}
	c.rest()
	l.transport.pool.release(l.host, c)
}
