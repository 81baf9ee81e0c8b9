//go:build unix

package gozer

import (
	"os"
	"syscall"
)

// handOverSignal asks for a hand-over; nil where sockets are not passed on.
func handOverSignal() os.Signal { return syscall.SIGUSR2 }
