package e2e_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/race"
)

// crawl sends a byte at a time, with a pause that is shorter than any limit.
func crawl(c net.Conn, s string) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for n := range s {
		if _, err := io.WriteString(c, s[n:n+1]); err != nil {
			return // the gateway has had enough
		}
		<-tick.C
	}
}

// wantShed reads until the gateway ends the connection; the one answer before that, if
// any, has one of the statuses.
func wantShed(tb testing.TB, c net.Conn, statuses ...int) {
	tb.Helper()
	got, err := io.ReadAll(c)
	if os.IsTimeout(err) {
		tb.Error("the connection stays open")
	}
	for _, s := range statuses {
		if strings.HasPrefix(string(got), fmt.Sprintf("HTTP/1.1 %d ", s)) {
			return
		}
	}
	if len(got) > 0 {
		tb.Errorf("received %.100q", got)
	}
}

// C228, with fewer clients than 2000: what each costs is measured elsewhere.
func TestC228SlowHeads(t *testing.T) {
	t.Parallel()
	b := backendtest.Start(t, identify())
	yaml := bothYAML(b.Addr) + "gateway.limits: {header-timeout: 5s, idle-timeout: 6s}\n"
	g := startGateway(t, yaml)
	honest := startLoad(t, g.URL("/service/x"), http.MethodGet, http.MethodPost)
	first := lines("GET /url/x HTTP/1.1", "Host: a")
	tooSlow := []int{http.StatusRequestTimeout, http.StatusBadRequest} // the latter with nethttp
	var all sync.WaitGroup
	for range crowd / 2 {
		for name, start := range map[string]func(net.Conn){
			"a nothing":            func(net.Conn) {},
			"b half a preface":     func(c net.Conn) { write(t, c, "PRI * HT") },
			"e a byte at a time":   func(c net.Conn) { crawl(c, lines("GET /url/x HTTP/1.1", "Host: a", "X: "+strings.Repeat("x", 1000))) },
			"f half of the second": func(c net.Conn) { write(t, c, first+first[:10]) },
		} {
			c := dial(t, g.Proxy)
			all.Go(func() {
				var slow sync.WaitGroup
				slow.Go(func() { start(c) })
				if name[0] == 'f' {
					in := bufio.NewReader(c)
					nextAnswer(t, in, http.MethodGet).wantStatus(t, http.StatusOK)
					wantShed(t, readerConn{c, in}, tooSlow...)
				} else {
					wantShed(t, c, tooSlow...)
				}
				c.Close()
				slow.Wait()
			})
		}
	}
	honest.Progress(100)
	all.Wait()
	honest.Progress(100)
	honest.Stop()
	honest.client.CloseIdleConnections()
	b.Crash()
	g.wantNoLeak(yaml)
}

// readerConn is a connection of which something has been read ahead.
type readerConn struct {
	net.Conn
	in *bufio.Reader
}

func (c readerConn) Read(p []byte) (int, error) { return c.in.Read(p) }

func TestC229BodiesThatNeverCome(t *testing.T) {
	t.Parallel()
	if !onNative() {
		t.Skip("the limit is the native engine's")
	}
	m := startMirror(t)
	yaml := bothYAML(m.Addr) + roomy + "gateway.limits.body-timeout: 5s\n"
	g := startGateway(t, yaml)
	var all sync.WaitGroup
	for n := range 2 * crowd {
		framing := []string{"Content-Length: 10", "Content-Length: 1000000", "Transfer-Encoding: chunked"}[n%3]
		c := dial(t, g.Proxy)
		write(t, c, lines("POST /"+kinds[n/3%2]+"/x HTTP/1.1", "Host: a", framing))
		all.Go(func() { wantShed(t, c, http.StatusRequestTimeout, http.StatusGatewayTimeout) })
	}
	all.Wait()
	g.wantConnections(0)
	if n := m.requests.Load(); n != 0 {
		t.Errorf("the upstream took %d of them for whole", n)
	}
	c := dial(t, g.Proxy) // slow, but it goes on
	write(t, c, lines("POST /url/x HTTP/1.1", "Host: a", "Content-Length: 40"))
	crawl(c, strings.Repeat("x", 40))
	if got := nextAnswer(t, bufio.NewReader(c), http.MethodPost).reflected(t).payload(t); got != strings.Repeat("x", 40) {
		t.Errorf("%q arrived", got)
	}
}

// C235: an upload that turns out to be too long is broken off, not ended.
func TestC235TooLongInChunks(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr)+"gateway.limits.max-request-body: 1MB\n")
	for _, kind := range kinds {
		c := dial(t, g.Proxy)
		go func() { // the gateway need not take it all
			_, _ = io.WriteString(c, lines("POST /"+kind+"/x HTTP/1.1", "Host: a", "Transfer-Encoding: chunked")+chunked(strings.Repeat("x", 2<<20)))
		}()
		nextAnswer(t, bufio.NewReader(c), http.MethodPost).wantStatus(t, http.StatusRequestEntityTooLarge)
		c.Close()
		g.target("/"+kind+"/canary").reflected(t).wantTarget(t, "/canary")
	}
	if n := m.requests.Load(); n != int64(len(kinds)) {
		t.Errorf("the upstream has seen %d whole requests, want %d", n, len(kinds))
	}
}

