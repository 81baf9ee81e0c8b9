package lb_test

import (
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/internal/race"
	"github.com/gozer-gateway/gozer/lb"
)

// newBalancer lists servers with ids, such as "a" or "a:81".
func newBalancer(tb testing.TB, ids ...string) *lb.Balancer {
	tb.Helper()
	b := lb.NewBalancer("users", lb.BalancerSettings{})
	list(tb, b, ids...)
	return b
}

func list(tb testing.TB, b *lb.Balancer, ids ...string) {
	tb.Helper()
	servers, err := lb.ParseServers(ids...)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range servers {
		servers[i].ID = ids[i]
	}
	b.SetServers(servers)
}

func choose(b *lb.Balancer, n int, tried ...*lb.Server) []string {
	ids := make([]string, n)
	for i := range ids {
		if s := b.Choose(nil, tried); s != nil {
			ids[i] = s.ID
		}
	}
	return ids
}

func find(tb testing.TB, b *lb.Balancer, id string) *lb.Server {
	tb.Helper()
	i := slices.IndexFunc(b.Servers(), func(s *lb.Server) bool { return s.ID == id })
	if i < 0 {
		tb.Fatalf("no server %q", id)
	}
	return b.Servers()[i]
}

// end completes n attempts on a server.
func end(tb testing.TB, b *lb.Balancer, id string, o lb.Outcome, n int) {
	tb.Helper()
	s := find(tb, b, id)
	for range n {
		now := time.Now()
		b.Begin(s, now)
		b.End(s, now, 0, o)
	}
}

func want(tb testing.TB, got []string, ids ...string) {
	tb.Helper()
	if diff := cmp.Diff(ids, got); diff != "" {
		tb.Error("chosen:", diff)
	}
}

func TestRoundRobin(t *testing.T) {
	t.Run("ribbon 31 Q13 four servers", func(t *testing.T) {
		want(t, choose(newBalancer(t, "0", "1", "2", "3"), 9), "0", "1", "2", "3", "0", "1", "2", "3", "0")
	})
	t.Run("ribbon 11 nine chooses meet all of four", func(t *testing.T) {
		got := choose(newBalancer(t, "a", "b", "c", "d"), 9)
		slices.Sort(got)
		want(t, slices.Compact(got), "a", "b", "c", "d")
	})
	t.Run("ribbon 12 a server that is down is not chosen", func(t *testing.T) {
		b := newBalancer(t, "a", "b", "c", "d")
		b.SetAlive("c", false)
		if got := choose(b, 12); slices.Contains(got, "c") || slices.Contains(got, "") {
			t.Error("chosen:", got)
		}
	})
	t.Run("ribbon 32 Q14 even over the live ones", func(t *testing.T) {
		b := newBalancer(t, "0", "1", "2", "3")
		b.SetAlive("2", false)
		want(t, choose(b, 6), "0", "1", "3", "0", "1", "3")
	})
	t.Run("ribbon 33 one of twelve alive", func(t *testing.T) {
		b := newBalancer(t, "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11")
		for _, s := range b.Servers()[1:] {
			b.SetAlive(s.ID, false)
		}
		want(t, choose(b, 4), "0", "0", "0", "0")
	})
	t.Run("a server listed twice gets two shares", func(t *testing.T) {
		want(t, choose(newBalancer(t, "a", "a", "b"), 6), "a", "a", "b", "a", "a", "b")
	})
	t.Run("a shorter list", func(t *testing.T) {
		b := newBalancer(t, "a", "b", "c")
		choose(b, 2)
		list(t, b, "a")
		want(t, choose(b, 2), "a", "a")
	})
}

func TestNoServer(t *testing.T) {
	b := newBalancer(t)
	t.Run("C145 empty list", func(t *testing.T) { want(t, choose(b, 1), "") })
	t.Run("C145 all down", func(t *testing.T) {
		list(t, b, "a", "b")
		b.SetAlive("a", false)
		b.SetAlive("b", false)
		want(t, choose(b, 1), "")
		want(t, choose(b, 1, find(t, b, "a")), "")
	})
	t.Run("C145 filled again", func(t *testing.T) {
		list(t, b, "c")
		want(t, choose(b, 1), "c")
	})
}

func TestSetAlive(t *testing.T) {
	b := lb.NewBalancer("users", lb.BalancerSettings{})
	b.SetServers([]lb.Server{{ID: "one", Host: "::1", Port: 81}, {ID: "two", Host: "h", Port: 82}})
	for _, tc := range []struct {
		name, id      string
		alive, change bool
	}{
		{"by id", "one", false, true},
		{"down already", "one", false, false},
		{"ribbon Q27 by host and port", "[::1]:81", true, true},
		{"unknown", "three", false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := b.SetAlive(tc.id, tc.alive); got != tc.change {
				t.Errorf("changed %t, want %t", got, tc.change)
			}
			if got := find(t, b, "one").Alive(); got != tc.alive && tc.id != "three" {
				t.Errorf("alive %t, want %t", got, tc.alive)
			}
		})
	}
}

