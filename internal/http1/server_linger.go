package http1

import (
	"net"
	"time"
)

const (
	lingerPause = 2 * time.Second
	lingerTime  = 30 * time.Second
	// lingerBytes is more than an honest client sends in that time before it looks at the
	// answer, and what a fast one can send in a moment.
	lingerBytes = 256 << 20
)

// linger closes the sending side of c's connection, or of the one below TLS, and reads over what the client still sends,
// until it closes too. A connection that is closed with bytes unread is reset,
// and the reset could overtake the last response (RFC 9112 9.6).
func (c *serverConn) linger(conn net.Conn) {
	half, ok := conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	clock := &c.server.clock
	lent := c.server.pool.get(smallestBuffer)
	defer c.server.pool.put(lent)
	for end, left := clock.after(lingerTime), lingerBytes; left > 0 && clock.ticks.Load() < end; {
		if !c.reading.keep(phaseLinger, clock.after(lingerPause)) {
			return
		}
		n, err := conn.Read(lent.bytes)
		if err != nil {
			return
		}
		left -= n
	}
}