// C258, with as many descriptors as clients fewer.
func TestC258NoDescriptorsLeft(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := start{yaml: bothYAML(m.Addr), files: 150}.ready(t)
	known := dial(t, g.Proxy)
	in := bufio.NewReader(known)
	ask := func() {
		write(t, known, lines("GET /url/x HTTP/1.1", "Host: a"))
		nextAnswer(t, in, http.MethodGet).wantStatus(t, http.StatusOK)
	}
	ask()
	idle := make([]*net.TCPConn, 300)
	for n := range idle {
		idle[n] = dial(t, g.Proxy) // the kernel takes more than the gateway
	}
	eventually(t, "the descriptors run out", func() bool { return g.connections() > 130 })
	for range 50 {
		ask()
	}
	if !g.alive() {
		t.Fatal("it has ended")
	}
	for _, c := range idle {
		c.Close()
	}
	g.target("/service/x").reflected(t).wantTarget(t, "/x")
	ask()
	g.wantConnections(3)
}

// connectFrom opens a connection from one of the addresses of this machine.
func connectFrom(source [4]byte, addr string) (*net.TCPConn, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: source[:]}}
	c, err := d.DialContext(context.Background(), "tcp", addr)
	if err != nil {
		return nil, err
	}
	return c.(*net.TCPConn), c.SetDeadline(time.Now().Add(patience))
}

func TestC258BooksOfConnections(t *testing.T) {
	t.Parallel()
	if !onNative() {
		t.Skip("the limit is the native engine's")
	}
	const limit = 50
	b := backendtest.Start(t, switching())
	g := startGateway(t, bothYAML(b.Addr)+roomy+fmt.Sprintf("gateway.limits: {max-connections: %d, max-connections-per-client: %d}\n", limit, limit))
	var visits sync.WaitGroup
	for n := range 6 * limit {
		c, err := connectFrom([4]byte{127, 0, byte(n % 3), byte(1 + n%100)}, g.Proxy)
		if err != nil {
			t.Fatal(err)
		}
		visits.Go(func() {
			defer c.Close()
			if rand.IntN(3) == 0 {
				_ = c.SetLinger(0)
			}
			kind := rand.IntN(4)
			_, _ = io.WriteString(c, []string{
				"", "GET /url/x HT", lines("GET /nowhere HTTP/1.1", "Host: a"),
				lines("GET /url/x HTTP/1.1", "Host: a", "Connection: Upgrade", "Upgrade: websocket"),
			}[kind])
			if kind > 1 && rand.IntN(2) == 0 {
				_, _ = c.Read(make([]byte, 1))
			}
		})
	}
	visits.Wait()
	g.wantNoClients()
	for n := range limit {
		c := dial(t, g.Proxy)
		write(t, c, lines("GET /nowhere HTTP/1.1", "Host: a"))
		nextAnswer(t, bufio.NewReader(c), http.MethodGet)
		if open := g.connections(); open < n+1 {
			t.Fatalf("%d connections after %d", open, n+1)
		}
	}
	wantShed(t, dial(t, g.Proxy), http.StatusServiceUnavailable)
}

// C230: what is too long is refused before it has been collected.
func TestC230LongHeads(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr))
	get := func(fields ...string) string {
		return lines(append([]string{"GET /url/x HTTP/1.1", "Host: a"}, fields...)...)
	}
	g.wire(http.MethodGet, get()).wantStatus(t, http.StatusOK)
	before := g.memory("VmHWM")
	for name, tt := range map[string]struct {
		request string
		status  int
	}{
		"one giant field":            {get("X: " + strings.Repeat("x", 2<<20)), 431},
		"a giant name":               {get(strings.Repeat("x", 1<<20) + ": 1"), 431},
		"very many tiny ones":        {get(strings.TrimSuffix(strings.Repeat("a:\r\n", 100_000), "\r\n")), 431},
		"giant tokens of Connection": {get("Connection: " + strings.Repeat(strings.Repeat("x", 1023)+",", 500)), 431},
		"a giant target":             {lines("GET /url/"+strings.Repeat("x", 64<<10)+" HTTP/1.1", "Host: a"), 414},
		"giant trailers":             {lines("POST /url/x HTTP/1.1", "Host: a", "Transfer-Encoding: chunked") + "1\r\nZ\r\n0\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n\r\n", 431},
	} {
		t.Run(name, func(t *testing.T) {
			for range 5 {
				c := dial(t, g.Proxy)
				go func() { _, _ = io.WriteString(c, tt.request) }() // it need not all be taken
				in := bufio.NewReader(c)
				a := nextAnswer(t, in, http.MethodGet)
				if a.Status != tt.status && (onNative() || a.Status != 431 && a.Status != 400) {
					t.Errorf("status %d, want %d", a.Status, tt.status)
				}
				if rest, err := io.ReadAll(in); len(rest) > 0 && onNative() || os.IsTimeout(err) {
					t.Errorf("the connection goes on with %.100q, %v", rest, err)
				}
				c.Close()
			}
			g.target("/url/canary").reflected(t).wantTarget(t, "/canary")
		})
	}
	if rise := g.memory("VmHWM") - before; rise > 16<<20 && !race.Enabled {
		t.Errorf("the gateway grew by %d MiB", rise>>20)
	}
	t.Run("of an answer", func(t *testing.T) {
		raw := backendtest.StartRaw(t, backendtest.Step{Reply: "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 20<<20) + "\r\n\r\n"})
		g := startGateway(t, bothYAML(raw.Addr))
		for _, kind := range kinds {
			g.target("/"+kind+"/x").wantStatus(t, http.StatusBadGateway)
		}
	})
}
