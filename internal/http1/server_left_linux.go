package http1

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// clientLeft asks the socket, without reading, whether its peer has reset the
// connection or, if that counts, closed its side. Data that has not been read
// does not hide it. A nil socket is never left.
func clientLeft(socket syscall.RawConn, closed bool) bool {
	if socket == nil {
		return false
	}
	var events int16
	if closed {
		events = unix.POLLRDHUP
	}
	left := false
	_ = socket.Control(func(fd uintptr) { // fails on a closed connection, whose request ends anyway
		fds := []unix.PollFd{{Fd: int32(fd), Events: events}} //nolint:gosec // file descriptors are small
		n, err := unix.Poll(fds, 0)
		left = err == nil && n > 0
	})
	return left
}

// takes asks the socket whether something can be written to it.
func takes(socket syscall.RawConn) bool {
	ready := true
	_ = socket.Control(func(fd uintptr) { // as above
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}} //nolint:gosec // file descriptors are small
		n, err := unix.Poll(fds, 0)
		ready = err != nil || n > 0
	})
	return ready
}
