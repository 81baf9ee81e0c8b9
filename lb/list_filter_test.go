package lb_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/lb"
)

// reachable are the ids that a filter leaves, in order.
func reachable(b *lb.Balancer, f lb.ListFilter) string {
	b.Configure(lb.BalancerSettings{Filter: f})
	if err := b.Refresh(context.Background()); err != nil {
		return err.Error()
	}
	return idsOf(b.Reachable())
}

func TestZoneAffinityFilter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := lb.NewBalancer("users", lb.BalancerSettings{})
		zoned(b, "Us-east-1c:5 us-east-1d:4 us-west:3")
		local, all := idsOf(b.Servers()[:5]), idsOf(b.Servers())
		affinity := lb.ZoneAffinityFilter{Zone: "us-eAst-1C", Affinity: true}
		check := func(name string, f lb.ZoneAffinityFilter, want string) {
			t.Helper()
			if got := reachable(b, &f); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}
		check("ribbon 74", affinity, local)
		begin(t, b, "Us-east-1c0", 4)
		check("ribbon 75 the zone is loaded", affinity, all)
		check("ribbon 76 exclusivity", lb.ZoneAffinityFilter{Zone: "us-east-1c", Exclusive: true}, local)
		check("without a zone", lb.ZoneAffinityFilter{Affinity: true, Exclusive: true}, all)
		check("neither", lb.ZoneAffinityFilter{Zone: "us-west"}, all)
		check("exclusivity without a server", lb.ZoneAffinityFilter{Zone: "mars", Exclusive: true}, "")
		check("affinity without a server", lb.ZoneAffinityFilter{Zone: "mars", Affinity: true, MinAvailable: -1}, all)
	})
	for name, tc := range map[string]struct {
		local   int
		tripped bool
		want    bool // only the local ones
	}{
		"ribbon 77 two":                {2, false, false},
		"ribbon 77 three":              {3, false, true},
		"ribbon 77 one of three trips": {3, true, false},
		"ribbon 77 one of four trips":  {4, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := lb.NewBalancer("users", lb.BalancerSettings{})
				zoned(b, fmt.Sprintf("a:%d b:2", tc.local))
				want := idsOf(b.Servers())
				if tc.want {
					want = idsOf(b.Servers()[:tc.local])
				}
				b.Configure(lb.BalancerSettings{Filter: &lb.ZoneAffinityFilter{Zone: "a", Affinity: true, MinAvailable: 3}})
				if tc.tripped {
					end(t, b, "a0", lb.Unhealthy, 3)
					b.Choose(nil, nil) // the filter follows the server's health
				}
				if got := idsOf(b.Reachable()); got != want {
					t.Errorf("left %s, want %s", got, want)
				}
			})
		})
	}
}

func TestZonePreferenceFilter(t *testing.T) {
	for name, tc := range map[string]struct {
		zone, zones, want string
		filter            lb.ZoneAffinityFilter
	}{
		"ribbon 82 no zone":                 {"", "localhost:1", "localhost0", lb.ZoneAffinityFilter{}},
		"ribbon 82 a zone without a server": {"dsyer", "localhost:1", "localhost0", lb.ZoneAffinityFilter{}},
		"ribbon 82 both":                    {"dsyer", "localhost:1 dsyer:1", "dsyer0", lb.ZoneAffinityFilter{}},
		"Q28 the override stands":           {"dsyer", "localhost:1 dsyer:1", "localhost0 dsyer0", lb.ZoneAffinityFilter{Affinity: true}},
		"affinity":                          {"dsyer", "localhost:1 dsyer:2", "dsyer0 dsyer1", lb.ZoneAffinityFilter{Affinity: true}},
	} {
		t.Run(name, func(t *testing.T) {
			b := lb.NewBalancer("users", lb.BalancerSettings{})
			zoned(b, tc.zones)
			tc.filter.Zone = tc.zone
			if got := reachable(b, &lb.ZonePreferenceFilter{ZoneAffinityFilter: tc.filter}); got != tc.want {
				t.Errorf("left %s, want %s", got, tc.want)
			}
		})
	}
}

