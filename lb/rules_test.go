package lb_test

import (
	"errors"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/lb"
)

// ruled is a balancer of servers under a rule chosen by name.
func ruled(tb testing.TB, rule string, ids ...string) *lb.Balancer {
	tb.Helper()
	b := lb.NewBalancer("users", lb.BalancerSettings{NewRule: lb.NewRule(rule, lb.RuleSettings{})})
	list(tb, b, ids...)
	return b
}

// begin starts n requests on a server and returns what ends one of them.
func begin(tb testing.TB, b *lb.Balancer, id string, n int) (done func()) {
	tb.Helper()
	s := find(tb, b, id)
	for range n {
		b.Begin(s, time.Now())
	}
	return func() { b.End(s, time.Now(), 0, lb.Healthy) }
}

// took completes an attempt of that length on a server.
func took(tb testing.TB, b *lb.Balancer, id string, length time.Duration, o lb.Outcome) {
	tb.Helper()
	s := find(tb, b, id)
	b.Begin(s, time.Now())
	b.End(s, time.Now(), length, o)
}

// shares chooses n times and returns each server's part.
func shares(b *lb.Balancer, key any, n int) map[string]float64 {
	count := map[string]int{}
	for range n {
		if s := b.Choose(key, nil); s != nil {
			count[s.ID]++
		} else {
			count["none"]++
		}
	}
	parts := map[string]float64{}
	for id := range count {
		parts[id] = float64(count[id]) / float64(n)
	}
	return parts
}

func near(tb testing.TB, got map[string]float64, within float64, want map[string]float64) {
	tb.Helper()
	for id := range got {
		if _, known := want[id]; !known {
			tb.Errorf("%q was chosen with a share of %.3f", id, got[id])
		}
	}
	for id, share := range want {
		if math.Abs(got[id]-share) > within {
			tb.Errorf("%q has a share of %.4f, want %.4f", id, got[id], share)
		}
	}
}

func TestRuleNames(t *testing.T) {
	for _, name := range lb.RuleNames() {
		for _, spelling := range []string{name, "com.netflix.loadbalancer." + name, strings.TrimSuffix(name, "Rule")} {
			newRule := lb.NewRule(spelling, lb.RuleSettings{})
			if newRule == nil {
				t.Errorf("%s is not known", spelling)
				continue
			}
			b := lb.NewBalancer("users", lb.BalancerSettings{NewRule: newRule})
			list(t, b, "a", "b")
			if got := b.Choose("key", nil); got == nil {
				t.Errorf("%s chooses nobody", spelling)
			}
		}
	}
	if lb.NewRule("com.example.MyRule", lb.RuleSettings{}) != nil {
		t.Error("a rule is made of an unknown name")
	}
}

// No rule returns nobody while a server is up, nor one that is down.
func TestEveryRuleKeepsToLiveServers(t *testing.T) {
	for _, rule := range lb.RuleNames() {
		t.Run(rule+" Q20 Q12 Q15 Q18", func(t *testing.T) {
			b := ruled(t, rule, ids(25)...)
			for _, s := range b.Servers()[:24] {
				b.SetAlive(s.ID, false)
			}
			near(t, shares(b, nil, 50), 0.001, map[string]float64{"24": 1})
			near(t, shares(b, "key", 50), 0.001, map[string]float64{"24": 1})
			if s := b.Choose(nil, []*lb.Server{find(t, b, "24")}); s == nil || s.ID != "24" {
				t.Errorf("after a failure of the only one: %v", s)
			}
		})
		t.Run(rule+" trips", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := ruled(t, rule, "a", "b", "c")
				end(t, b, "b", lb.Unhealthy, 3)
				for range 50 {
					if s := b.Choose("key", nil); s == nil || s.ID == "b" {
						t.Fatalf("chosen %v", s)
					}
				}
			})
		})
		t.Run(rule+" next server", func(t *testing.T) {
			b := ruled(t, rule, "a", "b", "c")
			tried := []*lb.Server{find(t, b, "a"), find(t, b, "c")}
			for range 20 {
				if s := b.Choose("key", tried); s == nil || s.ID != "b" {
					t.Fatalf("after a and c: %v", s)
				}
			}
		})
	}
}

