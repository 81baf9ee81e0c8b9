package e2e_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/race"
)

// The rows of the HTTP checklist about HTTP/2 (H), and faults of other gateways (C), that are about
// streams, windows, floods and the life of a connection.

func (s *slowUpstream) h2yaml() string { return s.yaml(0, 5*time.Second) + withH2 }

// H02: what is beyond the limit is refused and reaches nobody.
func TestH02ConcurrentStreams(t *testing.T) {
	t.Parallel()
	s := startSlow(t)
	g := startGateway(t, s.h2yaml()+"gateway.http2.max-concurrent-streams: 2\n")
	c := g.dialH2()
	one, two := c.open(true, get2("/slow/1")...), c.open(true, get2("/slow/2")...)
	receive(t, "the first arrives", s.arrived)
	receive(t, "the second arrives", s.arrived)
	c.await(c.open(true, get2("/slow/3")...)).wantReset(t, http2.ErrCodeProtocol, http2.ErrCodeRefusedStream)
	close(s.finish)
	answers := map[uint32]*answer2{one: {}, two: {}}
	for len(answers) > 0 {
		f, err := c.ReadFrame()
		c.must(err)
		id := f.Header().StreamID
		if a := answers[id]; a != nil && c.take(a, f) {
			a.wantStatus(t, http.StatusOK)
			delete(answers, id)
		}
	}
	c.ask(get2("/slow/4")...).wantStatus(t, http.StatusOK)
	if n := s.Requests(); n != 3 {
		t.Errorf("the upstream has seen %d requests, want 3", n)
	}
}

// C126 H03: a stream that its client resets takes the upstream call with it, and counts against nobody.
func TestH03ClientResets(t *testing.T) {
	t.Parallel()
	s := startSlow(t)
	g := startGateway(t, s.h2yaml()+`
hystrix.command.slow:
  circuitBreaker.requestVolumeThreshold: 1
  metrics.healthSnapshot.intervalInMilliseconds: 10
`)
	c := g.dialH2()
	for n := range 5 {
		id := c.open(true, get2("/slow/x")...)
		receive(t, "the request arrives", s.arrived)
		c.must(c.WriteRSTStream(id, []http2.ErrCode{http2.ErrCodeCancel, http2.ErrCodeNo}[n%2]))
		receive(t, "the upstream call is cancelled", s.gone)
	}
	id := c.open(false, post2("/slow/x")...) // the same with a body under way
	c.must(c.WriteData(id, false, []byte("abc")))
	receive(t, "the request arrives", s.arrived)
	c.must(c.WriteRSTStream(id, http2.ErrCodeCancel))
	close(s.finish)
	c.ask(get2("/slow/x")...).wantStatus(t, http.StatusOK)
	if g.Log.Count("level=WARN") != 0 {
		t.Error("a client that left is no reason for a warning")
	}
}

// A client that will open no more streams still gets what it has asked for.
func TestH03ClientGoesAway(t *testing.T) {
	t.Parallel()
	s := startSlow(t)
	g := startGateway(t, s.h2yaml())
	c := g.dialH2()
	id := c.open(true, get2("/slow/x")...)
	receive(t, "the request arrives", s.arrived)
	c.must(c.WriteGoAway(0, http2.ErrCodeNo, nil))
	close(s.finish)
	c.await(id).wantStatus(t, http.StatusOK)
}

// An answer that breaks off is not taken for whole.
func TestH03AnswerCutShort(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]string{
		"with a length": "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
		"in chunks":     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := backendtest.StartRaw(t, backendtest.Step{Reply: reply, Close: true})
			g := startGateway(t, bothYAML(b.Addr)+withH2)
			c := g.dialH2()
			for _, kind := range kinds {
				a := c.ask(get2("/" + kind + "/x")...)
				if a.Status == http.StatusOK {
					a.wantReset(t, http2.ErrCodeInternal)
				} else {
					a.wantStatus(t, http.StatusBadGateway)
				}
			}
			c.ask(get2("/nowhere")...).wantStatus(t, http.StatusNotFound)
		})
	}
}

