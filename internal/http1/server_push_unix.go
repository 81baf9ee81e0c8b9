//go:build unix

package http1

import (
	"os"
	"syscall"
)

func (p *pusher) init(socket syscall.RawConn) {
	if socket != nil {
		p.socket, p.push = socket, p.pushNow
	}
}

// pushNow returns false to be called again when the socket takes more.
func (p *pusher) pushNow(fd uintptr) bool {
	for len(p.left) > 0 {
		n, errno := writeSocket(fd, p.left)
		p.left = p.left[n:]
		switch errno {
		case 0:
		case syscall.EAGAIN:
			return false
		default:
			p.failure = os.NewSyscallError("write", errno)
			return true
		}
	}
	return true
}
