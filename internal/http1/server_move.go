package http1

import (
	"io"
	"net"
	"time"
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
	if s, patience := c.server, body.patience(); s.WriteTimeout > 0 && patience > 0 {
		c.writing.keep(phaseWrite, s.clock.after(s.WriteTimeout+patience))
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

// patience is how long the upstream may pause, 0 for ever.
func (b *Body) patience() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lease.conn == nil {
		return 0
	}
	return b.lease.conn.patience
}
