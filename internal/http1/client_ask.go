package http1

import (
	"syscall"
)

// asker sends a request and waits for the answer in one visit to the socket:
// it looks whether the connection is still alive, writes, and then waits to be
// woken, without the read that would find nothing so soon.
//
// The order matters. The runtime forgets what it has heard of a socket when a
// visit begins, and the system tells of each change once: what happens before
// the look is seen by it, what happens after it wakes the wait.
type asker struct {
	conn    *clientConn
	socket  syscall.RawConn
	visit   func(fd uintptr) bool // bound once
	out     []byte
	lent    *buffer // holds out; nil if it is still needed, or has been given back
	asked   bool
	written int
	failure error
}

// able reports whether ask works on this connection.
func (a *asker) able() bool { return a.socket != nil }

// ask sends p and returns when something of the answer is in the reader. It
// returns how much of p was sent. lent, if it is not nil, holds p and is given back
// as soon as that is possible.
func (a *asker) ask(p []byte, lent *buffer) (int, error) {
	c := a.conn
	a.out, a.lent, a.asked, a.written, a.failure = p, lent, false, 0, nil
	defer a.giveBack()
	err := a.socket.Read(a.visit)
	for c.early(err) {
		err = a.socket.Read(a.visit)
	}
	if err == nil {
		err = a.failure
	}
	if err == nil && a.written < len(p) {
		n, err := c.write(p[a.written:])
		return a.written + n, err
	}
	return a.written, err
}

// giveBack ends the use of out.
func (a *asker) giveBack() {
	if a.lent != nil {
		a.conn.reader.pool.put(a.lent)
	}
	a.out, a.lent = nil, nil
}
