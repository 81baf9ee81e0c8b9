package lb_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gozer-gateway/gozer/lb"
)

// spy is a rule that shows what it was given.
type spy struct {
	lb.RoundRobin
	seen *lb.Candidates
}

func (s *spy) Picker(c *lb.Candidates) lb.Picker {
	s.seen = c
	return s.RoundRobin.Picker(c)
}

// candidates are those of a balancer that trips nobody.
func candidates(tb testing.TB, b *lb.Balancer) *lb.Candidates {
	tb.Helper()
	s := new(spy)
	b.Configure(lb.BalancerSettings{KeepTripped: true, NewRule: func() lb.Rule { return s }})
	return s.seen
}

// goodAndTripped lists zones as zoned does; servers of zones with a capital are tripped.
func goodAndTripped(t *testing.T, zones string) *lb.Balancer {
	t.Helper()
	b := lb.NewBalancer("users", lb.BalancerSettings{KeepTripped: true})
	zoned(b, zones)
	for _, s := range b.Servers() {
		if strings.ToLower(s.Zone) != s.Zone {
			end(t, b, s.ID, lb.Unhealthy, 3)
		}
	}
	return b
}

func idsOf(servers []*lb.Server) string {
	var all []string
	for _, s := range servers {
		all = append(all, s.ID)
	}
	return strings.Join(all, " ")
}

func TestPredicates(t *testing.T) {
	available := lb.AvailabilityPredicate{}
	for name, tc := range map[string]struct {
		zones     string
		composite lb.Composite
		want      string
	}{
		"ribbon 47 the good ones in order": {"a:3 A:3 b:4", lb.Composite{Primary: available}, "a0 a1 a2 b0 b1 b2 b3"},
		"ribbon 50 affinity and availability": {
			"a:3 A:4 b:3", lb.Composite{Primary: lb.All{lb.ZoneAffinityPredicate{Zone: "A"}, available}, Fallbacks: []lb.Predicate{available}}, "a0 a1 a2",
		},
		"ribbon 51 five are wanted": {
			"a:3 A:4 b:3", lb.Composite{Primary: lb.All{lb.ZoneAffinityPredicate{Zone: "a"}, available}, Fallbacks: []lb.Predicate{available}, MinServers: 5}, "a0 a1 a2 b0 b1 b2",
		},
		"a share must be exceeded": {
			"a:2 b:2", lb.Composite{Primary: lb.ZoneAffinityPredicate{Zone: "a"}, Fallbacks: []lb.Predicate{available}, MinShare: 0.5}, "a0 a1 b0 b1",
		},
		"the last fallback counts whatever it leaves": {
			"a:2 B:2", lb.Composite{Primary: lb.ZoneAffinityPredicate{Zone: "x"}, Fallbacks: []lb.Predicate{available}, MinServers: 9}, "a0 a1",
		},
		"no zone, no affinity": {"a:1", lb.Composite{Primary: lb.ZoneAffinityPredicate{}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := candidates(t, goodAndTripped(t, tc.zones))
				if got := idsOf(tc.composite.Eligible(c, nil)); got != tc.want {
					t.Errorf("eligible %q, want %q", got, tc.want)
				}
			})
		})
	}
	t.Run("ribbon 49 zones", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := lb.NewBalancer("users", lb.BalancerSettings{})
			zoned(b, "0:3 1:4 2:3")
			for _, s := range b.Servers() {
				begin(t, b, s.ID, map[string]int{"0": 0, "1": 2, "2": 1}[s.Zone])
			}
			composite := lb.Composite{Primary: lb.ZoneAvoidancePredicate{}}
			if got := idsOf(composite.Eligible(candidates(t, b), nil)); got != "00 01 02 20 21 22" {
				t.Errorf("eligible %q", got)
			}
		})
	})
}

func TestPredicateBased(t *testing.T) {
	based := func(p lb.Predicate) lb.BalancerSettings {
		return lb.BalancerSettings{KeepTripped: true, NewRule: func() lb.Rule { return &lb.PredicateBased{Predicate: p} }}
	}
	t.Run("ribbon 47 in turn", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := goodAndTripped(t, "a:7 A:3")
			b.Configure(based(lb.AvailabilityPredicate{}))
			got := choose(b, 20)
			for i, id := range got {
				if want := string(rune('0' + i%7)); id != "a"+want {
					t.Fatalf("chosen %v", got)
				}
			}
		})
	})
	t.Run("ribbon 48 one trips", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := newBalancer(t, "a", "b")
			b.Configure(based(lb.AvailabilityPredicate{}))
			want(t, choose(b, 1), "a")
			end(t, b, "a", lb.Unhealthy, 3)
			want(t, choose(b, 1), "b")
		})
	})
	t.Run("ribbon 52 the counter", func(t *testing.T) {
		b := newBalancer(t, ids(7)...)
		b.Configure(based(lb.AvailabilityPredicate{}))
		want(t, choose(b, 9), "0", "1", "2", "3", "4", "5", "6", "0", "1")
		list(t, b, "0", "1")
		want(t, choose(b, 4), "1", "0", "1", "0")
	})
	isKey := lb.PredicateFunc(func(key any, s *lb.Server) bool { return s.ID == key })
	t.Run("by the key of the request", func(t *testing.T) {
		b := newBalancer(t, ids(40)...)
		b.Configure(based(isKey))
		for _, id := range ids(40) {
			if s := b.Choose(id, nil); s == nil || s.ID != id {
				t.Fatalf("for %s: %v", id, s)
			}
		}
		if s := b.Choose("none", nil); s != nil {
			t.Errorf("nobody suits, chosen %v", s)
		}
	})
	t.Run("with fallbacks", func(t *testing.T) {
		b := newBalancer(t, "a", "b", "c")
		all := lb.PredicateFunc(func(any, *lb.Server) bool { return true })
		b.Configure(based(&lb.Composite{Primary: isKey, Fallbacks: []lb.Predicate{all}}))
		if s := b.Choose("b", nil); s.ID != "b" {
			t.Errorf("chosen %v", s)
		}
		if got := shares(b, "none", 30); len(got) != 3 {
			t.Error(got)
		}
		b.Configure(based(&lb.Composite{Primary: isKey, Fallbacks: []lb.Predicate{all}, MinServers: 2}))
		if got := shares(b, "b", 30); len(got) != 3 {
			t.Errorf("one is not enough: %v", got)
		}
	})
}
