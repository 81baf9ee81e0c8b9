package e2e_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/race"
)

// crowd is how many clients leave a stream, wait for a server that cannot be reached and
// so on: fewer than elsewhere seen, because several such tests share a machine.
const crowd = 100

// roomy lets a crowd through to both kinds of upstream at once.
const roomy = `
zuul.semaphore.max-semaphores: 1000
zuul.host: {max-total-connections: 1000, max-per-route-connections: 1000}
ribbon: {MaxConnectionsPerHost: 1000, MaxTotalConnections: 1000}
hystrix.command.default.circuitBreaker.enabled: false
`

// leave ends a connection politely or not.
func leave(tb testing.TB, c *net.TCPConn, reset bool) {
	tb.Helper()
	if reset {
		if err := c.SetLinger(0); err != nil {
			tb.Error(err)
		}
	}
	if err := c.Close(); err != nil {
		tb.Error(err)
	}
}

// holding is an upstream that says something on each connection after a request's head,
// then again and again if it talks, and holds the connection until it ends.
type holding struct {
	Addr string
	open atomic.Int64
}

func startHolding(tb testing.TB, head, again string) *holding {
	tb.Helper()
	h := &holding{}
	h.Addr = serveConns(tb, func(c net.Conn) {
		h.open.Add(1)
		defer h.open.Add(-1)
		if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
			return
		}
		if _, err := io.WriteString(c, head); err != nil {
			return
		}
		for tick := time.NewTicker(20 * time.Millisecond); again != ""; <-tick.C {
			if _, err := io.WriteString(c, again); err != nil {
				tick.Stop()
				return
			}
		}
		_, _ = io.Copy(io.Discard, c) // until the gateway closes
	})
	return h
}

func (h *holding) wantOpen(tb testing.TB, want int64) {
	tb.Helper()
	eventually(tb, fmt.Sprintf("%d connections reach the upstream", want), func() bool { return h.open.Load() == want })
}

func TestC103TunnelsEndWithTheirClients(t *testing.T) {
	t.Parallel()
	tunnels := 500
	if race.Enabled {
		tunnels = crowd
	}
	h := startHolding(t, lines("HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: websocket"), "")
	yaml := bothYAML(h.Addr) + roomy
	g := startGateway(t, yaml)
	all := make([]*tunnel, tunnels)
	for n := range all {
		all[n] = g.upgrade("/"+kinds[n/2%2]+"/x", "Connection: Upgrade", "Upgrade: websocket")
		if status := all[n].response.StatusCode; status != http.StatusSwitchingProtocols {
			t.Fatalf("status %d", status)
		}
	}
	h.wantOpen(t, int64(tunnels))
	for n, u := range all {
		leave(t, u.conn, n%2 == 0)
	}
	h.wantOpen(t, 0)
	g.wantNoLeak(yaml)
}

func TestC107UpgradesToNowhere(t *testing.T) {
	t.Parallel()
	yaml := bothYAML(blackhole(t)) + roomy + "service.ribbon.ConnectTimeout: 300\nzuul.host.connect-timeout-millis: 300\n"
	g := startGateway(t, yaml)
	statuses := make(chan string, crowd)
	for n := range crowd {
		c := dial(t, g.Proxy)
		write(t, c, lines("GET /"+kinds[n/2%2]+"/x HTTP/1.1", "Host: a", "Connection: Upgrade", "Upgrade: websocket"))
		go func() {
			if n%2 == 0 { // an impatient one
				_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
			}
			got := make([]byte, len("HTTP/1.1 504"))
			_, _ = io.ReadFull(c, got)
			c.Close()
			statuses <- string(got)
		}()
	}
	began := time.Now()
	for range crowd {
		if s := receive(t, "an end", statuses); s[0] != 0 && s != "HTTP/1.1 502" && s != "HTTP/1.1 503" && s != "HTTP/1.1 504" {
			t.Errorf("status line %q", s)
		}
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s with a connect timeout of 300ms", took)
	}
	g.wantNoLeak(yaml)
}

func TestC113CrowdLeavesStreams(t *testing.T) {
	t.Parallel()
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n6\r\ndata:\n\r\n"
	for name, again := range map[string]string{"talking": "6\r\ndata:\n\r\n", "silent": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := startHolding(t, head, again)
			yaml := bothYAML(h.Addr) + roomy
			g := startGateway(t, yaml)
			all := make([]*net.TCPConn, crowd)
			for n := range all {
				all[n] = dial(t, g.Proxy)
				write(t, all[n], lines("GET /"+kinds[n/2%2]+"/x HTTP/1.1", "Host: a"))
			}
			for _, c := range all {
				if _, err := io.ReadFull(c, make([]byte, 12)); err != nil {
					t.Error(err)
				}
			}
			h.wantOpen(t, crowd)
			for n, c := range all {
				leave(t, c, n%2 == 0)
			}
			h.wantOpen(t, 0)
			g.wantNoLeak(yaml)
		})
	}
}