// C155: the client's zone is dead, then half dead and loaded, then well again.
func TestDeadPreferredZone(t *testing.T) {
	for name, filter := range map[string]lb.ZoneAffinityFilter{
		"C155 preference": {Zone: "z1"},
		"C155 affinity":   {Zone: "z1", Affinity: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := lb.NewBalancer("users", lb.BalancerSettings{
					Class: lb.ZoneAware, NewRule: lb.NewRule("ZoneAvoidanceRule", lb.RuleSettings{}),
					Filter: &lb.ZonePreferenceFilter{ZoneAffinityFilter: filter},
				})
				zoned(b, "z1:2 z2:2")
				// fail answers for the servers of z1; a request may fail once.
				fail := func(dead ...string) (failures int) {
					for i := range 40 {
						var tried []*lb.Server
						for {
							s := b.Choose(nil, tried)
							if !slices.Contains(dead, s.ID) {
								end(t, b, s.ID, lb.Healthy, 1)
								break
							}
							end(t, b, s.ID, lb.Unhealthy, 1)
							if tried = append(tried, s); len(tried) > 1 {
								t.Fatalf("request %d failed twice", i)
							}
							failures++
						}
					}
					return failures
				}
				if n := fail("z10", "z11"); n != 6 {
					t.Errorf("%d failures, want 6: three for each of the two to trip", n)
				}
				if got := met(b, 20, false); got != "z2" {
					t.Errorf("then %s", got)
				}
				pass(10 * time.Second) // the blackout, after which the zone is tried again
				if got := met(b, 20, false); got != "z1" {
					t.Errorf("after the blackout %s", got)
				}
				end(t, b, "z11", lb.Healthy, 1)
				end(t, b, "z10", lb.Unhealthy, 1) // z10 is still dead, z11 loaded
				begin(t, b, "z11", 10)
				pass(30 * time.Second)
				fail("z10")
			})
		})
	}
}

