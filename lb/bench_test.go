package lb_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/race"
	"github.com/gozer-gateway/gozer/lb"
)

// ids are those of n servers.
func ids(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = strconv.Itoa(i)
	}
	return all
}

// loaded is a balancer of n servers with some history, in zones a, b and c if zoned.
func loaded(tb testing.TB, rule string, n int, zoned bool) *lb.Balancer {
	tb.Helper()
	b := lb.NewBalancer("users", lb.BalancerSettings{NewRule: lb.NewRule(rule, lb.RuleSettings{})})
	servers := make([]lb.Server, n)
	for i := range servers {
		servers[i] = lb.Server{Host: fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255), Port: 80, Metadata: map[string]string{"weight": strconv.Itoa(i%7 + 1)}}
		if zoned {
			servers[i].Zone = string(rune('a' + i%3))
		}
	}
	b.SetServers(servers)
	now := time.Now()
	for i, s := range b.Servers() {
		b.Begin(s, now)
		b.End(s, now, time.Duration(i%50)*time.Millisecond, lb.Healthy)
	}
	b.SetServers(servers[:n:n])
	return b
}

func keyFor(rule string) any {
	if rule == "ConsistentHash" {
		return "user-4711"
	}
	return nil
}

func TestPicksAllocateNothing(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	for _, rule := range lb.RuleNames() {
		for _, zoned := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s zoned=%t", rule, zoned), func(t *testing.T) {
				b, key := loaded(t, rule, 1000, zoned), keyFor(rule)
				for range 3000 {
					attempt(b, key)
				}
				if n := testing.AllocsPerRun(1000, func() { attempt(b, key) }); n != 0 {
					t.Errorf("%v allocations per attempt, want 0", n)
				}
			})
		}
	}
}

func attempt(b *lb.Balancer, key any) {
	s := b.Choose(key, nil)
	now := time.Now()
	b.Begin(s, now)
	b.End(s, now, time.Millisecond, lb.Healthy)
}

func BenchmarkPick(b *testing.B) {
	for _, rule := range lb.RuleNames() {
		for _, n := range []int{10, 100, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", rule, n), func(b *testing.B) {
				benchmarkPick(b, loaded(b, rule, n, false), keyFor(rule))
			})
		}
	}
	for _, n := range []int{10, 100, 10_000} {
		b.Run(fmt.Sprintf("ZoneAvoidanceRule-3-zones/%d", n), func(b *testing.B) {
			benchmarkPick(b, loaded(b, "ZoneAvoidanceRule", n, true), nil)
		})
	}
}

// benchmarkPick picks while every server has a request to answer.
func benchmarkPick(b *testing.B, balancer *lb.Balancer, key any) {
	b.Helper()
	for _, s := range balancer.Servers() {
		balancer.Begin(s, time.Now())
	}
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			balancer.Choose(key, nil)
		}
	})
}

// A list of 10,000 servers is taken over within 10 ms.
func BenchmarkSetServers(b *testing.B) {
	for _, rule := range []string{"RoundRobinRule", "ZoneAvoidanceRule", "WeightedResponseTimeRule", "ConsistentHash", "Weighted"} {
		b.Run(rule+"/10000", func(b *testing.B) {
			balancer := loaded(b, rule, 10_000, true)
			list := make([]lb.Server, 0, 10_000)
			for _, s := range balancer.Servers() {
				list = append(list, *s)
			}
			b.ReportAllocs()
			for b.Loop() {
				balancer.SetServers(list)
			}
		})
	}
}

// BenchmarkAttempt is all that a balancer does for one attempt; with one server all
// goroutines write the same counters.
func BenchmarkAttempt(b *testing.B) {
	for _, rule := range []string{"RoundRobinRule", "ZoneAvoidanceRule", "PeakEwma"} {
		for _, n := range []int{1, 10} {
			b.Run(fmt.Sprintf("%s/%d", rule, n), func(b *testing.B) {
				balancer := loaded(b, rule, n, false)
				b.ReportAllocs()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						attempt(balancer, nil)
					}
				})
			})
		}
	}
}