// stable waits until a counter has not moved for a while, and returns it.
func stable(t *testing.T, n *atomic.Int64) int64 {
	t.Helper()
	last, since := int64(-1), time.Now()
	eventually(t, "the counter stands still", func() bool {
		if now := n.Load(); now != last {
			last, since = now, time.Now()
		}
		return time.Since(since) > time.Second
	})
	return last
}

// H05: what a client does not take stops the upstream.
func TestH05SlowReader(t *testing.T) {
	t.Parallel()
	const streams, most = 8, 16 << 20
	var sent, gone atomic.Int64
	b := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		defer gone.Add(1)
		piece := make([]byte, 64<<10)
		for range 16 << 10 { // 1 GiB
			n, err := w.Write(piece)
			if sent.Add(int64(n)); err != nil {
				return
			}
		}
	}))
	g := startGateway(t, bothYAML(b.Addr)+roomy+withH2)
	g.Get("/nowhere").wantStatus(t, http.StatusNotFound)
	before := g.memory("VmHWM")
	c := g.dialH2()
	for n := range streams {
		c.open(true, get2("/"+kinds[n%2]+"/x")...)
	}
	if n := stable(t, &sent); n > streams*most {
		t.Errorf("the upstream could send %d MiB", n>>20)
	}
	if rise := g.memory("VmHWM") - before; rise > 48<<20 && !race.Enabled {
		t.Errorf("the gateway grew by %d MiB", rise>>20)
	}
	c.conn.Close()
	eventually(t, "the upstream is let go", func() bool { return gone.Load() == streams })
}

// H05: what an upstream does not take stops the client.
func TestH05SlowUpstream(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	var got atomic.Int64
	b := backendtest.Start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-release
		n, _ := io.Copy(io.Discard, r.Body)
		got.Store(n)
	}))
	g := startGateway(t, bothYAML(b.Addr)+withH2)
	var sent atomic.Int64
	const size = 64 << 20
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.URL("/url/x"), io.LimitReader(counted{&sent}, size))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		res, err := h2cClient(t).Do(req)
		if err == nil {
			res.Body.Close()
		}
		done <- err
	}()
	eventually(t, "it begins", func() bool { return sent.Load() > 0 })
	if n := stable(t, &sent); n > 16<<20 {
		t.Errorf("the gateway took %d MiB", n>>20)
	}
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got.Load() != size {
		t.Errorf("%d bytes arrived", got.Load())
	}
}

// counted is an endless body.
type counted struct{ n *atomic.Int64 }

func (c counted) Read(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return len(p), nil
}

// h2cClient is net/http's client with HTTP/2 by prior knowledge.
func h2cClient(tb testing.TB) *http.Client {
	tb.Helper()
	rt := &http.Transport{Protocols: new(http.Protocols), DisableCompression: true}
	rt.Protocols.SetUnencryptedHTTP2(true)
	tb.Cleanup(rt.CloseIdleConnections)
	return &http.Client{Transport: rt, Timeout: 3 * patience}
}

// Both directions of a stream go on at the same time, and nothing is held back.
func TestH2Duplex(t *testing.T) {
	t.Parallel()
	b := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		_ = control.EnableFullDuplex()
		_ = control.Flush()
		buf := make([]byte, 100)
		for {
			n, err := r.Body.Read(buf)
			_, _ = w.Write(buf[:n])
			_ = control.Flush()
			if err != nil {
				return
			}
		}
	}))
	g := startGateway(t, bothYAML(b.Addr)+withH2)
	for _, kind := range kinds {
		c := g.dialH2()
		id := c.open(false, post2("/"+kind+"/x")...)
		a := &answer2{}
		for _, word := range []string{"one", "two", "three"} {
			c.must(c.WriteData(id, false, []byte(word)))
			for !strings.HasSuffix(a.Body, word) {
				f, err := c.ReadFrame()
				c.must(err)
				if f.Header().StreamID == id && c.take(a, f) {
					t.Fatal("the answer has ended")
				}
			}
		}
		c.must(c.WriteData(id, true, nil))
		if rest := c.await(id); a.Body+rest.Body != "onetwothree" {
			t.Errorf("%q came back", a.Body+rest.Body)
		}
	}
}

