//go:build !unix

package http1

import "syscall"

// clientLeft cannot tell on this system: a client that has left is noticed when
// something is written to it.
func clientLeft(syscall.RawConn, bool) bool { return false }

// takes is for bodies that move from socket to socket, which they do on Linux only.
func takes(syscall.RawConn) bool { return true }
