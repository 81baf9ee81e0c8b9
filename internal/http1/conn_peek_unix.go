//go:build unix

package http1

import (
	"errors"
	"syscall"
)

func (p *prober) lookNow(fd uintptr) {
	n, _, err := syscall.Recvfrom(int(fd), p.one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	switch {
	case err == nil && n > 0:
		p.seen = readable
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EINTR):
		p.seen = quiet
	default:
		p.seen = gone
	}
}
