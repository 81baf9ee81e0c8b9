package lb_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/lb"
)

// zoned lists servers by zone: "a:2 b:1" is a0, a1 in zone a and b0 in b.
func zoned(b *lb.Balancer, zones string) {
	var servers []lb.Server
	for part := range strings.FieldsSeq(zones) {
		var zone string
		var n int
		if _, err := fmt.Sscanf(strings.Replace(part, ":", " ", 1), "%s %d", &zone, &n); err != nil {
			panic(err)
		}
		for i := range n {
			servers = append(servers, lb.Server{ID: fmt.Sprint(zone, i), Host: zone, Port: 1 + i, Zone: zone})
		}
	}
	b.SetServers(servers)
}

// met are the zones, or with ids the servers, that n chooses meet; each comes after the
// judgement about zones has become old.
func met(b *lb.Balancer, n int, ids bool) string {
	var seen []string
	for range n {
		pass(10 * time.Millisecond)
		s := b.Choose(nil, nil)
		switch {
		case s == nil:
			seen = append(seen, "nobody")
		case ids:
			seen = append(seen, s.ID)
		default:
			seen = append(seen, s.Zone)
		}
	}
	slices.Sort(seen)
	return strings.Join(slices.Compact(seen), " ")
}

func TestZoneAware(t *testing.T) {
	settings := lb.BalancerSettings{Class: lb.ZoneAware, ActiveWindow: 10 * time.Second, NewRule: lb.NewRule("RoundRobinRule", lb.RuleSettings{})}
	check := func(t *testing.T, name string, b *lb.Balancer, want string) {
		t.Helper()
		if got := met(b, 100, false); got != want {
			t.Errorf("%s: zones %q, want %q", name, got, want)
		}
	}
	zone := func(t *testing.T, b *lb.Balancer, name string) lb.ZoneSnapshot {
		t.Helper()
		i := slices.IndexFunc(b.Zones(), func(z lb.ZoneSnapshot) bool { return z.Zone == name })
		if i < 0 {
			return lb.ZoneSnapshot{}
		}
		return b.Zones()[i]
	}
	t.Run("the zones of Ribbon's own test", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := lb.NewBalancer("users", settings)
			zoned(b, "a:4 b:3 c:4")
			check(t, "ribbon 53 no load", b, "a b c")

			done := begin(t, b, "c1", 3)
			done()
			if z := zone(t, b, "c"); z.Active != 2 || z.Load != 0.5 {
				t.Errorf("ribbon 54: zone c %+v", z)
			}
			check(t, "ribbon 54 c is loaded", b, "a b")

			end(t, b, "a0", lb.Unhealthy, 3)
			end(t, b, "b0", lb.Unhealthy, 1)
			if a, o := zone(t, b, "a"), zone(t, b, "b"); a.Tripped != 1 || o.Tripped != 0 {
				t.Errorf("ribbon 55: zones %+v %+v", a, o)
			}
			check(t, "ribbon 55", b, "a b")

			begin(t, b, "a1", 1)
			if z := zone(t, b, "a"); z.Load != 1./3 {
				t.Errorf("ribbon 56: zone a %+v", z)
			}
			check(t, "ribbon 56", b, "a b")

			pass(15 * time.Second)
			stats := find(t, b, "a0").Stats()
			if z := zone(t, b, "a"); z.Tripped != 0 || stats.SuccessiveFailures() != 3 || z.Active != 0 || zone(t, b, "c").Active != 0 {
				t.Errorf("ribbon 57: zone a %+v, %d failures", z, stats.SuccessiveFailures())
			}
			end(t, b, "a0", lb.Healthy, 1)
			if n := stats.SuccessiveFailures(); n != 0 {
				t.Errorf("ribbon 57: %d failures after a success", n)
			}
			check(t, "ribbon 57", b, "a b c")
		})
	})
	t.Run("tripped zones", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			settings := settings
			settings.Trip = lb.TripPolicy{Factor: time.Hour, Max: time.Hour}
			b := lb.NewBalancer("users", settings)
			zoned(b, "a:2 b:2 c:2")
			end(t, b, "a0", lb.Unhealthy, 3)
			end(t, b, "a1", lb.Unhealthy, 3)
			if z := zone(t, b, "a"); z.Tripped != 2 || z.Load != -1 {
				t.Errorf("ribbon 59: zone a %+v", z)
			}
			check(t, "ribbon 59 Q22", b, "b c")
			doneB := begin(t, b, "b0", 1)
			begin(t, b, "c0", 1)
			check(t, "ribbon 60", b, "b c")
			doneB()
			check(t, "ribbon 61", b, "b")
		})
	})
	t.Run("the threshold", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := lb.NewBalancer("users", lb.BalancerSettings{Class: lb.ZoneAware})
			zoned(b, "a:11 b:11 c:11")
			begin(t, b, "b0", 1)
			begin(t, b, "c0", 1)
			check(t, "ribbon 62", b, "a b c")
			begin(t, b, "b1", 2)
			check(t, "ribbon 63", b, "a c")
			begin(t, b, "c1", 2)
			check(t, "ribbon 64", b, "a b c")
		})
	})
	t.Run("a zone whose rule finds nobody", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			choosy := lb.RuleFunc(func(_ any, servers []*lb.Server) *lb.Server {
				if len(servers) < 6 {
					return nil
				}
				return servers[time.Now().UnixMilli()/10%6]
			})
			b := lb.NewBalancer("users", lb.BalancerSettings{Class: lb.ZoneAware, NewRule: func() lb.Rule { return choosy }})
			zoned(b, "a:2 b:2 c:2")
			begin(t, b, "c0", 5)
			check(t, "ribbon 58 the whole list is fallen back on", b, "a b c")
		})
	})
	t.Run("ribbon 68 a zone goes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := lb.NewBalancer("users", settings)
			zoned(b, "a:2 b:2 c:2")
			begin(t, b, "a0", 2)
			check(t, "before", b, "b c")
			zoned(b, "a:2 b:2")
			check(t, "after", b, "b")
			if z := zone(t, b, "c"); z.Instances != 0 {
				t.Errorf("zone c %+v", z)
			}
		})
	})
}

