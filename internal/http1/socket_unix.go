//go:build unix && (!linux || race)

package http1

import (
	"errors"
	"syscall"
)

func readSocket(fd uintptr, p []byte) (int, syscall.Errno) {
	return patiently(func() (int, error) { return syscall.Read(int(fd), p) })
}

func writeSocket(fd uintptr, p []byte) (int, syscall.Errno) {
	return patiently(func() (int, error) { return syscall.Write(int(fd), p) })
}

// peekSocket looks at the next byte.
func peekSocket(fd uintptr, one *[1]byte) (int, syscall.Errno) {
	n, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	return max(n, 0), errnoOf(err)
}

func patiently(call func() (int, error)) (int, syscall.Errno) {
	for {
		n, err := call()
		if errno := errnoOf(err); errno != syscall.EINTR {
			return max(n, 0), errno
		}
	}
}

func errnoOf(err error) syscall.Errno {
	errno, ok := errors.AsType[syscall.Errno](err)
	if err != nil && !ok {
		return syscall.EIO // package syscall has no other errors
	}
	return errno
}
