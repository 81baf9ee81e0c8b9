package http1

import (
	"io"
	"net"
)

const (
	// leastMove is the shortest rest of a body that is worth the system calls.
	leastMove = 24 << 10
	// moveSize is how much is moved between two looks at the clock.
	moveSize = 64 << 10
)

// move lets the kernel carry the rest of an upstream's body to the client. It
// returns io.EOF at the body's end, and nil if the rest is to be copied.
func (w *response) move(src io.Reader) (moved int64, err error) {
	body, ok := src.(*Body)
	client, plain := w.conn().conn.(*net.TCPConn)
	if !ok || !plain || w.framing != lengthBody {
		return 0, nil
	}
	left, ok := body.movable()
	if !ok || left < leastMove || w.written+left > w.length {
		return 0, nil
	}
	if w.failure = w.out().flush(); w.failure != nil {
		return 0, w.failure
	}
	for err == nil {
		var n int64
		n, err = w.movePiece(client, body, min(left, moveSize))
		left -= n
		moved += n
	}
	return moved, err
}

func (w *response) movePiece(client *net.TCPConn, body *Body, size int64) (int64, error) {
	c := w.conn()
	if c.server.WriteTimeout > 0 {
		c.moves.Add(1)
		c.writing.keep(phaseMove, c.server.clock.ticks.Load()+patience)
	}
	n, readErr, writeErr := body.move(client, size)
	c.writing.rest()
	w.written += n
	if writeErr != nil {
		w.failure = c.endWrite(writeErr)
		return n, w.failure
	}
	return n, readErr
}

// stall is what the sweeper knows of a body that moves.
type stall struct {
	moves uint64 // done when it last looked
	since uint64 // the tick since which the client takes nothing; 0: it does
}

// lookAtMove ends a move whose client has taken nothing for WriteTimeout. The two
// ends of a move wait for each other, so it asks the client's socket which it is.
func (c *serverConn) lookAtMove(state, now uint64) {
	s := &c.stall
	if moves := c.moves.Load(); moves != s.moves || takes(c.socket) {
		*s = stall{moves: moves}
	} else if s.since == 0 {
		s.since = now - patience
	}
	if s.since != 0 && now-s.since > uint64(c.server.WriteTimeout/tick) {
		c.expireWriting(state)
		return
	}
	c.writing.replace(state, phaseMove, now+patience)
}
