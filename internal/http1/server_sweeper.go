package http1

import "time"

// A request is looked after when it is older than patience, and then every
// patience again.
const patience = 2 // ticks

// sweepOn is the one goroutine that watches over the connections of a server:
// it ends waits that take too long and notices clients that have left. It ends
// when the server is closed and its last connection gone.
func (s *Server) sweepOn() {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	var due []*serverConn
	for {
		select {
		case now := <-ticker.C:
			s.clock.set(now)
			due = s.due(due[:0], s.clock.ticks.Add(1))
			for n, c := range due {
				c.tend(s.clock.ticks.Load())
				due[n] = nil
			}
		case <-s.drained:
			return
		}
	}
}

// due appends the connections that have something to be looked after. It counts
// the requests on the way.
func (s *Server) due(list []*serverConn, now uint64) []*serverConn {
	s.mu.Lock()
	defer s.mu.Unlock()
	handling := 0
	for _, c := range s.conns {
		if c.current.Load() != nil {
			handling++
		}
		_, reading := c.reading.due(now)
		_, writing := c.writing.due(now)
		if reading || writing {
			list = append(list, c)
		}
	}
	s.crowd.judge(handling)
	return list
}

// tend looks after one connection.
func (c *serverConn) tend(now uint64) {
	if state, due := c.writing.due(now); due {
		if waiting, _ := unpackVigil(state); waiting == phaseMove {
			c.lookAtMove(state, now)
		} else {
			c.expireWriting(state)
		}
	}
	state, due := c.reading.due(now)
	if !due {
		return
	}
	switch waiting, _ := unpackVigil(state); waiting {
	case phaseHandler, phaseUnread:
		c.lookAfter(state, waiting, now)
	case phaseIdle:
		c.startDozing(state)
	default:
		c.expireReading(state)
	}
}

// expireReading ends a wait unless it has ended by itself. What has expired
// before is woken again, since a handler may have moved the deadline.
func (c *serverConn) expireReading(state uint64) {
	if c.reading.replace(state, phaseExpired, 1) {
		_ = c.conn.SetReadDeadline(longAgo()) // fails on a closed connection, which blocks nobody
	}
}

// expireWriting is expireReading for the other direction.
func (c *serverConn) expireWriting(state uint64) {
	if c.writing.replace(state, phaseExpired, 1) {
		_ = c.conn.SetWriteDeadline(longAgo()) // as above
	}
}

// lookAfter ends the context of the current request if the client has left.
// Data that waits to be read hides an orderly end, so a request whose body has
// not been read only ends by a reset.
func (c *serverConn) lookAfter(state uint64, waiting phase, now uint64) {
	x := c.current.Load()
	if x == nil {
		return
	}
	if clientLeft(c.socket, waiting == phaseHandler) {
		c.reading.replace(state, waiting, 0)
		x.context.cancel()
		return
	}
	c.reading.replace(state, waiting, now+patience)
}