// An answer that comes before the end of the request is passed on, and the rest is not wanted any more.
func TestH2EarlyAnswer(t *testing.T) {
	t.Parallel()
	b := backendtest.StartRaw(t, backendtest.Step{Reply: "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno", Close: true})
	g := startGateway(t, bothYAML(b.Addr)+withH2)
	for _, kind := range kinds {
		c := g.dialH2()
		id := c.open(false, post2("/"+kind+"/x")...)
		c.must(c.WriteData(id, false, []byte("abc")))
		a := c.await(id)
		if a.Status != http.StatusForbidden || a.Body != "no" {
			t.Errorf("%d %q", a.Status, a.Body)
		}
		c.ask(get2("/nowhere")...).wantStatus(t, http.StatusNotFound)
	}
}

// C235: a limit that the length does not tell about holds too.
func TestC235TooLongInHTTP2(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr)+withH2+"gateway.limits.max-request-body: 100KB\n")
	send := func(size int, length string) (*answer2, error) {
		c := g.dialH2()
		fields := post2("/service/x")
		if length != "" {
			fields = append(fields, "content-length: "+length)
		}
		id := c.open(false, fields...)
		out := c.sender()
		go func() {
			for left := size; left > 0; left -= 10 << 10 {
				n := min(left, 10<<10)
				if out.WriteData(id, left == n, make([]byte, n)) != nil {
					return // it need not all be taken
				}
			}
		}()
		return c.follow(id)
	}
	for name, tt := range map[string]struct {
		size   int
		length string
		status int
	}{
		"just as long":      {100 << 10, "", http.StatusOK},
		"announced":         {100<<10 + 1, "102401", http.StatusRequestEntityTooLarge},
		"not announced":     {200 << 10, "", http.StatusRequestEntityTooLarge},
		"one byte too many": {100<<10 + 1, "", http.StatusRequestEntityTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := send(tt.size, tt.length)
			if err != nil {
				t.Fatal(err)
			}
			a.wantStatus(t, tt.status)
		})
	}
	t.Run("a lie", func(t *testing.T) {
		a, err := send(200<<10, "10")
		if err == nil {
			a.wantRefused(t)
		}
	})
	if n := m.requests.Load(); n != 1 {
		t.Errorf("the upstream took %d for whole", n)
	}
}

func TestH2Waits(t *testing.T) {
	t.Parallel()
	b := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = w.Write(make([]byte, 1<<20))
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	g := startGateway(t, bothYAML(b.Addr)+withH2+"gateway.limits: {header-timeout: 2s, body-timeout: 2s, write-timeout: 2s, idle-timeout: 3s}\n")
	for _, kind := range kinds {
		for _, more := range [][]string{nil, {"content-length: 10"}} {
			t.Run(fmt.Sprint("C229 a body that never comes, ", kind, more), func(t *testing.T) {
				t.Parallel()
				c := g.dialH2()
				c.tb = t
				c.await(c.open(false, post2("/"+kind+"/x", more...)...)).wantStatus(t, http.StatusRequestTimeout)
			})
		}
	}
	t.Run("C064 a slow body", func(t *testing.T) {
		t.Parallel()
		c := g.dialH2()
		c.tb = t
		id := c.open(false, post2("/url/x")...)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for range 25 { // altogether longer than the limit
			<-tick.C
			c.must(c.WriteData(id, false, []byte("x")))
		}
		c.must(c.WriteData(id, true, nil))
		c.await(id).wantStatus(t, http.StatusOK)
	})
	t.Run("H05 a client that takes nothing", func(t *testing.T) {
		t.Parallel()
		c := g.dialH2(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
		c.tb = t
		c.await(c.open(true, get2("/url/x")...)).wantReset(t, http2.ErrCodeInternal)
	})
	t.Run("idle", func(t *testing.T) {
		t.Parallel()
		c := g.dialH2()
		c.tb = t
		c.ask(get2("/nowhere")...).wantStatus(t, http.StatusNotFound)
		c.wantLeft()
	})
	t.Run("C228 nothing behind the preface", func(t *testing.T) {
		t.Parallel()
		c := dial(t, g.Proxy)
		write(t, c, http2.ClientPreface)
		if _, err := io.Copy(io.Discard, c); err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("it stays open: %v", err)
		}
	})
}

