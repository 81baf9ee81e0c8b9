//go:build unix

package http1

import "syscall"

func (p *prober) lookNow(fd uintptr) {
	n, errno := peekSocket(fd, &p.one)
	switch {
	case n > 0:
		p.seen = readable
	case errno == syscall.EAGAIN, errno == syscall.EINTR:
		p.seen = quiet
	default:
		p.seen = gone
	}
}
