//go:build !unix

package gozer

import "os"

// handOverSignal is nil: there is no SIGUSR2, and sockets are not passed on.
func handOverSignal() os.Signal { return nil }
