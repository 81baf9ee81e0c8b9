package http1_test

import (
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/gozer-gateway/gozer/internal/race"
)

// typical is what a browser sends.
const typical = "GET /api/users/1?full=1 HTTP/1.1\r\nHost: gateway.test:8080\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\n" +
	"Accept: text/html,application/json\r\nAccept-Language: en\r\nAccept-Encoding: gzip, br\r\nCookie: a=1; b=2\r\nCache-Control: no-cache\r\n\r\n"

func hello(w http.ResponseWriter, _ *http.Request) {
	h := w.Header()
	h["Content-Type"] = helloType
	h["Content-Length"] = helloLength
	_, _ = w.Write(helloBody)
}

var (
	helloType   = []string{"text/plain"}
	helloLength = []string{"13"}
	helloBody   = []byte("Hello, World!")
)

// askTypical sends a request and reads the answer, which ends with its body.
func askTypical(conn net.Conn, buf []byte) error {
	if _, err := io.WriteString(conn, typical); err != nil {
		return err
	}
	for n := 0; n == 0 || buf[n-1] != '!'; {
		more, err := conn.Read(buf[n:])
		if err != nil {
			return err
		}
		n += more
	}
	return nil
}

func TestServerAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	conn := dialRaw(t, answering(t, hello)).conn
	buf := make([]byte, 4096)
	request := []byte(typical)
	got := testing.AllocsPerRun(2000, func() {
		_, _ = conn.Write(request)
		for n := 0; n == 0 || buf[n-1] != '!'; {
			more, err := conn.Read(buf[n:])
			if err != nil {
				t.Fatal(err)
			}
			n += more
		}
	})
	if got > 2 {
		t.Errorf("%v allocations per request, want 2: the text of the head and the exchange", got)
	}
}

func BenchmarkServer(b *testing.B) {
	for name, start := range map[string]func(http.HandlerFunc) engine{"native": native, "net_http": standard} {
		b.Run(name, func(b *testing.B) {
			addr := serving(b, start(hello))
			b.ReportAllocs()
			b.SetParallelism(8)
			b.RunParallel(func(p *testing.PB) {
				var d net.Dialer
				conn, err := d.DialContext(b.Context(), "tcp", addr)
				if err != nil {
					b.Error(err)
					return
				}
				defer func() { _ = conn.Close() }()
				buf := make([]byte, 4096)
				for p.Next() {
					if err := askTypical(conn, buf); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}
