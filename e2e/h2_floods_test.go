package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/http2"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/race"
)

// What clients of HTTP/2 do to keep a gateway busy.

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