// C122: whichever of the two timeouts ends a call, its connection is free again.
func TestC122ConnectionsOfLateAnswers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		budget, read int
		late         time.Duration // how long after the failure the answer comes; 0: at once, before any
		status       int
	}{
		"budget, answer, read timeout": {100, 60_000, 100 * time.Millisecond, http.StatusGatewayTimeout},
		"budget, read timeout, answer": {100, 200, 300 * time.Millisecond, http.StatusGatewayTimeout},
		"read timeout, answer, budget": {60_000, 100, 100 * time.Millisecond, http.StatusGatewayTimeout},
		"answer, budget, read timeout": {50_000, 60_000, 0, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			quick := backendtest.Answer(http.StatusOK, "quick")
			var answer atomic.Pointer[context.Context] // ends when the last call may be answered
			b := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if tt.late > 0 {
					select {
					case <-(*answer.Load()).Done():
					case <-r.Context().Done():
					}
				}
				quick.ServeHTTP(w, r)
			}))
			g := startGateway(t, oneYAML(b.Addr, "", fmt.Sprintf(", ReadTimeout: %d, MaxConnectionsPerHost: 2, MaxAutoRetriesNextServer: 0", tt.read))+
				fmt.Sprintf("hystrix.command.one: {execution.isolation.thread.timeoutInMilliseconds: %d, circuitBreaker.enabled: false}\n"+
					"niws.loadbalancer.one.connectionFailureCountThreshold: 1000000\n", tt.budget))
			for range 12 {
				late, now := context.WithCancel(t.Context())
				answer.Store(&late)
				g.Get("/one/x").wantStatus(t, tt.status)
				time.AfterFunc(tt.late, now)
			}
			b.Use(quick)
			for range 5 { // the budget may be too small for a busy machine
				eventually(t, "a connection is free", func() bool { return g.Get("/one/x").Status == http.StatusOK })
			}
			g.wantConnections(2)
		})
	}
}

func TestC125ClosedByTheUpstreamWhileIdle(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := startSlow(t)
			g := startGateway(t, bothYAML(s.Addr)+roomy)
			burst := make(chan map[int]int)
			go func() { burst <- g.together(crowd, "/"+kind+"/x") }()
			for range crowd { // at once, so each has a connection of its own
				receive(t, "a request arrives", s.arrived)
			}
			close(s.finish)
			if got := receive(t, "the answers", burst); got[http.StatusOK] != crowd {
				t.Fatalf("statuses %v", got)
			}
			s.Crash()
			eventually(t, "nothing is half-closed", func() bool { return g.sockets()[closeWait] == 0 })
			g.wantConnections(0)
			s.Revive()
			go func() {
				for range crowd {
					<-s.arrived
				}
			}()
			if got := g.together(crowd, "/"+kind+"/x"); got[http.StatusOK] != crowd {
				t.Errorf("statuses %v", got)
			}
		})
	}
}

func TestC126CrowdAbandonsItsRequests(t *testing.T) {
	t.Parallel()
	var arrived, gone atomic.Int64
	hold := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		arrived.Add(1)
		<-r.Context().Done()
		gone.Add(1)
	})
	a, b := backendtest.Start(t, hold), backendtest.Start(t, hold)
	yaml := pairYAML(true, patience, a.Addr, b.Addr) + `
zuul.semaphore.max-semaphores: 1000
ribbon: {MaxConnectionsPerHost: 1000, MaxTotalConnections: 1000}
hystrix.command.pair: {circuitBreaker.requestVolumeThreshold: 1, metrics.healthSnapshot.intervalInMilliseconds: 10}
`
	g := startGateway(t, yaml)
	all := make([]*net.TCPConn, crowd)
	for n := range all {
		all[n] = dial(t, g.Proxy)
		write(t, all[n], lines("GET /pair/x HTTP/1.1", "Host: a"))
	}
	eventually(t, "all requests arrive", func() bool { return arrived.Load() == crowd })
	for n, c := range all {
		leave(t, c, n%2 == 0)
	}
	eventually(t, "all calls are cancelled", func() bool { return gone.Load() == crowd })
	a.Use(identify())
	b.Use(identify())
	for range 4 { // the circuit is closed, and both servers are in use
		g.Get("/pair/x").wantStatus(t, http.StatusOK)
	}
	if n := arrived.Load(); n != crowd || a.Requests() != b.Requests() {
		t.Errorf("%d requests held, %d and %d in all: something was repeated, or a server avoided", n, a.Requests(), b.Requests())
	}
	if g.Log.Count("level=WARN") != 0 {
		t.Error("clients that left are no reason for a warning")
	}
	a.Crash()
	b.Crash()
	g.wantNoLeak(yaml)
}