func TestH2ConnectionsEnd(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	t.Run("after so many requests", func(t *testing.T) {
		t.Parallel()
		c := startGateway(t, bothYAML(m.Addr)+withH2+"gateway.limits.max-requests-per-connection: 3\n").dialH2()
		for range 3 {
			c.ask(get2("/url/x")...).wantStatus(t, http.StatusOK)
		}
		c.wantLeft()
	})
	t.Run("at an age", func(t *testing.T) {
		t.Parallel()
		c := startGateway(t, bothYAML(m.Addr)+withH2+"gateway.http2.max-connection-age: 2s\n").dialH2()
		c.ask(get2("/url/x")...).wantStatus(t, http.StatusOK)
		<-time.After(2 * time.Second)
		c.ask(get2("/url/x")...).wantStatus(t, http.StatusOK)
		c.wantLeft()
	})
	t.Run("C258 they count", func(t *testing.T) {
		t.Parallel()
		nativeOnly(t)
		g := startGateway(t, bothYAML(m.Addr)+withH2+"gateway.limits.max-connections: 3\n")
		var open []*h2client
		for range 3 {
			open = append(open, g.dialH2())
		}
		wantShed(t, dial(t, g.Proxy), http.StatusServiceUnavailable)
		for _, c := range open {
			c.conn.Close()
		}
		g.wantNoClients()
		for range 3 {
			g.dialH2().ask(get2("/url/x")...).wantStatus(t, http.StatusOK)
		}
	})
}

// C216: what is in flight is answered, the client is told to open nothing more.
func TestC216DrainOfHTTP2(t *testing.T) {
	t.Parallel()
	s := startSlow(t)
	g := startGateway(t, s.yaml(0, patience)+withH2)
	c, idle := g.dialH2(), g.dialH2()
	id := c.open(true, get2("/slow/x")...)
	receive(t, "the request arrives", s.arrived)
	g.Signal(syscall.SIGTERM)
	idle.wantLeft()
	var away *http2.GoAwayFrame
	for away == nil {
		f, err := c.ReadFrame()
		c.must(err)
		away, _ = f.(*http2.GoAwayFrame)
	}
	if away.ErrCode != http2.ErrCodeNo || away.LastStreamID < id {
		t.Errorf("GOAWAY %v up to stream %d", away.ErrCode, away.LastStreamID)
	}
	close(s.finish)
	c.await(id).wantStatus(t, http.StatusOK)
	if _, err := c.drained(); !errors.Is(err, io.EOF) {
		t.Errorf("the connection ends with %v", err)
	}
	if code := g.ExitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if n := s.Requests(); n != 1 {
		t.Errorf("the upstream has seen %d requests", n)
	}
}

// C217: what does not end in time is cut.
func TestC217DrainLimitOfHTTP2(t *testing.T) {
	t.Parallel()
	s := startSlow(t)
	g := startGateway(t, s.yaml(0, 300*time.Millisecond)+withH2)
	c := g.dialH2()
	id := c.open(true, get2("/slow/x")...)
	receive(t, "the request arrives", s.arrived)
	g.Signal(syscall.SIGTERM)
	if a, err := c.follow(id); err == nil && a.Reset == nil {
		t.Errorf("answered with %d", a.Status)
	}
	receive(t, "the upstream call is cancelled", s.gone)
	g.ExitCode()
}