func TestTrippedServersAreAvoided(t *testing.T) {
	t.Run("until the blackout is over", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBalancer(t, "a", "b", "c")
			end(t, b, "b", lb.Unhealthy, 3)
			want(t, choose(b, 4), "a", "c", "a", "c")
			pass(10*time.Second - 1)
			want(t, choose(b, 2), "a", "c")
			pass(1)
			want(t, choose(b, 3), "a", "b", "c")
		})
	})
	t.Run("until one answers", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBalancer(t, "a", "b")
			end(t, b, "b", lb.Unhealthy, 3)
			want(t, choose(b, 2), "a", "a")
			end(t, b, "b", lb.Healthy, 1)
			want(t, choose(b, 2), "a", "b")
		})
	})
	t.Run("ribbon 45 unless all are tripped", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBalancer(t, "0", "1", "2")
			for _, id := range []string{"0", "1", "2"} {
				end(t, b, id, lb.Unhealthy, 3)
			}
			want(t, choose(b, 4), "0", "1", "2", "0")
		})
	})
	t.Run("a longer blackout outlasts the first", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBalancer(t, "a", "b")
			end(t, b, "b", lb.Unhealthy, 3)
			choose(b, 1)
			end(t, b, "b", lb.Unhealthy, 1)
			pass(10 * time.Second)
			want(t, choose(b, 2), "a", "a")
			pass(10 * time.Second)
			want(t, choose(b, 2), "b", "a")
		})
	})
	t.Run("under another policy", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBalancer(t, "a", "b")
			end(t, b, "b", lb.Unhealthy, 3)
			b.Configure(lb.BalancerSettings{Trip: lb.TripPolicy{Failures: 4}})
			want(t, choose(b, 2), "a", "b")
			end(t, b, "b", lb.Unhealthy, 1)
			want(t, choose(b, 2), "a", "a")
		})
	})
}

func TestChooseAfterFailures(t *testing.T) {
	b := newBalancer(t, "a", "b", "c", "d")
	b.SetAlive("d", false)
	end(t, b, "c", lb.Unhealthy, 3)
	of := func(ids ...string) (servers []*lb.Server) {
		for _, id := range ids {
			servers = append(servers, find(t, b, id))
		}
		return servers
	}
	for _, tc := range []struct {
		name  string
		tried []string
		among []string
	}{
		{"nothing tried", nil, []string{"a", "b"}},
		{"another one", []string{"a"}, []string{"b"}},
		{"a tripped one before one that this request has met", []string{"a", "b"}, []string{"c"}},
		{"when all were met, any but the last", []string{"a", "c", "b"}, []string{"a"}},
		{"not the last", []string{"a", "b", "c"}, []string{"a", "b"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, id := range choose(b, 6, of(tc.tried...)...) {
				if !slices.Contains(tc.among, id) {
					t.Errorf("chosen %q, want one of %q", id, tc.among)
				}
			}
		})
	}
	t.Run("the last if it is the only one", func(t *testing.T) {
		list(t, b, "a", "d")
		b.SetAlive("d", false)
		want(t, choose(b, 2, of("a")...), "a", "a")
	})
	t.Run("another listing of the last does not count as another server", func(t *testing.T) {
		list(t, b, "a", "a", "b")
		want(t, choose(b, 2, of("a")...), "b", "b")
	})
}

func TestStateSurvivesTheList(t *testing.T) {
	b := newBalancer(t, "a", "b")
	b.Configure(lb.BalancerSettings{Ping: lb.NoOpPing{}})
	before := find(t, b, "a")
	end(t, b, "a", lb.Healthy, 5)
	b.SetAlive("b", false)

	t.Run("ribbon Q6 liveness", func(t *testing.T) {
		list(t, b, "b", "a")
		want(t, choose(b, 2), "a", "a")
	})
	t.Run("an unchanged server keeps its object", func(t *testing.T) {
		if find(t, b, "a") != before {
			t.Error("the object was replaced")
		}
	})
	t.Run("a changed one keeps its statistics", func(t *testing.T) {
		b.SetServers([]lb.Server{{ID: "a", Host: "elsewhere", Port: 80}})
		now := find(t, b, "a")
		if now == before || now.Stats() != before.Stats() || now.Host != "elsewhere" {
			t.Errorf("same object %t, host %q, total %d", now == before, now.Host, now.Stats().Total())
		}
	})
}