// closingIdle is an upstream that closes a connection when it has been idle for so long,
// answers with a request's id, and counts how often each was delivered.
type closingIdle struct {
	Addr      string
	mu        sync.Mutex
	delivered map[string]int // guarded by mu
}

func startClosingIdle(tb testing.TB, idle time.Duration) *closingIdle {
	tb.Helper()
	u := &closingIdle{delivered: map[string]int{}}
	u.Addr = serveConns(tb, func(c net.Conn) {
		for in := bufio.NewReader(c); ; {
			req, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			if _, err := io.Copy(io.Discard, req.Body); err != nil {
				return
			}
			id := req.Header.Get("X-Id")
			u.mu.Lock()
			u.delivered[id]++
			u.mu.Unlock()
			_, _ = io.WriteString(c, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(id), id))
			_ = c.SetReadDeadline(time.Now().Add(idle))
		}
	})
	return u
}

// C140 with its 500 ms cut to 15, which race as well, and those of an own limit to 300.
func TestC140PostsOnConnectionsThatIdleOut(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		idle  time.Duration
		limit string
		posts int
	}{
		"the server's limit is met":    {15 * time.Millisecond, "", 150},
		"the gateway's limit is lower": {300 * time.Millisecond, ", ConnIdleEvictTimeMilliSeconds: 100", 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := startClosingIdle(t, tt.idle)
			g := startGateway(t, oneYAML(u.Addr, "", tt.limit)+"hystrix.command.one.circuitBreaker.enabled: false\n"+
				"niws.loadbalancer.one.connectionFailureCountThreshold: 1000000\n")
			failed := 0
			for n := range tt.posts {
				id := fmt.Sprint("post-", n)
				a := g.Do(http.MethodPost, "/one/x", "body", "X-Id: "+id)
				switch {
				case a.Status == http.StatusBadGateway:
					failed++
				case a.Status != http.StatusOK || a.Body != id:
					t.Errorf("%s was answered with %d %q", id, a.Status, a.Body)
				}
				<-time.After(tt.idle + time.Duration(rand.IntN(1000)-500)*time.Microsecond)
			}
			if most := tt.posts / 2; failed > most || failed > 0 && tt.limit != "" {
				t.Errorf("%d of %d failed", failed, tt.posts)
			}
			u.mu.Lock()
			defer u.mu.Unlock()
			for id, times := range u.delivered {
				if times > 1 {
					t.Errorf("%s was delivered %d times", id, times)
				}
			}
		})
	}
}

func TestC141FullPoolWaitsForAWhile(t *testing.T) {
	t.Parallel()
	s, other := startSlow(t), backendtest.Start(t, identify())
	g := startGateway(t, fmt.Sprintf(`
zuul.routes: {slow: /slow/**, other: /other/**}
slow.ribbon: {listOfServers: %q, MaxConnectionsPerHost: 2, ConnectionManagerTimeout: 300, ReadTimeout: 60000}
other.ribbon.listOfServers: %q
`, s.Addr, other.Addr))
	held := make(chan map[int]int, 1)
	go func() { held <- g.together(2, "/slow/x") }()
	for range 2 {
		receive(t, "the pool is full", s.arrived)
	}
	excess := make(chan map[int]int, 1)
	go func() { excess <- g.together(18, "/slow/x") }()
	for range 5 {
		g.Get("/other/x").wantStatus(t, http.StatusOK)
	}
	if got := receive(t, "the others give up", excess); got[http.StatusServiceUnavailable]+got[http.StatusGatewayTimeout] != 18 {
		t.Errorf("statuses %v", got)
	}
	if seen := g.servers("slow"); len(seen) != 1 || seen[0].State != "UP" || seen[0].SuccessiveFailures != 0 {
		t.Errorf("servers are %v, want one that is blamed for nothing", seen)
	}
	close(s.finish)
	if got := receive(t, "those that held it", held); !maps.Equal(got, map[int]int{http.StatusOK: 2}) {
		t.Errorf("statuses %v", got)
	}
}

// C134: responses that were given up for a retry leave nothing behind.
func TestC134RetriesLeaveNoConnection(t *testing.T) {
	t.Parallel()
	bad := backendtest.Start(t, backendtest.Answer(http.StatusServiceUnavailable, strings.Repeat("x", 100<<10)))
	good := backendtest.Start(t, identify())
	yaml := oneYAML(bad.Addr+","+good.Addr, retryable, ", retryableStatusCodes: 503") + "gateway.retry.one.budget.enabled: false\n"
	g := startGateway(t, yaml)
	l := startLoad(t, g.URL("/one/x"), http.MethodGet)
	l.Reaches(bad, 250)
	l.Stop()
	bad.Crash()
	good.Crash()
	l.client.CloseIdleConnections()
	g.wantNoLeak(yaml)
}
