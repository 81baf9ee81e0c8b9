package gozer_test

import (
	"bytes"
	"context"
	"net"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/internal/race"
)

// mostProxyAllocs is what one request may allocate on its whole way from socket to
// socket.
const mostProxyAllocs = 6

const (
	proxied = "GET /users/7?verbose HTTP/1.1\r\nHost: gateway.test\r\nAccept: application/json\r\nUser-Agent: bench\r\nCookie: secret\r\n\r\n"
	reply   = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 8\r\nSet-Cookie: a=b\r\n\r\n{\"id\":7}"
)

// loopback is a listener on a port of its own.
func loopback(tb testing.TB) net.Listener {
	tb.Helper()
	var c net.ListenConfig
	l, err := c.Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { l.Close() })
	return l
}

// replying is the address of an upstream that allocates nothing per request.
func replying(tb testing.TB) string {
	tb.Helper()
	l := loopback(tb)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go repeat(conn)
		}
	}()
	return l.Addr().String()
}

// repeat answers everything that ends like a request head.
func repeat(conn net.Conn) {
	defer conn.Close()
	buf, out := make([]byte, 4096), []byte(reply)
	for n := 0; ; {
		more, err := conn.Read(buf[n:])
		if err != nil {
			return
		}
		if n += more; bytes.HasSuffix(buf[:n], []byte("\r\n\r\n")) {
			_, _ = conn.Write(out)
			n = 0
		}
	}
}

// proxying is the address of a gateway before an upstream, both on sockets.
func proxying(tb testing.TB, engine string) string {
	tb.Helper()
	return proxyingTo(tb, engine, replying(tb))
}

func proxyingTo(tb testing.TB, engine, upstream string, more ...string) string {
	tb.Helper()
	l := loopback(tb)
	front := gozer.WithListen(func(context.Context, string) (net.Listener, error) { return l, nil })
	yaml := usersAt(patient+"server.http1.engine: "+engine+"\nmanagement.server.port: -1\n"+strings.Join(more, ""), upstream)
	r := run(tb, newGateway(tb, yaml, front))
	tb.Cleanup(func() {
		r.stop()
		if err := <-r.done; err != nil {
			tb.Error(err)
		}
	})
	return l.Addr().String()
}

// exchange sends the request and reads its response, which ends with its body.
func exchange(tb testing.TB, conn net.Conn, request, buf []byte) {
	tb.Helper()
	if _, err := conn.Write(request); err != nil {
		tb.Error(err)
	}
	for n := 0; n == 0 || buf[n-1] != '}'; {
		more, err := conn.Read(buf[n:])
		if err != nil {
			tb.Error(err)
			return
		}
		n += more
	}
}

func connect(tb testing.TB, addr string) net.Conn {
	tb.Helper()
	var d net.Dialer
	conn, err := d.DialContext(tb.Context(), "tcp", addr)
	if err != nil {
		tb.Error(err)
		return nil
	}
	return conn
}

// BenchmarkProxy is the whole loop: from a client's socket to the upstream's and
// back.
func BenchmarkProxy(b *testing.B) {
	for _, engine := range []string{"native", "nethttp"} {
		b.Run(engine, func(b *testing.B) {
			addr := proxying(b, engine)
			b.ReportAllocs()
			b.SetParallelism(8)
			b.RunParallel(func(pb *testing.PB) {
				conn := connect(b, addr)
				if conn == nil {
					return
				}
				defer conn.Close()
				request, buf := []byte(proxied), make([]byte, 4096)
				for pb.Next() {
					exchange(b, conn, request, buf)
				}
			})
		})
	}
}

// BenchmarkProxyMetrics is what counting costs of it: compare the two.
func BenchmarkProxyMetrics(b *testing.B) {
	for _, row := range []struct{ name, yaml string }{{"off", "management.metrics.enable.http: false\n"}, {"on", ""}} {
		b.Run(row.name, func(b *testing.B) {
			conn := connect(b, proxyingTo(b, "native", replying(b), row.yaml))
			if conn == nil {
				return
			}
			defer conn.Close()
			request, buf := []byte(proxied), make([]byte, 4096)
			b.ReportAllocs()
			for b.Loop() {
				exchange(b, conn, request, buf)
			}
		})
	}
}

func TestProxyAllocates(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	conn := connect(t, proxying(t, "native"))
	if conn == nil {
		return
	}
	defer conn.Close()
	request, buf := []byte(proxied), make([]byte, 4096)
	got := testing.AllocsPerRun(500, func() { exchange(t, conn, request, buf) })
	if !bytes.HasPrefix(buf, []byte("HTTP/1.1 200 OK\r\n")) {
		t.Fatalf("answered %q", buf[:64])
	}
	if got > mostProxyAllocs {
		t.Errorf("%v allocations, want at most %d", got, mostProxyAllocs)
	}
}
