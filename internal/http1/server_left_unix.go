//go:build unix && !linux

package http1

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// clientLeft asks the socket, without reading, whether its peer has reset the
// connection or, if that counts, closed its side. Data that has not been read
// hides it. A nil socket is never left.
func clientLeft(socket syscall.RawConn, closed bool) bool {
	if socket == nil {
		return false
	}
	left := false
	_ = socket.Control(func(fd uintptr) { // fails on a closed connection, whose request ends anyway
		var one [1]byte
		n, _, err := unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		switch {
		case err == nil:
			left = n == 0 && closed
		default:
			left = !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR)
		}
	})
	return left
}

// takes is for bodies that move from socket to socket, which they do on Linux only.
func takes(syscall.RawConn) bool { return true }
