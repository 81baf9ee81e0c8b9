package lb_test

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/lb"
)

func pinged(tb testing.TB, s lb.BalancerSettings, ids ...string) *lb.Balancer {
	tb.Helper()
	b := lb.NewBalancer("users", s)
	list(tb, b, ids...)
	run(tb, b)
	return b
}

func TestPings(t *testing.T) {
	for name, tc := range map[string]struct {
		ping  lb.Ping
		alive bool // after a server was marked down and the next round
	}{
		"no-op":                   {lb.NoOpPing{}, true},
		"dummy":                   {lb.DummyPing{}, false}, // asks nobody
		"constant":                {lb.PingConstant(true), true},
		"constantly dead":         {lb.PingConstant(false), false},
		"discovery, up":           {lb.DiscoveryPing{Up: func(string) (bool, bool) { return true, true }}, true},
		"discovery, down":         {lb.DiscoveryPing{Up: func(string) (bool, bool) { return false, true }}, false},
		"discovery, not known":    {lb.DiscoveryPing{Up: func(string) (bool, bool) { return false, false }}, true},
		"none at all, Q4 no fuss": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := pinged(t, lb.BalancerSettings{Ping: tc.ping, PingInterval: time.Second}, "a")
				synctest.Wait()
				b.SetAlive("a", false)
				pass(time.Second + 1)
				if got := find(t, b, "a").Alive(); got != tc.alive {
					t.Errorf("alive %t, want %t", got, tc.alive)
				}
				b.Configure(lb.BalancerSettings{}) // and the pings end
			})
		})
	}
}

// notes are written by one goroutine and read by another.
type notes struct {
	mu    sync.Mutex
	lines []string
}

func (n *notes) add(line string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, line)
}

func (n *notes) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.lines)
}

// slowPing answers true after a second, except for hanging servers.
func slowPing(hanging string, asked *notes) lb.Ping {
	return lb.PingFunc(func(ctx context.Context, s *lb.Server) bool {
		asked.add(s.ID)
		wait := time.Second
		if s.ID == hanging {
			wait = time.Hour
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(wait):
			return true
		}
	})
}

