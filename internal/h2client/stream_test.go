package h2client_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/gozer-gateway/gozer/internal/h2client"
	"github.com/gozer-gateway/gozer/internal/http1"
)

// A server that allows one stream at a time gets one at a time.
func TestStreamsWithinTheServersLimit(t *testing.T) {
	f := start(t, []http2.Setting{{ID: http2.SettingMaxConcurrentStreams, Val: 1}}, func(p *peer) {
		for {
			r, ok := p.request()
			if !ok {
				return
			}
			// A second stream would come before this question is answered.
			_ = p.WritePing(false, [8]byte{1})
			early := false
			_, ok = p.next(func(f http2.Frame) bool {
				early = early || f.Header().Type == http2.FrameHeaders
				ping, is := f.(*http2.PingFrame)
				return is && ping.IsAck()
			})
			if !ok {
				return
			}
			status := "200"
			if early {
				status = "500"
			}
			p.answer(r.StreamID, true, ":status", status)
		}
	})
	transport := client(t, h2client.Settings{Limits: h2client.Limits{MaxConnections: 1}})
	var sending sync.WaitGroup
	for range 8 {
		sending.Go(func() {
			status, _, err := send(transport, request(t.Context(), t, http.MethodPost, f.addr, "x"))
			if err != nil || status != http.StatusOK {
				t.Errorf("H02: %d, %v", status, err)
			}
		})
	}
	sending.Wait()
	if n := f.accepts.Load(); n != 1 {
		t.Errorf("H02: %d connections", n)
	}
}

// The wait for a stream is not a wait for the server.
func TestWaitForAStream(t *testing.T) {
	t.Parallel()
	finish := make(chan struct{})
	f := start(t, none(), func(p *peer) {
		r, ok := p.request()
		if !ok {
			return
		}
		p.answer(r.StreamID, false, ":status", "200", "content-type", "text/event-stream")
		<-finish
		_ = p.WriteData(r.StreamID, true, nil)
		if r, ok = p.request(); ok {
			p.answer(r.StreamID, true, ":status", "200")
		}
		p.drain()
	})
	settings := h2client.Settings{TransportSettings: timeouts(patience, brief, patience), Limits: h2client.Limits{MaxStreams: 1, MaxConnections: 1}}
	transport := client(t, settings)
	time.AfterFunc(brief+time.Second, func() { close(finish) })
	first, err := transport.RoundTrip(request(t.Context(), t, http.MethodGet, f.addr, "")) //nolint:bodyclose // it is, as soon as the server ends it
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, first.Body)
		_ = first.Body.Close()
	}()
	if status, _, err := send(transport, request(t.Context(), t, http.MethodGet, f.addr, "")); err != nil || status != http.StatusOK {
		t.Errorf("%d, %v", status, err)
	}
}

