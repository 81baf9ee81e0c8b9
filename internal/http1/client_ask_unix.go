//go:build unix

package http1

import (
	"os"
	"syscall"
)

func (a *asker) init(c *clientConn) {
	a.conn = c
	if c.prober != nil && c.secure == nil {
		a.socket, a.visit = c.prober.socket, a.visitNow
	}
}

// visitNow is called until it returns true, after the first time whenever the
// socket has become readable.
func (a *asker) visitNow(fd uintptr) bool {
	if a.asked {
		return a.receive(fd)
	}
	if a.conn.used && a.dead(fd) {
		a.failure = errDead
		return true
	}
	a.asked = true
	n, errno := writeSocket(fd, a.out)
	a.written = n
	if errno != 0 && errno != syscall.EAGAIN {
		a.failure = os.NewSyscallError("write", errno)
		return true
	}
	if a.written < len(a.out) {
		return true
	}
	if a.lent != nil {
		a.giveBack()
	}
	return false
}

func (a *asker) dead(fd uintptr) bool {
	p := a.conn.prober
	p.look(fd)
	return p.seen != quiet
}

// receive fills the reader, false if there is nothing yet.
func (a *asker) receive(fd uintptr) bool {
	r := &a.conn.reader
	r.failure = nil
	if !r.receiveNow(fd) {
		return false
	}
	a.failure = r.failure
	a.conn.heard = a.conn.heard || r.failure == nil
	return true
}
