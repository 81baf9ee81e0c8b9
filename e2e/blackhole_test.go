package e2e_test

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// blackhole returns an address that neither takes nor refuses connections: a socket whose
// queue is full, at which the kernel ignores further handshakes.
func blackhole(tb testing.TB) string {
	tb.Helper()
	if runtime.GOOS != "linux" {
		tb.Skip("reads /proc")
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		tb.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil { // has room for one
		tb.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		tb.Fatal(err)
	}
	port := name.(*syscall.SockaddrInet4).Port
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	dial(tb, addr)
	eventually(tb, "the queue is full", func() bool { return queued(tb, port) > 0 })
	return addr
}

// queued tells how many connections to a port of 127.0.0.1 nobody has accepted yet.
func queued(tb testing.TB, port int) int {
	tb.Helper()
	table, err := os.ReadFile("/proc/self/net/tcp")
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(table)) {
		if f := strings.Fields(line); f[1] == fmt.Sprintf("0100007F:%04X", port) && f[3] == listens {
			_, waiting, _ := strings.Cut(f[4], ":")
			n, _ := strconv.ParseInt(waiting, 16, 32) // as the kernel writes it
			return int(n)
		}
	}
	return 0
}
