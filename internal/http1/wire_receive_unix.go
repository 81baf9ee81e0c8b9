//go:build unix

package http1

import (
	"errors"
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
	n, err := receive(int(fd), buf.bytes)
	if n > 0 {
		r.buf, r.start, r.end = buf, 0, n
		return true
	}
	r.pool.put(buf)
	if errors.Is(err, syscall.EAGAIN) {
		return false
	}
	r.failure = io.EOF
	if err != nil {
		r.failure = os.NewSyscallError("read", err)
	}
	return true
}

func receive(fd int, p []byte) (int, error) {
	for {
		n, err := syscall.Read(fd, p)
		if !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}