func TestSubsetFilter(t *testing.T) {
	t.Run("ribbon 79 80 81", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBalancer(t, ids(10)...)
			f := &lb.SubsetFilter{Size: 5, Eliminate: 0.6, MaxFailures: 2, MaxActive: 2}
			first := strings.Fields(reachable(b, f))
			if len(first) != 5 {
				t.Fatalf("ribbon 79: %v", first)
			}
			end(t, b, first[0], lb.Unhealthy, 3)
			begin(t, b, first[1], 3)
			begin(t, b, first[2], 2)
			end(t, b, first[3], lb.Unhealthy, 1)
			refresh(t, b)
			second := strings.Fields(idsOf(b.Reachable()))
			if len(second) != 5 {
				t.Fatalf("ribbon 80: %v", second)
			}
			for i, id := range first {
				if stays := i == 2 || i == 4; slices.Contains(second, id) != stays {
					t.Errorf("ribbon 80: s%d stays %t, %v of %v", i+1, !stays, second, first)
				}
			}
			list(t, b, first...)
			if got := b.Reachable(); len(got) != 5 {
				t.Errorf("ribbon 81: %v", got)
			}
		})
	})
	t.Run("ribbon 78 the worst go first", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBalancer(t, ids(5)...)
			f := &lb.SubsetFilter{Size: 5, Eliminate: -1, MaxFailures: 9, MaxActive: 9}
			reachable(b, f)
			for id, n := range map[string]int{"1": 1, "2": 1, "4": 2} {
				end(t, b, id, lb.Unhealthy, n)
			}
			begin(t, b, "2", 1)
			begin(t, b, "3", 1)
			for _, gone := range []string{"4", "2", "1", "3", "0"} {
				if !strings.Contains(idsOf(b.Reachable()), gone) {
					t.Fatalf("%s has gone too early", gone)
				}
				f.Size--
				refresh(t, b)
				if strings.Contains(idsOf(b.Reachable()), gone) {
					t.Fatalf("%s is still among %s", gone, idsOf(b.Reachable()))
				}
				if f.Size == 1 {
					break
				}
			}
		})
	})
	t.Run("a healthy subset moves on slowly", func(t *testing.T) {
		b := newBalancer(t, ids(100)...)
		f := &lb.SubsetFilter{}
		before := strings.Fields(reachable(b, f))
		refresh(t, b)
		stayed := 0
		for _, s := range b.Reachable() {
			if slices.Contains(before, s.ID) {
				stayed++
			}
		}
		if len(b.Reachable()) != 20 || stayed != 18 {
			t.Errorf("%d members, %d of them from before", len(b.Reachable()), stayed)
		}
	})
	t.Run("a change of health changes no member", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBalancer(t, ids(100)...)
			before := reachable(b, &lb.SubsetFilter{})
			end(t, b, strings.Fields(before)[0], lb.Unhealthy, 3)
			b.Choose(nil, nil)
			if got := idsOf(b.Reachable()); got != before {
				t.Errorf("before %s after %s", before, got)
			}
		})
	})
	t.Run("a refresh too soon only fills gaps", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBalancer(t, ids(40)...)
			before := strings.Fields(reachable(b, &lb.SubsetFilter{Interval: 10 * time.Second}))
			pass(9 * time.Second)
			refresh(t, b)
			if got := idsOf(b.Reachable()); got != strings.Join(before, " ") {
				t.Errorf("before %s after %s", before, got)
			}
			left := slices.DeleteFunc(ids(40), func(id string) bool { return id == before[7] })
			list(t, b, left...)
			if got := strings.Fields(idsOf(b.Reachable())); len(got) != 20 || !slices.Equal(got[:19], slices.Delete(slices.Clone(before), 7, 8)) {
				t.Errorf("without %s: %s", before[7], got)
			}
			pass(time.Second)
			refresh(t, b)
			if got := strings.Fields(idsOf(b.Reachable())); slices.Equal(got[:19], slices.Delete(before, 7, 8)) {
				t.Error("nobody has gone at last")
			}
		})
	})
	t.Run("dead members are no reason to have no server", func(t *testing.T) {
		b := newBalancer(t, ids(40)...)
		for id := range strings.FieldsSeq(reachable(b, &lb.SubsetFilter{Size: 2})) {
			b.SetAlive(id, false)
		}
		if got := shares(b, nil, 400); len(got) != 38 {
			t.Errorf("%d servers are chosen", len(got))
		}
	})
	t.Run("members that have only failed go, also when their blackouts are over", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBalancer(t, ids(10)...)
			before := strings.Fields(reachable(b, &lb.SubsetFilter{Size: 3, Eliminate: -1, MaxFailures: 9, MaxActive: 9}))
			for _, id := range before {
				end(t, b, id, lb.Unhealthy, 3)
			}
			end(t, b, before[2], lb.Healthy, 1)
			pass(40 * time.Second)
			refresh(t, b)
			after := strings.Fields(idsOf(b.Reachable()))
			if len(after) != 3 || slices.Contains(after, before[0]) || slices.Contains(after, before[1]) || !slices.Contains(after, before[2]) {
				t.Errorf("before %s after %s", before, after)
			}
		})
	})
	t.Run("a server in blackout does not join", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBalancer(t, ids(4)...)
			for _, id := range []string{"1", "2"} {
				end(t, b, id, lb.Unhealthy, 3)
			}
			if got := reachable(b, &lb.SubsetFilter{Size: 2}); strings.ContainsAny(got, "12") {
				t.Errorf("members %s", got)
			}
		})
	})
	t.Run("a retry keeps to the members", func(t *testing.T) {
		b := newBalancer(t, ids(40)...)
		members := reachable(b, &lb.SubsetFilter{Size: 3})
		for range 20 {
			if s := b.Choose(nil, b.Reachable()[:1]); !strings.Contains(" "+members+" ", " "+s.ID+" ") {
				t.Fatalf("chosen %s, members %s", s.ID, members)
			}
		}
	})
	t.Run("a reload keeps the members", func(t *testing.T) {
		b := newBalancer(t, ids(100)...)
		before := reachable(b, &lb.SubsetFilter{Eliminate: -1})
		if got := reachable(b, &lb.SubsetFilter{Eliminate: -1}); got != before {
			t.Errorf("before %s after %s", before, got)
		}
	})
	t.Run("Q24 zone affinity applies first", func(t *testing.T) {
		b := lb.NewBalancer("users", lb.BalancerSettings{})
		zoned(b, "a:3 b:3")
		got := reachable(b, &lb.SubsetFilter{ZoneAffinityFilter: lb.ZoneAffinityFilter{Zone: "b", Exclusive: true}})
		if len(strings.Fields(got)) != 3 || strings.Contains(got, "a") {
			t.Error(got)
		}
	})
}

func refresh(tb testing.TB, b *lb.Balancer) {
	tb.Helper()
	if err := b.Refresh(tb.Context()); err != nil {
		tb.Fatal(err)
	}
}