// What a connection cannot take goes to another one, up to the limit; then requests wait.
func TestLimitsOfTheGateway(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	f := start(t, none(), func(p *peer) {
		var open []uint32
		for range 2 {
			r, ok := p.request()
			if !ok {
				return
			}
			open = append(open, r.StreamID)
		}
		<-release
		for _, id := range open {
			p.answer(id, true, ":status", "200")
		}
		if r, ok := p.request(); ok {
			p.answer(r.StreamID, true, ":status", "200")
		}
		p.drain()
	})
	settings := h2client.Settings{TransportSettings: timeouts(patience, patience, brief), Limits: h2client.Limits{MaxStreams: 2, MaxConnections: 2}}
	transport := client(t, settings)
	var sending sync.WaitGroup
	for range 4 {
		sending.Go(func() {
			if status, _, err := send(transport, request(t.Context(), t, http.MethodGet, f.addr, "")); err != nil || status != http.StatusOK {
				t.Errorf("%d, %v", status, err)
			}
		})
	}
	eventually(t, "four requests have arrived", func() bool { return f.streams.Load() == 4 })
	_, _, err := send(transport, request(t.Context(), t, http.MethodGet, f.addr, ""))
	if !errors.Is(err, http1.ErrPoolExhausted) || !nothingSent(err) || !unasked(err) {
		t.Errorf("a fifth request: %v", err)
	}
	hurried, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, _, err := send(transport, request(hurried, t, http.MethodGet, f.addr, "")); !errors.Is(err, context.DeadlineExceeded) || !unasked(err) {
		t.Errorf("a request in a hurry: %v", err)
	}
	gone, leave := context.WithCancelCause(t.Context())
	cause := errors.New("the client went away")
	leave(cause)
	if _, _, err := send(transport, request(gone, t, http.MethodGet, f.addr, "")); !errors.Is(err, cause) {
		t.Errorf("a request that has ended: %v", err)
	}
	close(release)
	sending.Wait()
	if _, _, err := send(transport, request(t.Context(), t, http.MethodGet, f.addr, "")); err != nil {
		t.Errorf("after the others: %v", err)
	}
	if n := f.accepts.Load(); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !done(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

// The end of a request resets its stream at once, although its client has nothing to send.
func TestCancelResetsTheStream(t *testing.T) {
	ends := map[string]func(cancel context.CancelFunc, res *http.Response){
		"the context ends":   func(cancel context.CancelFunc, _ *http.Response) { cancel() },
		"the body is closed": func(_ context.CancelFunc, res *http.Response) { res.Body.Close() },
	}
	for name, end := range ends {
		for _, answered := range []bool{true, false} {
			if !answered && name != "the context ends" {
				continue
			}
			t.Run(name, func(t *testing.T) {
				code := make(chan http2.ErrCode, 1)
				arrived := make(chan struct{})
				f := start(t, none(), func(p *peer) {
					r, ok := p.request()
					if !ok {
						return
					}
					if answered {
						p.answer(r.StreamID, false, ":status", "200")
					}
					close(arrived)
					f, ok := p.next(func(f http2.Frame) bool { return f.Header().Type == http2.FrameRSTStream })
					if ok {
						code <- f.(*http2.RSTStreamFrame).ErrCode
					}
					p.drain()
				})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				r := request(ctx, t, http.MethodPost, f.addr, "")
				source, feed := io.Pipe()
				defer feed.Close()
				r.Body, r.ContentLength = source, -1
				transport := client(t, h2client.Settings{})
				if !answered {
					go func() { <-arrived; cancel() }()
					if _, _, err := send(transport, r); !errors.Is(err, context.Canceled) {
						t.Errorf("%v", err)
					}
				} else {
					res, err := transport.RoundTrip(r)
					if err != nil {
						t.Fatal(err)
					}
					defer res.Body.Close()
					end(cancel, res)
				}
				select {
				case got := <-code:
					if got != http2.ErrCodeCancel {
						t.Errorf("reset with %v", got)
					}
				case <-time.After(patience):
					t.Error("the stream was not reset")
				}
			})
		}
	}
}

// The body of a response that nobody reads stops its server after a window.
func TestSlowReaderStopsTheServer(t *testing.T) {
	const window = 100_000
	sent := make(chan int, 1)
	f := start(t, none(), func(p *peer) {
		r, ok := p.request()
		if !ok {
			return
		}
		p.answer(r.StreamID, false, ":status", "200")
		// What the client has allowed: its SETTINGS came before the request.
		chunk := make([]byte, 10_000)
		for range window / len(chunk) {
			_ = p.WriteData(r.StreamID, false, chunk)
		}
		_ = p.WritePing(false, [8]byte{1})
		grown := 0
		p.next(func(f http2.Frame) bool {
			if u, is := f.(*http2.WindowUpdateFrame); is && u.StreamID == r.StreamID {
				grown += int(u.Increment)
			}
			ping, is := f.(*http2.PingFrame)
			return is && ping.IsAck()
		})
		sent <- grown
		p.drain()
	})
	transport := client(t, h2client.Settings{Limits: h2client.Limits{StreamWindow: window}})
	res, err := transport.RoundTrip(request(t.Context(), t, http.MethodGet, f.addr, ""))
	if err != nil {
		t.Fatal(err)
	}
	if grown := <-sent; grown > 0 {
		t.Errorf("H05: the window has grown by %d though nothing was read", grown)
	}
	if n, err := io.CopyN(io.Discard, res.Body, window); err != nil {
		t.Errorf("H05: read %d, %v", n, err)
	}
	res.Body.Close()
}

// A window of the server's that does not open is the end of an upload, after a while.
func TestServerThatTakesNoMore(t *testing.T) {
	f := start(t, []http2.Setting{{ID: http2.SettingInitialWindowSize, Val: 10}}, (*peer).drain)
	transport := client(t, h2client.Settings{TransportSettings: timeouts(patience, 100*time.Millisecond, patience)})
	r := request(t.Context(), t, http.MethodPost, f.addr, "")
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(strings.Repeat("x", 100_000))), 100_000
	if _, _, err := send(transport, r); !errors.Is(err, http1.ErrReadTimeout) {
		t.Errorf("%v", err)
	}
}

func TestSilence(t *testing.T) {
	t.Parallel()
	f := start(t, none(), func(p *peer) {
		for {
			r, ok := p.request()
			if !ok {
				return
			}
			if kind := fieldOf(r, "x-kind"); kind != "" {
				p.answer(r.StreamID, false, ":status", "200", "content-type", kind)
				_ = p.WriteData(r.StreamID, false, []byte("a"))
			}
		}
	})
	short := h2client.Settings{TransportSettings: timeouts(patience, brief, patience)}
	t.Run("before the head", func(t *testing.T) {
		t.Parallel()
		if _, _, err := send(client(t, short), request(t.Context(), t, http.MethodPost, f.addr, "x")); !errors.Is(err, http1.ErrReadTimeout) || nothingSent(err) {
			t.Errorf("%v", err)
		}
	})
	t.Run("within a body", func(t *testing.T) {
		t.Parallel()
		r := request(t.Context(), t, http.MethodGet, f.addr, "")
		r.Header.Set("X-Kind", "text/plain")
		if _, body, err := send(client(t, short), r); !errors.Is(err, http1.ErrReadTimeout) || body != "a" {
			t.Errorf("%q, %v", body, err)
		}
	})
	for _, kind := range []string{"application/grpc+proto", "text/event-stream"} {
		t.Run("a pause within "+kind, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 2*brief)
			defer cancel()
			r := request(ctx, t, http.MethodGet, f.addr, "")
			r.Header.Set("X-Kind", kind)
			if _, body, err := send(client(t, short), r); !errors.Is(err, context.DeadlineExceeded) || body != "a" {
				t.Errorf("%q, %v", body, err)
			}
		})
	}
}