func TestPingRoundsAreBounded(t *testing.T) {
	t.Run("Q5 the time is up at the second server", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var asked notes
			b := pinged(t, lb.BalancerSettings{Ping: slowPing("b", &asked), PingInterval: 10 * time.Second, PingTimeout: 5 * time.Second}, "a", "b", "c", "d")
			pass(6 * time.Second)
			if diff := cmp.Diff([]string{"a", "b"}, asked.all()); diff != "" {
				t.Error(diff)
			}
			if got := idsOf(b.Reachable()); got != "a c d" {
				t.Errorf("alive: %s; those that were not reached stay as they were", got)
			}
			pass(14*time.Second + 1)
			if diff := cmp.Diff([]string{"a", "b", "c", "d", "a", "b"}, asked.all()); diff != "" {
				t.Error("the next round goes on:", diff)
			}
		})
	})
	t.Run("a ping without enough time says nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var asked notes
			b := pinged(t, lb.BalancerSettings{Ping: slowPing("", &asked), PingInterval: 10 * time.Second, PingTimeout: 2500 * time.Millisecond}, "a", "b", "c", "d")
			pass(3 * time.Second)
			if got := idsOf(b.Reachable()); got != "a b c d" {
				t.Errorf("alive: %s; c had half a second, and needs one", got)
			}
			pass(11 * time.Second)
			if diff := cmp.Diff([]string{"a", "b", "c", "c", "d"}, asked.all()[:5]); diff != "" {
				t.Error("c is the first of the next round:", diff)
			}
		})
	})
	t.Run("in parallel a ping without enough time says nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var asked notes
			b := pinged(t, lb.BalancerSettings{
				Ping: slowPing("", &asked), PingStrategy: lb.ParallelPing{Most: 2}, PingInterval: 10 * time.Second, PingTimeout: 2500 * time.Millisecond,
			}, ids(6)...)
			pass(3 * time.Second)
			if n := len(b.Reachable()); n != 6 {
				t.Errorf("%d are alive", n)
			}
		})
	})
	t.Run("in parallel everybody's turn comes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var asked notes
			pinged(t, lb.BalancerSettings{
				Ping: slowPing("0", &asked), PingStrategy: lb.ParallelPing{Most: 1}, PingInterval: time.Second, PingTimeout: 20 * time.Second,
			}, ids(4)...)
			pass(time.Hour)
			met := map[string]bool{}
			for _, id := range asked.all() {
				met[id] = true
			}
			if len(met) != 4 {
				t.Errorf("in an hour only %v were pinged", met)
			}
		})
	})
	t.Run("in parallel", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var busy, most atomic.Int64
			ping := lb.PingFunc(func(context.Context, *lb.Server) bool {
				most.Store(max(most.Load(), busy.Add(1)))
				<-time.After(time.Second)
				busy.Add(-1)
				return false
			})
			b := pinged(t, lb.BalancerSettings{Ping: ping, PingStrategy: lb.ParallelPing{Most: 3}, PingTimeout: 5 * time.Second}, ids(7)...)
			pass(3*time.Second + 1)
			if got := idsOf(b.Reachable()); got != "" || most.Load() != 3 {
				t.Errorf("after three seconds %q are alive, %d pings at once", got, most.Load())
			}
		})
	})
	t.Run("servers that come are pinged at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var asked notes
			b := pinged(t, lb.BalancerSettings{Ping: slowPing("", &asked), PingTimeout: time.Minute, PingInterval: time.Hour}, "a")
			pass(time.Minute)
			list(t, b, "a", "b")
			pass(10 * time.Second)
			if diff := cmp.Diff([]string{"a", "a", "b"}, asked.all()); diff != "" {
				t.Error(diff)
			}
			list(t, b, "b")
			pass(10 * time.Second)
			if n := len(asked.all()); n != 3 {
				t.Errorf("%d pings, though nobody has come", n)
			}
		})
	})
	t.Run("a ping that was called off does not count", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var asked notes
			b := pinged(t, lb.BalancerSettings{Ping: slowPing("a", &asked), PingTimeout: time.Minute}, "a")
			synctest.Wait()
			b.Configure(lb.BalancerSettings{})
			synctest.Wait()
			if !find(t, b, "a").Alive() {
				t.Error("the server is dead")
			}
		})
	})
}

// closeIdle lets go of what the transport of net/http keeps.
func closeIdle() { new(http.Client).CloseIdleConnections() }

func TestPingURL(t *testing.T) {
	answer := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/bad" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		_, _ = w.Write([]byte("I am " + r.URL.RequestURI()))
	}))
	hang := backendtest.Start(t, backendtest.Hang())
	for name, tc := range map[string]struct {
		address, path, expected string
		want                    bool
	}{
		"200":                                   {answer.Addr, "", "", true},
		"the body":                              {answer.Addr, "/health?x=1", "I am /health?x=1", true},
		"without a slash":                       {answer.Addr, "health", "I am /health", true},
		"another body":                          {answer.Addr, "/health", "I am well", false},
		"500":                                   {answer.Addr, "/bad", "", false},
		"Q30 the body does not excuse a status": {answer.Addr, "/bad", "I am /bad", false},
		"Q30 no answer in time":                 {hang.Addr, "", "", false},
		"nobody there":                          {"127.0.0.1:1", "", "", false},
		"a path that is none":                   {answer.Addr, "/%zz", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			transport := &http.Transport{DisableKeepAlives: true}
			patience := time.Minute
			if tc.address == hang.Addr {
				patience = 300 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			s, err := lb.ParseServer(tc.address)
			if err != nil {
				t.Fatal(err)
			}
			s.ID = "Q27 not an address"
			if tc.want && !(&lb.PingURL{Path: tc.path, Expected: tc.expected}).Alive(ctx, &s) {
				t.Error("dead by the transport of net/http")
			}
			closeIdle()
			ping := &lb.PingURL{Transport: transport, Path: tc.path, Expected: tc.expected}
			if got := ping.Alive(ctx, &s); got != tc.want {
				t.Errorf("alive %t, want %t", got, tc.want)
			}
		})
	}
}