// wantStillGood fails the test unless the gateway serves others and has not grown much.
func (g *gateway) wantStillGood(before int64) {
	g.tb.Helper()
	g.dialH2().ask(get2("/url/canary")...).wantStatus(g.tb, http.StatusOK)
	if rise := g.memory("VmHWM") - before; rise > 48<<20 && !race.Enabled {
		g.tb.Errorf("the gateway grew by %d MiB", rise>>20)
	}
}

func TestC233RapidReset(t *testing.T) {
	t.Parallel()
	const limit, pairs = 20, 10_000
	var now, most, all atomic.Int64
	b := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "canary") {
			return
		}
		all.Add(1)
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m; m = most.Load() {
			if most.CompareAndSwap(m, n) {
				break
			}
		}
		<-r.Context().Done()
	}))
	g := startGateway(t, bothYAML(b.Addr)+roomy+withH2+fmt.Sprintf("gateway.http2: {max-concurrent-streams: %d, flood.max-resets: 500}\n", limit))
	g.Get("/url/canary").wantStatus(t, http.StatusOK)
	before := g.memory("VmHWM")
	c := g.dialH2()
	go func() {
		for range pairs {
			id := c.next
			c.next += 2
			if c.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: c.encode(get2("/url/x")...), EndStream: true, EndHeaders: true}) != nil {
				return
			}
			if c.WriteRSTStream(id, http2.ErrCodeCancel) != nil {
				return
			}
		}
		_ = c.WritePing(false, [8]byte{}) // the end, should nobody have minded
	}()
	if onNative() {
		c.wantGoAway(http2.ErrCodeEnhanceYourCalm)
		if n := all.Load(); n > 500 {
			t.Errorf("%d requests went upstream", n)
		}
	} else {
		for {
			f, err := c.ReadFrame()
			if _, ponged := f.(*http2.PingFrame); err != nil || ponged {
				break
			}
		}
	}
	if n := most.Load(); n > limit+allowedGrowth {
		t.Errorf("%d calls at a time, want %d at most", n, limit)
	}
	eventually(t, "all calls are cancelled", func() bool { return now.Load() == 0 })
	g.wantStillGood(before)
}

// C233 H17: a client that keeps the gateway busy with nothing is sent away.
func TestC233Floods(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr)+withH2)
	g.Get("/url/x").wantStatus(t, http.StatusOK)
	before := g.memory("VmHWM")
	const times = 20_000
	repeat := func(send func(*h2client) error) func(*h2client) {
		return func(c *h2client) {
			for range times {
				if send(c) != nil {
					return
				}
			}
		}
	}
	for name, flood := range map[string]func(*h2client){
		"CONTINUATION without an end": func(c *h2client) {
			_ = c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: c.encode(get2("/url/x")...)})
			block := c.encode("x-a: " + strings.Repeat("y", 10<<10))
			for range 1000 {
				if c.WriteContinuation(1, false, block) != nil {
					return
				}
			}
		},
		"empty CONTINUATION": func(c *h2client) {
			_ = c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: c.encode(get2("/url/x")...)})
			repeat(func(c *h2client) error { return c.WriteContinuation(1, false, nil) })(c)
		},
		"PING":     repeat(func(c *h2client) error { return c.WritePing(false, [8]byte{}) }),
		"SETTINGS": repeat(func(c *h2client) error { return c.WriteSettings() }),
		"PRIORITY": repeat(func(c *h2client) error { return c.WritePriority(1, http2.PriorityParam{}) }),
		"empty DATA": func(c *h2client) {
			id := c.next
			_ = c.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: c.encode(post2("/url/x")...), EndHeaders: true})
			repeat(func(c *h2client) error { return c.WriteData(id, false, nil) })(c)
		},
		"DATA on a closed stream": func(c *h2client) {
			id := c.next
			_ = c.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: c.encode(get2("/url/x")...), EndHeaders: true, EndStream: true})
			repeat(func(c *h2client) error { return c.WriteData(id, false, []byte("x")) })(c)
		},
	} {
		for _, reading := range []bool{true, false} {
			t.Run(fmt.Sprintf("C233 %s, reading %v", name, reading), func(t *testing.T) {
				c := g.dialH2()
				c.tb = t
				sent := make(chan struct{})
				go func() { defer close(sent); flood(c) }()
				if !reading {
					<-sent
				}
				if !onNative() { // bounded, but not ended
					go func() { _, _ = io.Copy(io.Discard, c.conn) }()
					<-sent
					return
				}
				codes, err := c.drained()
				if os.IsTimeout(err) || len(codes) == 0 && reading {
					t.Errorf("GOAWAY %v, then %v", codes, err)
				}
				for _, code := range codes {
					if code != http2.ErrCodeEnhanceYourCalm && code != http2.ErrCodeProtocol {
						t.Errorf("GOAWAY with %v", code)
					}
				}
				c.conn.Close()
				<-sent
			})
		}
	}
	g.wantStillGood(before)
}