func TestRandom(t *testing.T) {
	t.Run("ribbon 15 a hundred chooses meet all of four", func(t *testing.T) {
		if got := shares(ruled(t, "RandomRule", "a", "b", "c", "d"), nil, 100); len(got) != 4 {
			t.Error(got)
		}
	})
	t.Run("ribbon 34 Q12 three of four are up", func(t *testing.T) {
		b := ruled(t, "RandomRule", "a", "b", "c", "d")
		b.SetAlive("b", false)
		near(t, shares(b, nil, 30_000), 0.02, map[string]float64{"a": 1. / 3, "c": 1. / 3, "d": 1. / 3})
	})
}

func TestWeightedResponseTime(t *testing.T) {
	means := func(b *lb.Balancer, millis ...int) *lb.Balancer {
		for i, s := range b.Servers() {
			if millis[i] > 0 {
				took(t, b, s.ID, time.Duration(millis[i])*time.Millisecond, lb.Healthy)
			}
		}
		b.Configure(lb.BalancerSettings{NewRule: lb.NewRule("WeightedResponseTimeRule", lb.RuleSettings{})}) // prepares anew
		return b
	}
	t.Run("ribbon 35 10 40 80 100", func(t *testing.T) {
		b := means(newBalancer(t, "A", "B", "C", "D"), 10, 40, 80, 100)
		if diff := cmp.Diff([]float64{220, 410, 560, 690}, lb.Sums(b)); diff != "" {
			t.Error(diff)
		}
		for _, draw := range []struct {
			r    float64
			want string
		}{{0, "A"}, {220, "A"}, {220.01, "B"}, {410, "B"}, {560, "C"}, {560.01, "D"}, {690, "D"}} {
			if got := lb.AtSum(b, draw.r); got.ID != draw.want {
				t.Errorf("%v is %s, want %s", draw.r, got.ID, draw.want)
			}
		}
		near(t, shares(b, nil, 100_000), 0.01, map[string]float64{"A": 220. / 690, "B": 190. / 690, "C": 150. / 690, "D": 130. / 690})
	})
	t.Run("ribbon 36 0 0 100", func(t *testing.T) {
		b := means(newBalancer(t, "a", "b", "c"), 0, 0, 100)
		if diff := cmp.Diff([]float64{100, 200, 200}, lb.Sums(b)); diff != "" {
			t.Error(diff)
		}
		near(t, shares(b, nil, 100_000), 0.02, map[string]float64{"a": 0.5, "b": 0.5})
	})
	t.Run("ribbon 37 one server", func(t *testing.T) {
		want(t, choose(means(newBalancer(t, "a"), 10), 2), "a", "a")
	})
	t.Run("ribbon 38 Q17 Q19 the list becomes shorter", func(t *testing.T) {
		b := means(newBalancer(t, "a", "b", "c"), 30, 20, 10)
		list(t, b, "c")
		want(t, choose(b, 2), "c", "c")
	})
	t.Run("Q17 the list is turned round", func(t *testing.T) {
		b := means(newBalancer(t, "a", "b", "c"), 10, 10, 1000)
		list(t, b, "c", "b", "a")
		if got := shares(b, nil, 10_000); got["c"] > 0.05 {
			t.Errorf("the slow server has a share of %.3f", got["c"])
		}
	})
	t.Run("ribbon 39 C147 nothing is known", func(t *testing.T) {
		want(t, choose(means(newBalancer(t, "a", "b", "c"), 0, 0, 0), 4), "a", "b", "c", "a")
	})
	t.Run("weights are renewed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := lb.NewBalancer("users", lb.BalancerSettings{
				NewRule: lb.NewRule("ResponseTimeWeightedRule", lb.RuleSettings{}), WeightInterval: 5 * time.Second,
			})
			list(t, b, "a", "b", "c")
			run(t, b)
			took(t, b, "a", time.Second, lb.Healthy)
			took(t, b, "b", time.Millisecond, lb.Healthy)
			took(t, b, "c", time.Millisecond, lb.Healthy)
			if lb.Sums(b) != nil {
				t.Error("there are weights before the first renewal")
			}
			pass(5*time.Second + 1)
			if diff := cmp.Diff([]float64{2, 1003, 2004}, lb.Sums(b)); diff != "" {
				t.Error(diff)
			}
		})
	})
}

