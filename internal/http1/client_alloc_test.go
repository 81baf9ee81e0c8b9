package http1_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/http1"
	"github.com/gozer-gateway/gozer/internal/race"
	nethttp "github.com/gozer-gateway/gozer/internal/upstream"
)

const typicalReply = "HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\nContent-Type: text/plain\r\n" +
	"Content-Length: 12\r\nConnection: keep-alive\r\nETag: \"65f1\"\r\n\r\nhello, world"

// steady answers every request in the same way, and allocates nothing for it.
func steady(tb testing.TB, reply string) string {
	tb.Helper()
	u := listen(tb)
	go func() {
		for p := u.accept(); p != nil; p = u.accept() {
			go func() {
				buf, answer := make([]byte, 64<<10), []byte(reply)
				n := 0
				for {
					k, err := p.Read(buf[n:])
					if err != nil {
						return
					}
					if n += k; bytes.HasSuffix(buf[:n], []byte("\r\n\r\n")) || bytes.HasSuffix(buf[:n], []byte("ends")) {
						_, _ = p.Write(answer)
						n = 0
					}
				}
			}()
		}
	}()
	return u.url()
}

// exchanger repeats one request as a gateway would send it.
func exchanger(tb testing.TB, transport http.RoundTripper, req *http.Request, body string) func() {
	tb.Helper()
	buf, reader := make([]byte, 32<<10), strings.NewReader(body)
	if body != "" {
		req.Body, req.ContentLength = io.NopCloser(reader), int64(len(body))
	}
	return func() {
		reader.Reset(body)
		res, err := transport.RoundTrip(req)
		if err != nil {
			tb.Fatal(err)
		}
		for err == nil {
			_, err = res.Body.Read(buf)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			tb.Fatal(res.Status)
		}
	}
}

func typicalRequest(tb testing.TB, url string) *http.Request {
	tb.Helper()
	ctx, _ := http1.InterruptibleContext(tb.Context())
	req := newRequest(ctx, tb, "GET", url+"/api/users/42?full=true", nil)
	req.Header = http.Header{
		"User-Agent": {"curl/8.5.0"}, "Accept": {"*/*"}, "X-Forwarded-For": {"192.0.2.1"},
		"X-Forwarded-Host": {"gateway.test"}, "X-Forwarded-Proto": {"http"}, "X-Forwarded-Port": {"8080"},
	}
	return req
}

func TestRoundTripAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	const most = 4 // response with its values, header (2), text of the head
	for name, body := range map[string]string{"GET": "", "POST of a short body": "it begins and ends"} {
		t.Run(name, func(t *testing.T) {
			transport := newTransport(t, http1.TransportSettings{})
			exchange := exchanger(t, transport, typicalRequest(t, steady(t, typicalReply)), body)
			if got := testing.AllocsPerRun(500, exchange); got > most {
				t.Errorf("%v allocations, want at most %d", got, most)
			}
		})
	}
}

func BenchmarkTransport(b *testing.B) {
	transports := []struct {
		name string
		make func() (transport http.RoundTripper, closeIdle func())
	}{
		{"http1", func() (http.RoundTripper, func()) {
			t := http1.NewTransport(http1.TransportSettings{})
			return t, t.CloseIdle
		}},
		{"net-http", func() (http.RoundTripper, func()) {
			t := nethttp.New(http1.TransportSettings{})
			return t, t.CloseIdle
		}},
	}
	replies := []struct{ name, reply string }{
		{"small", typicalReply},
		{"64K", "HTTP/1.1 200 OK\r\nContent-Length: 65536\r\n\r\n" + strings.Repeat("x", 64<<10)},
	}
	for _, r := range replies {
		for _, tt := range transports {
			b.Run(r.name+"/"+tt.name, func(b *testing.B) {
				url := steady(b, r.reply)
				transport, closeIdle := tt.make()
				b.Cleanup(closeIdle)
				exchange := exchanger(b, transport, typicalRequest(b, url), "")
				exchange()
				b.ReportAllocs()
				for b.Loop() {
					exchange()
				}
			})
			b.Run(r.name+"/parallel/"+tt.name, func(b *testing.B) {
				url := steady(b, r.reply)
				transport, closeIdle := tt.make()
				b.Cleanup(closeIdle)
				b.ReportAllocs()
				b.SetParallelism(8)
				b.RunParallel(func(pb *testing.PB) {
					exchange := exchanger(b, transport, typicalRequest(b, url), "")
					for pb.Next() {
						exchange()
					}
				})
			})
		}
	}
}