func TestZonesUnderAvailabilityFiltering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := lb.NewBalancer("users", lb.BalancerSettings{
			Class: lb.ZoneAware, NewRule: lb.NewRule("AvailabilityFilteringRule", lb.RuleSettings{}), Trip: lb.TripPolicy{Factor: time.Hour, Max: time.Hour},
		})
		zoned(b, "a:2 b:2 c:2")
		for i, step := range []struct {
			name string
			trip []string
			want string
		}{
			{"ribbon 65", []string{"a0", "a1", "b0", "b1"}, "c0 c1"},
			{"ribbon 66", []string{"c0"}, "c1"},
			{"ribbon 67 all are tripped", []string{"c1"}, "a0 a1 b0 b1 c0 c1"},
		} {
			for _, id := range step.trip {
				end(t, b, id, lb.Unhealthy, 3)
			}
			if got := met(b, 100, true); got != step.want {
				t.Errorf("%d %s: %s, want %s", i, step.name, got, step.want)
			}
		}
	})
}

// Ribbon 69: one server of a and one of b are full, another of b is tripped.
func TestActiveLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := lb.NewBalancer("users", lb.BalancerSettings{
			Class: lb.ZoneAware, ActiveLimit: 1, NewRule: lb.NewRule("AvailabilityFilteringRule", lb.RuleSettings{}),
			Trip: lb.TripPolicy{Factor: time.Hour, Max: time.Hour},
		})
		zoned(b, "a:6 b:8")
		begin(t, b, "a0", 1)
		begin(t, b, "b0", 1)
		end(t, b, "b7", lb.Unhealthy, 3)
		if n := b.Available(); n != 11 {
			t.Errorf("%d available, want 11", n)
		}
		if got := met(b, 100, true); got != "a1 a2 a3 a4 a5 b1 b2 b3 b4 b5 b6" {
			t.Errorf("chosen %s", got)
		}
	})
}

func TestAvailableZones(t *testing.T) {
	z := func(name string, instances, tripped int, load float64) lb.ZoneSnapshot {
		return lb.ZoneSnapshot{Zone: name, Instances: instances, Tripped: tripped, Load: load}
	}
	original := lb.ZonePolicy{Original: true}
	for name, tc := range map[string]struct {
		zones  []lb.ZoneSnapshot
		policy lb.ZonePolicy
		want   string
	}{
		"ribbon 70 one of two is in blackout":       {[]lb.ZoneSnapshot{z("a", 2, 2, -1), z("b", 2, 0, 0)}, lb.ZonePolicy{}, "b"},
		"ribbon 70 originally all, for want of any": {[]lb.ZoneSnapshot{z("a", 2, 2, -1), z("b", 2, 0, 0)}, original, "a b"},
		"ribbon 71 the threshold itself":            {[]lb.ZoneSnapshot{z("a", 2, 0, 0.1), z("b", 2, 0, 0.2)}, lb.ZonePolicy{}, "a"},
		"just below it":                             {[]lb.ZoneSnapshot{z("a", 2, 0, 0.1), z("b", 2, 0, 0.1999)}, lb.ZonePolicy{}, "a b"},
		"ribbon 72 Q22 an empty zone":               {[]lb.ZoneSnapshot{z("a", 0, 0, 0), z("b", 2, 0, 0), z("c", 2, 0, 0.1)}, lb.ZonePolicy{}, "b c"},
		"ribbon 72 originally":                      {[]lb.ZoneSnapshot{z("a", 0, 0, 0), z("b", 2, 0, 0), z("c", 2, 0, 0.1)}, original, "b"},
		"the last healthy zone stays":               {[]lb.ZoneSnapshot{z("a", 2, 2, -1), z("b", 2, 0, 9)}, lb.ZonePolicy{}, "b"},
		"none is healthy":                           {[]lb.ZoneSnapshot{z("a", 2, 2, -1), z("b", 1, 1, -1)}, lb.ZonePolicy{}, "a b"},
		"a partial blackout":                        {[]lb.ZoneSnapshot{z("a", 4, 3, 0), z("b", 4, 0, 0)}, lb.ZonePolicy{Blackout: 0.7}, "b"},
		"another threshold":                         {[]lb.ZoneSnapshot{z("a", 2, 0, 0.5), z("b", 2, 0, 0.9)}, lb.ZonePolicy{Load: 1}, "a b"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(lb.AvailableZones(tc.zones, tc.policy), " "); got != tc.want {
				t.Errorf("left %q, want %q", got, tc.want)
			}
		})
	}
	t.Run("ribbon 73 drawn by the number of instances", func(t *testing.T) {
		var drawn []string
		for k := range 4 {
			drawn = append(drawn, lb.DrawZone([]lb.ZoneSnapshot{z("x", 1, 0, 0), z("y", 3, 0, 0)}, k+1))
		}
		if diff := cmp.Diff([]string{"x", "y", "y", "y"}, drawn); diff != "" {
			t.Error(diff)
		}
	})
}

