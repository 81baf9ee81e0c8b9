package e2e_test

import (
	"context"
	"net"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// blackhole returns an address that neither takes nor refuses connections: a socket whose
// queue is full, at which the kernel ignores further handshakes.
func blackhole(tb testing.TB) string {
	tb.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		tb.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		tb.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		tb.Fatal(err)
	}
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(name.(*syscall.SockaddrInet4).Port))
	for range 8 {
		if !fill(tb, addr) {
			return addr
		}
	}
	tb.Skip("this system takes connections without end")
	return ""
}

// fill reports that one more connection was taken.
func fill(tb testing.TB, addr string) bool {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), 200*time.Millisecond)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		if !os.IsTimeout(err) {
			tb.Fatal(err)
		}
		return false
	}
	tb.Cleanup(func() { c.Close() })
	return true
}
