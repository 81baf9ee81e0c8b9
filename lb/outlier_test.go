package lb_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/lb"
)

// ejecting is a balancer of n servers under the policy, at work.
func ejecting(tb testing.TB, p lb.OutlierPolicy, n int) *lb.Balancer {
	tb.Helper()
	b := lb.NewBalancer("users", lb.BalancerSettings{Outliers: &p})
	list(tb, b, ids(n)...)
	run(tb, b)
	synctest.Wait()
	return b
}

// serve lets every choice end: badly on the servers in bad, after took on the others.
func serve(tb testing.TB, b *lb.Balancer, n int, bad func(id string) (lb.Outcome, time.Duration)) map[string]int {
	tb.Helper()
	count := map[string]int{}
	for range n {
		s := b.Choose(nil, nil)
		count[s.ID]++
		o, length := bad(s.ID)
		b.Begin(s, time.Now())
		b.End(s, time.Now(), length, o)
	}
	return count
}

func errorsFrom(bad ...string) func(string) (lb.Outcome, time.Duration) {
	return func(id string) (lb.Outcome, time.Duration) {
		if slices.Contains(bad, id) {
			return lb.Failing, 0
		}
		return lb.Healthy, 0
	}
}

func TestErrorsInARowEject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ejecting(t, lb.OutlierPolicy{}, 4)
		if got := serve(t, b, 400, errorsFrom("1"))["1"]; got != 5 {
			t.Errorf("%d requests to the bad server, want 5", got)
		}
		if !find(t, b, "1").Ejected(time.Now()) || find(t, b, "0").Ejected(time.Now()) {
			t.Error("the wrong server is ejected")
		}
		pass(10*time.Second - 1)
		if got := serve(t, b, 40, errorsFrom("1"))["1"]; got != 0 {
			t.Errorf("%d requests during the ejection", got)
		}
		pass(1) // it is back, fails five times, and is out for twice as long
		if got := serve(t, b, 400, errorsFrom("1"))["1"]; got != 5 {
			t.Errorf("%d requests after the ejection, want 5", got)
		}
		pass(20*time.Second - 1)
		if got := serve(t, b, 40, errorsFrom())["1"]; got != 0 {
			t.Errorf("%d requests during the second ejection", got)
		}
		pass(1)
		if got := serve(t, b, 40, errorsFrom())["1"]; got != 10 {
			t.Errorf("%d requests after it has become well, want 10", got)
		}
	})
}

func TestErrorShareEjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ejecting(t, lb.OutlierPolicy{ErrorsInARow: -1, ErrorShare: 0.4, MinRequests: 10}, 3)
		n := 0
		flaky := func(id string) (lb.Outcome, time.Duration) {
			if n++; id == "2" && n%2 == 0 { // of every second request to 2
				return lb.Failing, 0
			}
			return lb.Healthy, 0
		}
		serve(t, b, 27, flaky)
		pass(time.Second + 1)
		if find(t, b, "2").Ejected(time.Now()) {
			t.Error("ejected for nine requests")
		}
		serve(t, b, 3, flaky)
		pass(time.Second)
		if !find(t, b, "2").Ejected(time.Now()) {
			t.Error("not ejected for ten")
		}
		if got := serve(t, b, 30, flaky)["2"]; got != 0 {
			t.Errorf("%d requests to it", got)
		}
	})
}

func TestLatencyEjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ejecting(t, lb.OutlierPolicy{LatencyFactor: 3}, 4)
		slow := func(id string) (lb.Outcome, time.Duration) {
			return lb.Healthy, map[string]time.Duration{"0": 10e6, "1": 20e6, "2": 25e6, "3": 70e6}[id]
		}
		serve(t, b, 80, slow)
		pass(time.Second + 1)
		if got := serve(t, b, 30, slow); got["3"] != 0 || len(got) != 3 {
			t.Errorf("served by %v; the median is 20 ms", got)
		}
	})
}

func TestEjectionsAreCapped(t *testing.T) {
	for name, tc := range map[string]struct {
		policy  lb.OutlierPolicy
		servers int
		bad     []string
		left    int
	}{
		"half of them":            {lb.OutlierPolicy{}, 6, []string{"0", "1", "2", "3"}, 3},
		"a third":                 {lb.OutlierPolicy{MaxShare: 0.34}, 6, []string{"0", "1", "2", "3"}, 4},
		"one in any case":         {lb.OutlierPolicy{MaxShare: 0.01}, 6, []string{"0", "1"}, 5},
		"but not the last one":    {lb.OutlierPolicy{MaxShare: 1, PanicShare: -1}, 2, []string{"0", "1"}, 1},
		"panic when few are left": {lb.OutlierPolicy{MaxShare: 1}, 6, []string{"0", "1", "2", "3", "4"}, 6},
		"no panic":                {lb.OutlierPolicy{MaxShare: 1, PanicShare: -1}, 6, []string{"0", "1", "2", "3", "4"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := ejecting(t, tc.policy, tc.servers)
				serve(t, b, 300, errorsFrom(tc.bad...))
				if n := b.Available(); n != tc.left {
					t.Errorf("%d left, want %d", n, tc.left)
				}
			})
		})
	}
}

