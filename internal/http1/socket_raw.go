//go:build linux && !race

package http1

import (
	"syscall"
	"unsafe" //nolint:depguard // to hand a slice to the kernel, as package syscall does
)

// The calls of this file do not tell the scheduler that they are made, which
// costs as much as some of them do. They are for sockets that do not block.

func readSocket(fd uintptr, p []byte) (int, syscall.Errno) {
	return rawCall(syscall.SYS_READ, fd, p)
}

func writeSocket(fd uintptr, p []byte) (int, syscall.Errno) {
	return rawCall(syscall.SYS_WRITE, fd, p)
}

// rawCall returns 0 with an error.
func rawCall(trap, fd uintptr, p []byte) (int, syscall.Errno) {
	for {
		n, _, errno := syscall.RawSyscall(trap, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
		switch errno {
		case 0:
			return int(n), 0
		case syscall.EINTR:
		default:
			return 0, errno
		}
	}
}

// peekSocket looks at the next byte.
func peekSocket(fd uintptr, one *[1]byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(one)), 1,
		syscall.MSG_PEEK|syscall.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}