func TestBestAvailable(t *testing.T) {
	loaded := func(t *testing.T) *lb.Balancer {
		t.Helper()
		b := ruled(t, "BestAvailableRule", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9")
		for i, s := range b.Servers() {
			begin(t, b, s.ID, 10-i)
		}
		return b
	}
	t.Run("ribbon 40 Q3 the one with the fewest requests", func(t *testing.T) {
		want(t, choose(loaded(t), 2), "9", "9")
	})
	t.Run("ribbon 41 not a tripped one", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := loaded(t)
			end(t, b, "9", lb.Unhealthy, 3)
			want(t, choose(b, 2), "8", "8")
		})
	})
	t.Run("ribbon 42 the first of several", func(t *testing.T) {
		want(t, choose(ruled(t, "BestAvailableRule", "0", "1", "2"), 3), "0", "0", "0")
	})
}

func TestAvailabilityFiltering(t *testing.T) {
	tripped := func(t *testing.T, n int, which ...string) *lb.Balancer {
		t.Helper()
		b := ruled(t, "AvailabilityFilteringRule", ids(n)...)
		for _, id := range which {
			end(t, b, id, lb.Unhealthy, 3)
		}
		return b
	}
	for name, tc := range map[string]struct {
		servers int
		tripped []string
		want    []string
	}{
		"ribbon 43 Q21 twelve of fourteen are tripped": {14, ids(13)[1:], []string{"0", "13", "0", "13"}},
		"ribbon 44 one of four is tripped":             {4, []string{"1"}, []string{"0", "2", "3", "0", "2"}},
		"ribbon 45 all three are tripped":              {3, ids(3), []string{"0", "1", "2", "0"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				want(t, choose(tripped(t, tc.servers, tc.tripped...), len(tc.want)), tc.want...)
			})
		})
	}
	for _, rule := range []string{"AvailabilityFilteringRule", "ZoneAvoidanceRule"} {
		t.Run(rule+" full servers", func(t *testing.T) {
			b := lb.NewBalancer("users", lb.BalancerSettings{NewRule: lb.NewRule(rule, lb.RuleSettings{}), ActiveLimit: 2})
			list(t, b, ids(30)...)
			for _, id := range ids(29) {
				begin(t, b, id, 2)
			}
			want(t, choose(b, 3), "29", "29", "29")
			begin(t, b, "29", 2)
			if got := shares(b, nil, 60); len(got) != 30 {
				t.Errorf("with all full: %v", got)
			}
		})
	}
	t.Run("tripping can be switched off", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := tripped(t, 2, "1")
			b.Configure(lb.BalancerSettings{KeepTripped: true})
			want(t, choose(b, 3), "0", "1", "0")
		})
	})
}

