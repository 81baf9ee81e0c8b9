//go:build unix

package handover

import (
	"fmt"
	"os"
	"syscall"
)

// inherited is a descriptor that came with the start of the process; children do not get it.
func inherited(fd int, name string) *os.File {
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), name)
}

// duplicate copies the descriptor of a socket. The File method of listeners would do so
// too, but makes the socket block for its owner as soon as the copy is passed on.
func duplicate(source syscall.Conn, name string) (*os.File, error) {
	raw, err := source.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("handover: %w", err)
	}
	var copied int
	var failure error
	err = raw.Control(func(fd uintptr) {
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
		if copied, failure = syscall.Dup(int(fd)); failure == nil {
			syscall.CloseOnExec(copied)
		}
	})
	if err == nil {
		err = failure
	}
	if err != nil {
		return nil, fmt.Errorf("handover: %w", err)
	}
	return os.NewFile(uintptr(copied), name), nil
}
