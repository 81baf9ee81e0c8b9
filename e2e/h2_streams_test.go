package e2e_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/race"
)

// The rows of the HTTP checklist about HTTP/2 (H), and faults of other gateways (C), that are about
// streams and windows.

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