func TestRetryRule(t *testing.T) {
	settings := func(patience time.Duration) lb.BalancerSettings {
		return lb.BalancerSettings{NewRule: func() lb.Rule { return &lb.Retry{Rule: new(lb.RoundRobin), Patience: patience} }}
	}
	for name, tc := range map[string]struct {
		patience, back, want time.Duration
		server               string
	}{
		"ribbon 46 Q16 a server comes up after 100 ms": {0, 95 * time.Millisecond, 100 * time.Millisecond, "a"},
		"ribbon 46 none comes up":                      {0, time.Second, 500 * time.Millisecond, ""},
		"patience":                                     {2 * time.Second, time.Second, time.Second, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := lb.NewBalancer("users", settings(tc.patience))
				list(t, b, "a")
				b.SetAlive("a", false)
				time.AfterFunc(tc.back, func() { b.SetAlive("a", true) })
				start := time.Now()
				want(t, choose(b, 1), tc.server)
				if waited := time.Since(start); waited < tc.want || waited > tc.want+10*time.Millisecond {
					t.Errorf("waited %v, want %v", waited, tc.want)
				}
				pass(time.Second)
			})
		})
	}
	t.Run("ribbon 14 a failed one is not waited for while others are up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := lb.NewBalancer("users", settings(200*time.Millisecond))
			list(t, b, "a", "b", "c", "garbage:8080")
			list(t, b, "a", "b", "c")
			b.SetAlive("b", false)
			start := time.Now()
			near(t, shares(b, nil, 20), 0.001, map[string]float64{"a": 0.5, "c": 0.5})
			if waited := time.Since(start); waited > 0 {
				t.Errorf("waited %v", waited)
			}
		})
	})
	t.Run("a sub-rule that finds nobody for a while", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			late := lb.RuleFunc(func(_ any, servers []*lb.Server) *lb.Server {
				if time.Since(start) < 100*time.Millisecond {
					return nil
				}
				return servers[0]
			})
			b := lb.NewBalancer("users", lb.BalancerSettings{NewRule: func() lb.Rule { return &lb.Retry{Rule: late} }})
			list(t, b, "a")
			want(t, choose(b, 1), "a")
		})
	})
}

func TestPowerOfTwoChoices(t *testing.T) {
	b := ruled(t, "PowerOfTwoChoices", "a", "b", "c", "d")
	near(t, shares(b, nil, 40_000), 0.02, map[string]float64{"a": 0.25, "b": 0.25, "c": 0.25, "d": 0.25})
	begin(t, b, "a", 5)
	near(t, shares(b, nil, 1000), 1, map[string]float64{"b": 1. / 3, "c": 1. / 3, "d": 1. / 3})
	begin(t, b, "b", 9)
	if got := shares(b, nil, 60_000); math.Abs(got["a"]-1./6) > 0.02 || got["b"] > 0 {
		t.Errorf("shares %v, want a sixth for a, which only beats b", got)
	}
}

func TestPeakEwma(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ruled(t, "PeakEwma", "a", "b")
		took(t, b, "a", 10*time.Millisecond, lb.Healthy)
		took(t, b, "b", 20*time.Millisecond, lb.Healthy)
		near(t, shares(b, nil, 100), 0, map[string]float64{"a": 1})

		done := begin(t, b, "a", 2) // 10 ms x 3 against 20 ms x 1
		near(t, shares(b, nil, 100), 0, map[string]float64{"b": 1})
		done()
		done()

		took(t, b, "a", time.Second, lb.Healthy) // a peak counts at once
		near(t, shares(b, nil, 100), 0, map[string]float64{"b": 1})
		pass(time.Minute) // and is forgotten: e^-6 of a second
		took(t, b, "b", 20*time.Millisecond, lb.Healthy)
		near(t, shares(b, nil, 100), 0, map[string]float64{"a": 1})

		took(t, b, "a", 0, lb.Unhealthy) // failing fast is not being fast
		near(t, shares(b, nil, 100), 0, map[string]float64{"b": 1})
	})
}