func TestStatsOutliveAbsence(t *testing.T) {
	for _, tc := range []struct {
		name   string
		absent time.Duration
		total  int64
	}{
		{"for half an hour", 30 * time.Minute, 5},
		{"and no longer", 30*time.Minute + 1, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBalancer(t, "a", "b")
				end(t, b, "a", lb.Healthy, 5)
				list(t, b, "b")
				pass(tc.absent)
				list(t, b, "b")
				list(t, b, "a", "b")
				if n := find(t, b, "a").Stats().Total(); n != tc.total {
					t.Errorf("total %d, want %d", n, tc.total)
				}
			})
		})
	}
}

// Ribbon 13: the caller's list is neither changed nor kept.
func TestSetServersLeavesTheListAlone(t *testing.T) {
	servers := []lb.Server{{Host: "h", Port: 1, Metadata: map[string]string{"weight": "1"}}, {Host: "h", Port: 2}}
	b := lb.NewBalancer("users", lb.BalancerSettings{})
	b.SetServers(servers)
	if servers[0].ID != "" || servers[0].Stats() != nil {
		t.Errorf("list was changed: %+v", servers[0])
	}
	servers[0].Host = "changed"
	if got := b.Servers()[0].HostPort(); got != "h:1" {
		t.Errorf("list was kept: %s", got)
	}
	servers[0].Host = "h"
	servers[0].Metadata["weight"] = "2"
	if got := b.Servers()[0].Metadata["weight"]; got != "1" {
		t.Errorf("the metadata was kept: weight %s", got)
	}
	b.SetServers(servers)
	if got := b.Servers()[0].Metadata["weight"]; got != "2" {
		t.Errorf("the new metadata was not noticed: weight %s", got)
	}
}

// Settings that make no sense are the defaults, not a panic or a loop without a pause.
func TestNegativeTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked notes
		b := pinged(t, lb.BalancerSettings{
			NewRule: lb.NewRule("WeightedResponseTimeRule", lb.RuleSettings{}), WeightInterval: -1,
			Ping: slowPing("", &asked), PingInterval: -1, PingTimeout: -1, SlowStart: -1, ActiveWindow: -1, ActiveLimit: -1,
			Outliers: &lb.OutlierPolicy{Interval: -1, BaseTime: -1, MaxTime: -1, MinRequests: -1},
			Trip:     lb.TripPolicy{Failures: -1, Factor: -1, Max: -1},
		}, "a", "b")
		pass(10 * time.Second)
		end(t, b, "b", lb.Failing, 5)
		if n := len(asked.all()); n != 2 || idsOf(b.Reachable()) != "a b" {
			t.Errorf("%d pings, alive %s", n, idsOf(b.Reachable()))
		}
		near(t, shares(b, nil, 100), 0, map[string]float64{"a": 1})
		if find(t, b, "b").Ejected(time.Now().Add(10 * time.Second)) {
			t.Error("still ejected after ten seconds")
		}
	})
}

func TestAvailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBalancer(t, "a", "b", "c")
		b.SetAlive("a", false)
		end(t, b, "b", lb.Unhealthy, 3)
		if n := b.Available(); n != 1 {
			t.Errorf("%d available, want 1", n)
		}
	})
}

func TestChooseWhileChanging(t *testing.T) {
	b := newBalancer(t, "a", "b", "c")
	var wg sync.WaitGroup
	done := make(chan struct{})
	for i := range 4 {
		wg.Go(func() {
			for j := 0; ; j++ {
				select {
				case <-done:
					return
				default:
				}
				s := b.Choose(nil, nil)
				if s == nil {
					continue
				}
				now := time.Now()
				b.Begin(s, now)
				b.End(s, now, 1, lb.Outcome((i+j)%3))
			}
		})
	}
	for i := range 300 {
		switch i % 4 {
		case 0:
			list(t, b)
		case 1:
			list(t, b, "a", "b", "c", "d")
		case 2:
			b.SetAlive("a", i%8 == 2)
		case 3:
			b.Configure(lb.BalancerSettings{})
		}
	}
	close(done)
	wg.Wait()
	list(t, b, "e")
	want(t, choose(b, 1), "e")
}

func TestChooseAllocatesNothing(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	ids := make([]string, 1000)
	for i := range ids {
		ids[i] = strconv.Itoa(i)
	}
	b := newBalancer(t, ids...)
	end(t, b, "7", lb.Unhealthy, 3)
	pick := func() {
		s := b.Choose(nil, nil)
		now := time.Now()
		b.Begin(s, now)
		b.End(s, now, time.Millisecond, lb.Healthy)
	}
	pick()
	if n := testing.AllocsPerRun(1000, pick); n != 0 {
		t.Errorf("%v allocations per pick, want 0", n)
	}
}