// While so few are left that all are used, a request that has failed goes to one of the few.
func TestRetryInPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := ejecting(t, lb.OutlierPolicy{}, 4)
		for _, id := range []string{"1", "2", "3"} {
			end(t, b, id, lb.Unhealthy, 3)
		}
		if got := shares(b, nil, 100); len(got) != 4 {
			t.Errorf("no panic: %v", got)
		}
		for _, id := range []string{"1", "2", "3"} {
			if got := choose(b, 20, find(t, b, id)); slices.ContainsFunc(got, func(id string) bool { return id != "0" }) {
				t.Errorf("after %s: %v", id, got)
			}
		}
		for _, id := range choose(b, 20, find(t, b, "1"), find(t, b, "0")) {
			if id == "0" || id == "1" {
				t.Errorf("%s is met again", id)
			}
		}
	})
}

func TestFailingIsHealthyForTripping(t *testing.T) {
	b := newBalancer(t, "a", "b")
	end(t, b, "a", lb.Unhealthy, 2)
	end(t, b, "a", lb.Failing, 1)
	stats := find(t, b, "a").Stats()
	if stats.SuccessiveFailures() != 0 || stats.Errors() != 3 {
		t.Errorf("%d failures, %d errors", stats.SuccessiveFailures(), stats.Errors())
	}
	for status, want := range map[int]lb.Outcome{
		200: lb.Healthy, 404: lb.Healthy, 429: lb.Healthy, 501: lb.Healthy, 505: lb.Healthy, 500: lb.Failing, 502: lb.Failing, 503: lb.Failing, 599: lb.Failing,
	} {
		if got := lb.OutcomeOf(status); got != want {
			t.Errorf("status %d is %d, want %d", status, got, want)
		}
	}
}

func TestSlowStart(t *testing.T) {
	slow := func(rule string) lb.BalancerSettings {
		return lb.BalancerSettings{SlowStart: 100 * time.Second, NewRule: lb.NewRule(rule, lb.RuleSettings{})}
	}
	for _, rule := range []string{"RoundRobinRule", "RandomRule", "PowerOfTwoChoices"} {
		t.Run(rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := lb.NewBalancer("users", slow(rule))
				list(t, b, "a", "b", "c")
				near(t, shares(b, nil, 20_000), 0.03, map[string]float64{"a": 1. / 3, "b": 1. / 3, "c": 1. / 3})
				list(t, b, "a", "b", "c", "d")
				last := 0.0
				for i := range 4 { // the share grows to a quarter
					share := shares(b, nil, 20_000)["d"]
					if share <= last || share > 0.25*float64(max(i, 1))*1.1/3+0.05 && i < 3 {
						t.Errorf("after %d s: %.3f, before %.3f", i*33, share, last)
					}
					last = share
					pass(34 * time.Second)
				}
				near(t, shares(b, nil, 20_000), 0.03, map[string]float64{"a": 0.25, "b": 0.25, "c": 0.25, "d": 0.25})
			})
		})
	}
	t.Run("ConsistentHash: a key goes to the new server or to the one that had it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := lb.NewBalancer("users", slow("ConsistentHash"))
			list(t, b, ids(10)...)
			owner := map[string]string{}
			for _, key := range ids(400) {
				owner[key] = b.Choose(key, nil).ID
			}
			list(t, b, append(ids(10), "new")...)
			moved := 0
			for key, old := range owner {
				for range 50 {
					switch got := b.Choose(key, nil).ID; got {
					case old:
					case "new":
						moved++
					default:
						t.Fatalf("%s was on %s and is on %s", key, old, got)
					}
				}
			}
			if share := float64(moved) / (400 * 50); share < 0.002 || share > 0.018 { // a tenth of an eleventh
				t.Errorf("the new server has a share of %.4f", share)
			}
		})
	})
	t.Run("Weighted: who has no weight gets nothing of the others' share", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := lb.NewBalancer("users", slow("Weighted"))
			servers := []lb.Server{
				{ID: "none", Host: "h", Port: 1, Metadata: map[string]string{"weight": "0"}},
				{ID: "old", Host: "h", Port: 2},
				{ID: "new", Host: "h", Port: 3},
			}
			b.SetServers(servers[:2])
			b.SetServers(servers)
			near(t, shares(b, nil, 20_000), 0.02, map[string]float64{"old": 0.95, "new": 0.05})
		})
	})
	t.Run("a server that alone suits a request gets it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := slow("")
			s.NewRule = func() lb.Rule {
				return &lb.PredicateBased{Predicate: lb.PredicateFunc(func(key any, s *lb.Server) bool { return s.ID == key })}
			}
			b := lb.NewBalancer("users", s)
			list(t, b, "a")
			list(t, b, "a", "b")
			near(t, shares(b, "b", 100), 0, map[string]float64{"b": 1})
		})
	})
	t.Run("after a time down too", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := lb.NewBalancer("users", slow("BestAvailableRule"))
			list(t, b, "a", "b")
			begin(t, b, "b", 1)
			b.SetAlive("a", false)
			b.SetAlive("a", true)
			if share := shares(b, nil, 5000)["a"]; share > 0.25 { // the rule alone would give it all
				t.Errorf("share %.3f", share)
			}
		})
	})
}