func TestConsistentHash(t *testing.T) {
	keys := ids(3000)
	owners := func(b *lb.Balancer) map[string]string {
		m := map[string]string{}
		for _, key := range keys {
			m[key] = b.Choose(key, nil).ID
		}
		return m
	}
	b := ruled(t, "ConsistentHash", ids(10)...)
	before := owners(b)
	t.Run("each server has its share", func(t *testing.T) {
		count := map[string]int{}
		for _, id := range before {
			count[id]++
		}
		for _, id := range ids(10) {
			if count[id] < 180 || count[id] > 420 {
				t.Errorf("%s has %d of 3000 keys", id, count[id])
			}
		}
	})
	t.Run("a server that goes moves its own keys only", func(t *testing.T) {
		b.SetAlive("3", false)
		for key, id := range owners(b) {
			if id != before[key] && before[key] != "3" {
				t.Fatalf("%s moved from %s to %s", key, before[key], id)
			}
		}
		b.SetAlive("3", true)
		if diff := cmp.Diff(before, owners(b)); diff != "" {
			t.Error("back again:", diff)
		}
	})
	t.Run("the order of the list does not count", func(t *testing.T) {
		turned := ids(10)
		slices.Reverse(turned)
		if diff := cmp.Diff(before, owners(ruled(t, "ConsistentHash", turned...))); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a server over its bound is passed over, always for the same one", func(t *testing.T) {
		busy := before["0"]
		done := begin(t, b, busy, 40)
		other := b.Choose("0", nil).ID
		if other == busy || b.Choose("0", nil).ID != other {
			t.Errorf("chosen %s instead of %s", other, busy)
		}
		for range 40 {
			done()
		}
		if got := b.Choose("0", nil).ID; got != busy {
			t.Errorf("chosen %s instead of %s, which is free again", got, busy)
		}
	})
	t.Run("a retry goes to the next on the ring", func(t *testing.T) {
		first := b.Choose("7", nil)
		second := b.Choose("7", []*lb.Server{first})
		if second == first || second != b.Choose("7", []*lb.Server{first}) {
			t.Errorf("after %v comes %v", first, second)
		}
	})
	t.Run("without a key in turn", func(t *testing.T) {
		if got := shares(b, nil, 100); len(got) != 10 {
			t.Error(got)
		}
	})
}

func TestRing(t *testing.T) {
	for _, n := range []int{1, 2, 7, 100} {
		b := newBalancer(t, ids(n)...)
		hashes := []uint64{0, 1, 1 << 63, math.MaxUint64 - 1, math.MaxUint64}
		for range 500 {
			hashes = append(hashes, rand.Uint64())
		}
		for _, hash := range hashes {
			if found, want := lb.RingPoint(b.Servers(), hash); found != want {
				t.Fatalf("of %d servers %x finds %v, want %v", n, hash, found, want)
			}
		}
	}
}

func TestWeighted(t *testing.T) {
	weigh := func(weights ...string) *lb.Balancer {
		b := lb.NewBalancer("users", lb.BalancerSettings{NewRule: lb.NewRule("Weighted", lb.RuleSettings{})})
		servers := make([]lb.Server, len(weights))
		for i, w := range weights {
			servers[i] = lb.Server{ID: string(rune('a' + i)), Host: "h", Port: 1 + i}
			if w != "" {
				servers[i].Metadata = map[string]string{"weight": w}
			}
		}
		b.SetServers(servers)
		return b
	}
	for name, tc := range map[string]struct {
		weights []string
		want    map[string]float64
	}{
		"by metadata":          {[]string{"1", "3", "6"}, map[string]float64{"a": 0.1, "b": 0.3, "c": 0.6}},
		"without one it is 1":  {[]string{"", "x", " 2 "}, map[string]float64{"a": 0.25, "b": 0.25, "c": 0.5}},
		"fractions":            {[]string{"0.5", "1.5"}, map[string]float64{"a": 0.25, "b": 0.75}},
		"none":                 {[]string{"0", "1"}, map[string]float64{"b": 1}},
		"all have none":        {[]string{"0", "0"}, map[string]float64{"a": 0.5, "b": 0.5}},
		"far apart":            {[]string{"1e300", "1", "1e300"}, map[string]float64{"a": 0.5, "c": 0.5}},
		"negative is no value": {[]string{"-1", "3"}, map[string]float64{"a": 0.25, "b": 0.75}},
	} {
		t.Run(name, func(t *testing.T) { near(t, shares(weigh(tc.weights...), nil, 200_000), 0.01, tc.want) })
	}
}

