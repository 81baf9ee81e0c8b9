//go:build !unix

package http1

import "syscall"

// init leaves the pusher without a socket.
func (*pusher) init(syscall.RawConn) {}