// Two zones, one degraded: traffic leaves it and returns, and every choice finds a server
// while one is up. Letter case does not tell zones apart.
func TestTrafficLeavesADegradedZone(t *testing.T) {
	for _, class := range []lb.BalancerClass{lb.Dynamic, lb.ZoneAware} {
		t.Run(fmt.Sprint("Q23 class ", class), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := lb.NewBalancer("users", lb.BalancerSettings{Class: class, NewRule: lb.NewRule("ZoneAvoidanceRule", lb.RuleSettings{})})
				b.SetServers([]lb.Server{
					{ID: "a0", Host: "h", Port: 1, Zone: "East"},
					{ID: "a1", Host: "h", Port: 2, Zone: "EAST"},
					{ID: "b0", Host: "h", Port: 3, Zone: "west"},
					{ID: "b1", Host: "h", Port: 4, Zone: "West"},
				})
				for _, step := range []struct {
					name string
					do   func() func()
					want string
				}{
					{"all is well", func() func() { return func() {} }, "a0 a1 b0 b1"},
					{"requests pile up in the east", func() func() { return begin(t, b, "a0", 1) }, "b0 b1"},
					{"and are answered", func() func() { return func() {} }, "a0 a1 b0 b1"},
					{"the east refuses connections", func() func() {
						end(t, b, "a0", lb.Unhealthy, 3)
						end(t, b, "a1", lb.Unhealthy, 3)
						return func() { pass(10 * time.Second) }
					}, "b0 b1"},
					{"and is back", func() func() { return func() {} }, "a0 a1 b0 b1"},
					{"the west too is overloaded", func() func() {
						end(t, b, "a0", lb.Unhealthy, 3)
						end(t, b, "a1", lb.Unhealthy, 3)
						begin(t, b, "b0", 50)
						return func() {}
					}, "b0 b1"},
					{"and is marked down", func() func() {
						b.SetAlive("b0", false)
						b.SetAlive("b1", false)
						return func() {}
					}, "a0 a1"},
				} {
					undo := step.do()
					if got := met(b, 50, true); got != step.want {
						t.Errorf("%s: %s, want %s", step.name, got, step.want)
					}
					undo()
				}
			})
		})
	}
}

// A key keeps its server however the load moves between zones.
func TestHashIgnoresTheLoadOfZones(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := lb.NewBalancer("users", lb.BalancerSettings{Class: lb.ZoneAware, NewRule: lb.NewRule("ConsistentHash", lb.RuleSettings{})})
		zoned(b, "a:3 b:3 c:3")
		first := b.Choose("key", nil)
		for i := range 20 {
			done := begin(t, b, b.Servers()[i%9].ID, 2) // much for a zone, nothing for a server
			pass(10 * time.Millisecond)
			if s := b.Choose("key", nil); s != first {
				t.Fatalf("moved from %v to %v", first, s)
			}
			done()
			done()
		}
	})
}

func TestZonePolicyOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := lb.NewBalancer("users", lb.BalancerSettings{NewRule: lb.NewRule("ZoneAvoidanceRule", lb.RuleSettings{}), Zones: lb.ZonePolicy{Off: true}})
		zoned(b, "a:2 b:2")
		begin(t, b, "a0", 9)
		if got := met(b, 20, false); got != "a b" {
			t.Error(got)
		}
	})
}