// Ribbon 2.2: setRule(nil) brings a fresh round robin.
func TestNoRuleIsRoundRobin(t *testing.T) {
	b := lb.NewBalancer("users", lb.BalancerSettings{NewRule: func() lb.Rule { return nil }, Class: lb.ZoneAware})
	list(t, b, "a", "b")
	want(t, choose(b, 3), "a", "b", "a")
}

// A rule of somebody's that makes servers up is told so, and harms nobody.
func TestRuleThatMakesServersUp(t *testing.T) {
	for name, madeUpAt := range map[string]int{"at once": 1, "for a retry": 2} {
		t.Run(name, func(t *testing.T) {
			n := 0
			u := &upstreams{answer: always(0, errReset)}
			b := lb.NewBalancer("users", lb.BalancerSettings{NewRule: func() lb.Rule {
				return lb.RuleFunc(func(_ any, servers []*lb.Server) *lb.Server {
					if n++; n >= madeUpAt {
						return &lb.Server{Host: "nowhere", Port: 1}
					}
					return servers[0]
				})
			}})
			list(t, b, "a", "b")
			c := &lb.Command{Balancer: b, Transport: u, Retry: lb.RetryPolicy{MaxNext: 1}}
			_, err := do(t, c, newRequest(t.Context(), t, "GET", ""), retryable)
			if err == nil || len(u.hosts) != madeUpAt-1 || madeUpAt == 1 && !errors.Is(err, lb.ErrForeignServer) {
				t.Errorf("%v, asked %v", err, u.hosts)
			}
		})
	}
}

// A rule of somebody's that panics while it prepares leaves the choice as it was.
func TestPanickingRule(t *testing.T) {
	broken := false
	log := new(written)
	b := lb.NewBalancer("users", lb.BalancerSettings{
		NewRule: func() lb.Rule { return panicking{&broken} },
		Logger:  slog.New(slog.NewTextHandler(log, nil)),
	})
	list(t, b, "a")
	broken = true
	list(t, b, "b")
	want(t, choose(b, 1), "a")
	list(t, b, "c")
	log.wantOnce(t, "panic: broken")
	broken = false
	list(t, b, "b")
	want(t, choose(b, 1), "b")
}

// A policy that panics while it is made is not put in force.
func TestPanickingPolicy(t *testing.T) {
	for name, broken := range map[string]lb.BalancerSettings{
		"its rule":   {NewRule: func() lb.Rule { panic("broken") }},
		"its filter": {Filter: heirOfNothing{}},
	} {
		t.Run(name, func(t *testing.T) {
			log := new(written)
			b := lb.NewBalancer("users", lb.BalancerSettings{NewRule: func() lb.Rule { return lb.RuleFunc(last) }, Logger: slog.New(slog.NewTextHandler(log, nil))})
			list(t, b, "a", "b")
			b.Configure(broken)
			list(t, b, "a", "b", "c")
			want(t, choose(b, 2), "c", "c")
			log.wantOnce(t, "panic: broken")
		})
	}
}

func last(_ any, servers []*lb.Server) *lb.Server { return servers[len(servers)-1] }

type heirOfNothing struct{}

func (heirOfNothing) Filter(servers []*lb.Server, _ lb.Health, _ bool) []*lb.Server { return servers }

func (heirOfNothing) Adopt(lb.ListFilter) { panic("broken") }

type panicking struct{ broken *bool }

func (p panicking) Picker(c *lb.Candidates) lb.Picker {
	if *p.broken {
		panic("broken")
	}
	return lb.Random{}.Picker(c)
}
