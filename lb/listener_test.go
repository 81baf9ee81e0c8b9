package lb_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/lb"
)

// diary is a listener of both kinds that writes down what it hears.
type diary struct{ entries []string }

func (d *diary) settings(s lb.BalancerSettings) lb.BalancerSettings {
	s.OnList = append(s.OnList, func(before, after []*lb.Server) {
		d.entries = append(d.entries, "list "+idsOf(before)+" > "+idsOf(after))
	})
	s.OnStatus = append(s.OnStatus, func(changed []*lb.Server) { d.entries = append(d.entries, "status "+idsOf(changed)) })
	return s
}

func (d *diary) want(t *testing.T, entries ...string) {
	t.Helper()
	if diff := cmp.Diff(entries, d.entries); diff != "" {
		t.Error(diff)
	}
	d.entries = nil
}

func TestListeners(t *testing.T) {
	t.Run("ribbon 16 Q7 marked down by id, by host and port", func(t *testing.T) {
		var d diary
		b := lb.NewBalancer("users", d.settings(lb.BalancerSettings{}))
		list(t, b, "s1:80", "s2:80")
		d.want(t, "list  > s1:80 s2:80")
		b.SetAlive("s1:80", false)
		b.SetAlive("s1:80", false)
		b.SetAlive("s2:80", false)
		d.want(t, "status s1:80", "status s2:80")
		t.Run("ribbon 20 alive again with the next list", func(t *testing.T) {
			list(t, b, "s1:80", "s2:80")
			d.want(t, "status s1:80 s2:80")
			want(t, choose(b, 2), "s1:80", "s2:80")
		})
	})
	t.Run("ribbon 17 Q9 pings", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var d diary
			var answer atomic.Bool
			settings := d.settings(lb.BalancerSettings{
				Ping:         lb.PingFunc(func(ctx context.Context, s *lb.Server) bool { return lb.PingConstant(answer.Load()).Alive(ctx, s) }),
				PingInterval: time.Second,
			})
			b := lb.NewBalancer("users", settings)
			list(t, b, "s1", "s2")
			stop := run(t, b)
			synctest.Wait()
			d.want(t, "list  > s1 s2", "status s1 s2")
			list(t, b, "s1", "s2") // a refresh revives nobody
			pass(1500 * time.Millisecond)
			d.want(t)
			answer.Store(true)
			pass(time.Second)
			d.want(t, "status s1 s2")
			stop()
		})
	})
	t.Run("ribbon 18 lists", func(t *testing.T) {
		var d diary
		b := lb.NewBalancer("users", d.settings(lb.BalancerSettings{}))
		list(t, b, "a", "b")
		list(t, b, "b", "c")
		d.want(t, "list  > a b", "list a b > b c")
		t.Run("ribbon 19 the same ids are no news", func(t *testing.T) {
			list(t, b, "b", "c")
			d.want(t)
		})
	})
}

func TestRuleOfABalancer(t *testing.T) {
	t.Run("ribbon 29 a list with a server twice", func(t *testing.T) {
		b := lb.NewBalancer("users", lb.BalancerSettings{})
		list(t, b, "x", "x")
		if got := idsOf(b.Servers()); got != "x x" {
			t.Error(got)
		}
	})
	t.Run("Q2 ribbon 30 53 Q10 each balancer and each zone has a rule of its own", func(t *testing.T) {
		made := 0
		settings := lb.BalancerSettings{Class: lb.ZoneAware, NewRule: func() lb.Rule {
			made++
			return lb.Random{}
		}}
		b := lb.NewBalancer("users", settings)
		zoned(b, "a:2 b:2 c:2")
		if made != 4 {
			t.Errorf("%d rules for a balancer with three zones, want 4", made)
		}
		zoned(b, "a:2 b:2 c:2")
		if made != 4 {
			t.Errorf("%d rules after another list, want 4", made)
		}
	})
	t.Run("no-op", func(t *testing.T) {
		b := lb.NewBalancer("users", lb.BalancerSettings{Class: lb.NoOp})
		list(t, b, "a")
		want(t, choose(b, 1), "")
		if len(b.Reachable()) != 0 {
			t.Error(b.Reachable())
		}
	})
}