// A head of more than four times the limit is not read to its end: the connection is ended, by net/http.
func TestH17HugeHeads(t *testing.T) {
	t.Parallel()
	nativeOnly(t)
	g := startGateway(t, "zuul.routes: {}\n"+withH2)
	c := g.dialH2()
	block := c.encode(get2("/x", "x-a: "+strings.Repeat("y{", 7<<10), "x-b: "+strings.Repeat("y{", 7<<10), "x-c: "+strings.Repeat("y{", 7<<10))...)
	_ = c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block[:16<<10], EndStream: true})
	_ = c.WriteContinuation(1, false, block[16<<10:32<<10])
	_ = c.WriteContinuation(1, true, block[32<<10:])
	if codes, _ := c.drained(); len(codes) == 0 || codes[0] != http2.ErrCodeProtocol {
		t.Errorf("GOAWAY %v", codes)
	}
	g.wantMetric(`gozer_http2_connections_cut_total{reason="protocol_error"} 1`)
}

// H17 C230: a list of fields that is too long is answered, and costs others nothing.
func TestH17LongHeads(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr)+withH2)
	var many []string
	for n := range 120 {
		many = append(many, fmt.Sprintf("x-%d: 1", n))
	}
	for name, tt := range map[string]struct {
		fields []string
		status int
	}{
		"one long field": {get2("/url/x", "x-a: "+strings.Repeat("y", 8<<10)), http.StatusRequestHeaderFieldsTooLarge},
		"long fields":    {get2("/url/x", "x-a: "+strings.Repeat("y", 5<<10), "x-b: "+strings.Repeat("y", 5<<10)), http.StatusRequestHeaderFieldsTooLarge},
		"very long ones": {get2("/url/x", "x-a: "+strings.Repeat("y", 7<<10), "x-b: "+strings.Repeat("y", 7<<10), "x-c: "+strings.Repeat("y", 1<<10)), http.StatusRequestHeaderFieldsTooLarge},
		"many fields":    {get2("/url/x", many...), http.StatusRequestHeaderFieldsTooLarge},
		"long path":      {get2("/url/" + strings.Repeat("y", 8<<10)), http.StatusRequestURITooLong},
		"many crumbs":    {get2("/url/x", many[:90]...), http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.status != http.StatusOK {
				nativeOnly(t)
			}
			c := g.dialH2()
			c.tb = t
			c.ask(tt.fields...).wantStatus(t, tt.status)
			c.ask(get2("/url/canary")...).reflected(t).wantTarget(t, "/canary")
		})
	}
}