func fieldOf(f *http2.MetaHeadersFrame, name string) string {
	for _, field := range f.Fields {
		if field.Name == name {
			return field.Value
		}
	}
	return ""
}

// A connection whose server has died without a word is given up.
func TestDeadConnection(t *testing.T) {
	t.Parallel()
	f := start(t, none(), func(p *peer) {
		if r, ok := p.request(); ok && p.number > 1 {
			p.answer(r.StreamID, true, ":status", "200")
		}
		_, _ = io.Copy(io.Discard, p.conn) // answers no PING
	})
	transport := client(t, h2client.Settings{Limits: h2client.Limits{PingInterval: time.Second, PingTimeout: brief}})
	if _, _, err := send(transport, request(t.Context(), t, http.MethodPost, f.addr, "x")); err == nil || nothingSent(err) {
		t.Errorf("%v", err)
	}
	if status, _, err := send(transport, request(t.Context(), t, http.MethodPost, f.addr, "x")); err != nil || status != http.StatusOK {
		t.Errorf("on a new connection: %d, %v", status, err)
	}
}

func TestIdleConnectionsAreClosed(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{}, 10)
	f := start(t, none(), func(p *peer) {
		for {
			r, ok := p.request()
			if !ok {
				select {
				case closed <- struct{}{}:
				default:
				}
				return
			}
			p.answer(r.StreamID, true, ":status", "200")
		}
	})
	for name, settings := range map[string]h2client.Settings{
		"after the idle time": {TransportSettings: http1.TransportSettings{IdleTimeout: brief}},
		"by CloseIdle":        {},
		"in retirement":       {},
		"at the end of life":  {TransportSettings: http1.TransportSettings{MaxLifetime: time.Nanosecond}},
	} {
		t.Run(name, func(t *testing.T) {
			transport := client(t, settings)
			if name == "in retirement" {
				transport.Retire()
			}
			if _, _, err := send(transport, request(t.Context(), t, http.MethodGet, f.addr, "")); err != nil {
				t.Fatal(err)
			}
			switch name {
			case "by CloseIdle":
				transport.CloseIdle()
			case "at the end of life":
				if _, _, err := send(transport, request(t.Context(), t, http.MethodGet, f.addr, "")); err != nil {
					t.Fatal(err)
				}
			}
			select {
			case <-closed:
			case <-time.After(patience):
				t.Error("still open")
			}
		})
	}
}

// Malformed responses are failures, and nothing of them gets through.
func TestResponsesAgainstTheRules(t *testing.T) {
	for name, pairs := range map[string][]string{
		"H13 no status":                 {"content-type", "text/plain"},
		"H13 two statuses":              {":status", "200", ":status", "200"},
		"H13 status of two digits":      {":status", "20"},
		"H13 status of four digits":     {":status", "2000"},
		"H13 status with a sign":        {":status", "+200"},
		"H13 status of no number":       {":status", "abc"},
		"H13 status of 101":             {":status", "101"},
		"C119 pseudo-field of requests": {":status", "200", ":path", "/"},
		"C119 unknown pseudo-field":     {":status", "200", ":x", "y"},
		"C119 status behind a field":    {"a", "b", ":status", "200"},
		"H08 name in upper case":        {":status", "200", "X-A", "b"},
		"H08 line break in a value":     {":status", "200", "a", "b\r\nc: d"},
	} {
		t.Run(name, func(t *testing.T) {
			f := start(t, none(), func(p *peer) {
				if r, ok := p.request(); ok {
					p.answer(r.StreamID, true, pairs...)
				}
				p.drain()
			})
			transport := client(t, h2client.Settings{TransportSettings: timeouts(patience, time.Second, patience)})
			if status, _, err := send(transport, request(t.Context(), t, http.MethodGet, f.addr, "")); err == nil {
				t.Errorf("passed with %d", status)
			}
		})
	}
}

