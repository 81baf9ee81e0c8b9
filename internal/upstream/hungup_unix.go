//go:build unix && !aix

package upstream

import (
	"errors"
	"syscall"
)

// hungUp reports that the peer of a socket has closed or reset it. It neither
// waits nor takes what may be there to be read.
func hungUp(fd uintptr) bool {
	n, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	if err != nil {
		return !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR)
	}
	return n == 0
}
