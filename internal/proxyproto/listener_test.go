package proxyproto_test

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/proxyproto"
)

const enough = 20 * time.Second

// listen opens a listener on loopback; nobody is in 192.0.2.0/24.
func listen(t *testing.T, trusted string, s proxyproto.Settings) (net.Listener, *proxyproto.Counts) {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	s.Trusted, s.Counts = []netip.Prefix{netip.MustParsePrefix(trusted)}, &proxyproto.Counts{}
	if s.HeaderTimeout == 0 {
		s.HeaderTimeout = enough
	}
	return proxyproto.Listen(l, s), s.Counts
}

// connect sends text on a new connection and returns it.
func connect(t *testing.T, l net.Listener, text string) net.Conn {
	t.Helper()
	var dialer net.Dialer
	conn, err := dialer.DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := conn.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return conn
}

func accept(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func counts(c *proxyproto.Counts) [4]int64 {
	return [4]int64{c.Accepted.Load(), c.Refused.Load(), c.Malformed.Load(), c.Late.Load()}
}

func wantCounts(t *testing.T, c *proxyproto.Counts, want [4]int64) {
	t.Helper()
	if got := counts(c); got != want {
		t.Errorf("accepted, refused, malformed, late: %v, want %v", got, want)
	}
}

func TestConn(t *testing.T) {
	tests := map[string]struct {
		head, remote string // remote "": the peer's own
	}{
		"version 1": {"PROXY TCP4 203.0.113.9 10.0.0.1 8080 80\r\n", "203.0.113.9:8080"},
		"version 2": {v2(0x21, 0x21, v6Addresses), "[2001:db8::1]:8080"},
		"UNKNOWN":   {"PROXY UNKNOWN\r\n", ""},
		"LOCAL":     {v2(0x20, 0x00, ""), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l, c := listen(t, "127.0.0.0/8", proxyproto.Settings{})
			near := connect(t, l, test.head+"hello")
			conn := accept(t, l)
			want := test.remote
			if want == "" {
				want = near.LocalAddr().String()
			}
			if got := conn.RemoteAddr().String(); got != want {
				t.Errorf("of %s, want %s", got, want)
			}
			text := make([]byte, 5)
			if _, err := io.ReadFull(conn, text); err != nil || string(text) != "hello" {
				t.Errorf("%q, %v", text, err)
			}
			wantCounts(t, c, [4]int64{1})
		})
	}
}

func TestConnWithoutAHead(t *testing.T) {
	l, c := listen(t, "127.0.0.0/8", proxyproto.Settings{})
	near := connect(t, l, "GET / HTTP/1.1\r\n\r\n")
	conn := accept(t, l)
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("something can be read")
	}
	if got := conn.RemoteAddr().String(); got != near.LocalAddr().String() {
		t.Errorf("of %s", got)
	}
	wantClosed(t, near)
	wantCounts(t, c, [4]int64{0, 0, 1})
}

func TestLateHead(t *testing.T) {
	l, c := listen(t, "127.0.0.0/8", proxyproto.Settings{HeaderTimeout: time.Millisecond})
	near := connect(t, l, "PROXY TCP4 ")
	if err := accept(t, l).(*proxyproto.Conn).Introduce(); err == nil {
		t.Error("it was introduced")
	}
	wantClosed(t, near)
	wantCounts(t, c, [4]int64{0, 0, 0, 1})
}

func wantClosed(t *testing.T, conn net.Conn) {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(enough)); err != nil {
		t.Fatal(err)
	}
	_, err := conn.Read(make([]byte, 1))
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("not closed: %v", err)
	}
}

func TestOthersAreRefused(t *testing.T) {
	l, c := listen(t, "192.0.2.0/24", proxyproto.Settings{})
	near := connect(t, l, "PROXY TCP4 203.0.113.9 10.0.0.1 8080 80\r\n")
	done := make(chan error, 1)
	go func() {
		_, err := l.Accept()
		done <- err
	}()
	wantClosed(t, near)
	_ = l.Close()
	if err := <-done; err == nil {
		t.Error("it was accepted")
	}
	wantCounts(t, c, [4]int64{0, 1})
}

func TestOthersAreServed(t *testing.T) {
	const head = "PROXY TCP4 203.0.113.9 10.0.0.1 8080 80\r\n"
	l, c := listen(t, "192.0.2.0/24", proxyproto.Settings{ServeOthers: true})
	near := connect(t, l, head)
	conn := accept(t, l)
	if _, plain := conn.(*net.TCPConn); !plain || conn.RemoteAddr().String() != near.LocalAddr().String() {
		t.Errorf("%T of %s", conn, conn.RemoteAddr())
	}
	got := make([]byte, len(head))
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != head {
		t.Errorf("the head is read: left %q, %v", got, err)
	}
	wantCounts(t, c, [4]int64{})
}