// Nothing that belongs to one connection is sent, and no pseudo-field comes out.
func TestFieldsOfOneHop(t *testing.T) {
	got := make(chan *http2.MetaHeadersFrame, 1)
	f := start(t, none(), func(p *peer) {
		if r, ok := p.request(); ok {
			got <- r
			p.answer(r.StreamID, true, ":status", "200", "a", "b", "grpc-status", "5")
		}
		p.drain()
	})
	for name, te := range map[string]string{"C116 TE: trailers": "trailers", "C116 another TE": "gzip", "C116 TE of both": "trailers, gzip"} {
		t.Run(name, func(t *testing.T) {
			r := request(t.Context(), t, http.MethodGet, f.addr, "")
			r.Header = http.Header{"Te": {te}, "Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Keep-Alive": {"x"}, "Transfer-Encoding": {"chunked"}, "X-A": {"b"}, "User-Agent": {""}}
			res, err := client(t, h2client.Settings{}).RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			head := <-got
			var names []string
			for _, field := range head.Fields {
				names = append(names, field.Name)
			}
			want := ":authority :method :path :scheme x-a"
			if te == "trailers" {
				want = ":authority :method :path :scheme te x-a"
			}
			if sorted(names) != want {
				t.Errorf("sent %s, want %s", sorted(names), want)
			}
			for name := range res.Header {
				if strings.HasPrefix(name, ":") {
					t.Errorf("C119: %s came out", name)
				}
			}
			if res.Header.Get("Grpc-Status") != "5" || r.Header.Get("Upgrade") == "" {
				t.Errorf("C115: %v; the request's own header: %v", res.Header, r.Header)
			}
		})
	}
}

// A server's limit on the header section is not the server's failure.
func TestHeaderBeyondTheServersLimit(t *testing.T) {
	f := start(t, []http2.Setting{{ID: http2.SettingMaxHeaderListSize, Val: 100}}, (*peer).drain)
	r := request(t.Context(), t, http.MethodGet, f.addr, "")
	r.Header.Set("X-A", strings.Repeat("b", 200))
	_, _, err := send(client(t, h2client.Settings{}), r)
	var own interface{ CallersFault() bool }
	if !errors.As(err, &own) || !own.CallersFault() {
		t.Errorf("%v", err)
	}
}

func TestHeaderBeyondOurLimit(t *testing.T) {
	f := start(t, none(), func(p *peer) {
		if r, ok := p.request(); ok {
			p.answer(r.StreamID, true, ":status", "200", "a", strings.Repeat("b", 3000))
		}
		p.drain()
	})
	transport := client(t, h2client.Settings{TransportSettings: http1.TransportSettings{MaxHeaderBytes: 1000}})
	if status, _, err := send(transport, request(t.Context(), t, http.MethodGet, f.addr, "")); err == nil {
		t.Errorf("passed with %d", status)
	}
}

func TestBodies(t *testing.T) {
	big := bytes.Repeat([]byte("0123456789"), 100_000)
	s := serveHTTP2(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Length", r.Header.Get("Content-Length"))
		content, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set(http.TrailerPrefix+"X-Sent", r.Trailer.Get("X-Checksum"))
		_, _ = w.Write(content)
	}))
	for _, tt := range []struct {
		name    string
		content []byte
		length  int64
		fails   bool
	}{
		{"none", nil, 0, false},
		{"short", []byte("short"), 5, false},
		{"short of unknown length", []byte("short"), -1, false},
		{"long", big, int64(len(big)), false},
		{"long of unknown length", big, -1, false},
		{"shorter than its length", []byte("short"), 6, true},
		{"long and shorter than its length", big, int64(len(big)) + 1, true},
		{"longer than its length", big, int64(len(big)) - 1, true},
	} {
		t.Run("H20 "+tt.name, func(t *testing.T) {
			r := request(t.Context(), t, http.MethodPost, s, "")
			if tt.content != nil {
				r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(tt.content)), tt.length
				r.Trailer = http.Header{"X-Checksum": {"42"}}
			}
			res, err := client(t, h2client.Settings{}).RoundTrip(r)
			if err != nil {
				if !tt.fails {
					t.Error(err)
				}
				return
			}
			defer res.Body.Close()
			got, err := io.ReadAll(res.Body)
			if (err != nil) != tt.fails {
				t.Fatalf("%d bytes, %v", len(got), err)
			}
			if !tt.fails && (!bytes.Equal(got, tt.content) || tt.length != 0 && res.Trailer.Get("X-Sent") != "42" && tt.length < 0) {
				t.Errorf("%d bytes came back, trailer %v", len(got), res.Trailer)
			}
		})
	}
}
