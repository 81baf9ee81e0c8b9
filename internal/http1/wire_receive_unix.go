//go:build unix

package http1

import (
	"io"
	"os"
	"syscall"
)

// watchSocket makes await wait for the socket itself where conn is nothing else.
func (r *reader) watchSocket() {
	if r.socket = socketOf(r.conn); r.socket != nil {
		r.receive = r.receiveNow
	}
}

// receiveNow reads from the socket without waiting, into a buffer that it takes
// only for that moment. False makes the caller wait until the socket is
// readable.
func (r *reader) receiveNow(fd uintptr) bool {
	buf := r.pool.get(smallestBuffer)
	n, errno := readSocket(fd, buf.bytes)
	if n > 0 {
		r.buf, r.start, r.end = buf, 0, n
		return true
	}
	r.pool.put(buf)
	switch errno {
	case syscall.EAGAIN:
		return false
	case 0:
		r.failure = io.EOF
	default:
		r.failure = os.NewSyscallError("read", errno)
	}
	return true
}
