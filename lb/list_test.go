package lb_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/discovery"
	"github.com/gozer-gateway/gozer/internal/race"
	"github.com/gozer-gateway/gozer/lb"
)

func TestConfigurationBasedServerList(t *testing.T) {
	text := ""
	l := lb.ConfigurationBasedServerList(func() string { return text })
	for _, tc := range []struct{ name, text, want string }{
		{"ribbon 8 unset", "", ""},
		{"ribbon 9", "abc.com:80,microsoft.com,1.2.3.4:8080", "abc.com:80 microsoft.com:80 1.2.3.4:8080"},
		{"ribbon 8 removed again", "", ""},
		{"ribbon 10 Q25", "a,,b", "a:80 b:80"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text = tc.text
			servers, err := l.Servers(t.Context())
			var ids []string
			for _, s := range servers {
				ids = append(ids, s.ID)
			}
			if got := strings.Join(ids, " "); got != tc.want || err != nil {
				t.Errorf("servers %q, %v", got, err)
			}
		})
	}
}

func TestRefresh(t *testing.T) {
	t.Run("ribbon 21 22 a fixed list", func(t *testing.T) {
		b := lb.NewBalancer("junit", lb.BalancerSettings{List: lb.StaticServerList{{Host: "a", Port: 1}, {Host: "b", Port: 1}, {Host: "c", Port: 1}}})
		refresh(t, b)
		near(t, shares(b, nil, 300), 0.01, map[string]float64{"a:1": 1. / 3, "b:1": 1. / 3, "c:1": 1. / 3})
	})
	failed := errors.New("no answer")
	t.Run("Q8 a list that cannot be read leaves the servers alone", func(t *testing.T) {
		log := &strings.Builder{}
		var found []lb.Server
		var err error
		b := lb.NewBalancer("users", lb.BalancerSettings{
			Logger: slog.New(slog.NewTextHandler(log, nil)),
			List:   lb.ServerListFunc(func(context.Context) ([]lb.Server, error) { return found, err }),
		})
		for _, step := range []struct {
			found []lb.Server
			err   error
			want  string
			lines int
		}{
			{[]lb.Server{{Host: "a", Port: 1}}, nil, "a:1", 0},
			{nil, failed, "a:1", 1},
			{nil, failed, "a:1", 1},
			{[]lb.Server{{Host: "b", Port: 1}}, failed, "b:1", 1},
			{nil, nil, "", 1},
			{nil, failed, "", 2},
		} {
			found, err = step.found, step.err
			got := b.Refresh(t.Context())
			if !errors.Is(got, step.err) || idsOf(b.Servers()) != step.want {
				t.Errorf("servers %q, %v; want %q", idsOf(b.Servers()), got, step.want)
			}
			if n := strings.Count(log.String(), "\n"); n != step.lines {
				t.Errorf("%d lines in the log, want %d:\n%s", n, step.lines, log)
			}
		}
	})
}

func TestPollingUpdater(t *testing.T) {
	t.Run("ribbon 23 Q11 the list is read at intervals", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var reads atomic.Int64
			b := lb.NewBalancer("users", lb.BalancerSettings{
				Updater: lb.PollingUpdater{Interval: 50 * time.Millisecond},
				List: lb.ServerListFunc(func(context.Context) ([]lb.Server, error) {
					return []lb.Server{{Host: "a", Port: int(reads.Add(1))}}, nil
				}),
			})
			refresh(t, b)
			stop := run(t, b)
			pass(time.Second + 201*time.Millisecond)
			if n := reads.Load(); n != 1+5 || b.Servers()[0].Port != 6 {
				t.Errorf("%d reads, server %v", n, b.Servers())
			}
			stop()
			pass(time.Second)
			if n := reads.Load(); n != 6 {
				t.Errorf("%d reads after the end", n)
			}
		})
	})
	t.Run("ribbon 24 without a delay", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var at []time.Duration
			start := time.Now()
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				lb.PollingUpdater{Delay: -1, Interval: 50 * time.Millisecond}.Run(ctx, func(context.Context) error {
					at = append(at, time.Since(start))
					<-time.After(10 * time.Millisecond)
					return nil
				})
			}()
			pass(140 * time.Millisecond)
			stop()
			<-done
			if diff := cmp.Diff([]time.Duration{0, 60 * time.Millisecond, 120 * time.Millisecond}, at); diff != "" {
				t.Error(diff)
			}
		})
	})
}

func TestNotificationUpdater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changed := make(chan struct{}, 1)
		stopped, updates, block := false, 0, make(chan struct{})
		u := lb.NotificationUpdater{Subscribe: func() (<-chan struct{}, func()) { return changed, func() { stopped = true } }}
		done := make(chan struct{})
		go func() {
			defer close(done)
			u.Run(t.Context(), func(context.Context) error {
				updates++
				<-block
				return errors.New("fails")
			})
		}()
		changed <- struct{}{}
		synctest.Wait()
		changed <- struct{}{} // during the update
		select {
		case changed <- struct{}{}: // and another: there is room for one
			t.Error("ribbon 25: two notifications are kept")
		default:
		}
		close(block)
		synctest.Wait()
		if updates != 2 {
			t.Errorf("ribbon 25: %d updates, want 2", updates)
		}
		close(changed)
		<-done
		if !stopped {
			t.Error("ribbon 26 Q29: the subscription goes on")
		}
	})
}

// Ribbon 27: servers follow discovery, for any number of balancers.
func TestDiscoveredServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		updates := make(chan discovery.Update)
		hub := discovery.NewHub(slog.New(slog.DiscardHandler), discovery.SourceFunc(func(ctx context.Context, out chan<- discovery.Update) error {
			for {
				select {
				case u := <-updates:
					out <- u
				case <-ctx.Done():
					return nil
				}
			}
		}))
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { _ = hub.Run(ctx) })
		var balancers []*lb.Balancer
		for range 3 {
			b := lb.NewBalancer("users", lb.BalancerSettings{
				List:    &lb.DiscoveryEnabledServerList{Instances: hub.Instances, VIPs: []string{"users"}},
				Updater: lb.NotificationUpdater{Subscribe: hub.Changes},
			})
			balancers = append(balancers, b)
			wg.Go(func() { b.Run(ctx) })
		}
		synctest.Wait()
		for _, n := range []int{4, 6} {
			var found []discovery.Instance
			for i := range n {
				found = append(found, discovery.Instance{Service: "users", Host: "h", Port: i + 1})
			}
			updates <- discovery.Update{"users": found}
			synctest.Wait()
			for _, b := range balancers {
				if len(b.Servers()) != n {
					t.Errorf("%d servers, want %d", len(b.Servers()), n)
				}
			}
		}
		cancel()
		wg.Wait()
	})
}

func TestDiscoveryEnabledServerList(t *testing.T) {
	yes, no := true, false
	plain := discovery.Instance{ID: "i", Host: "a.b.c", Port: 8001, Zone: "z", IP: "10.0.0.2"}
	tls := discovery.Instance{ID: "s", Host: "foo", Port: 7002, Secure: true}
	two := discovery.Instance{ID: "t", Host: "bar", Port: 7002, Secure: true, PlainPort: 8001}
	instances := func(vip string) []discovery.Instance {
		return map[string][]discovery.Instance{"plain": {plain}, "tls": {tls}, "both": {plain, tls}, "two": {two}}[vip]
	}
	byIP := func(i discovery.Instance) string { return i.IP }
	for name, tc := range map[string]struct {
		list lb.DiscoveryEnabledServerList
		want string // id@host:port zone
	}{
		"ribbon 83 the instance's port":                        {lb.DiscoveryEnabledServerList{VIPs: []string{"plain"}}, "i@a.b.c:8001 z"},
		"ribbon 83 an overriding port":                         {lb.DiscoveryEnabledServerList{VIPs: []string{"plain"}, Port: 6001}, "i@a.b.c:6001 z"},
		"ribbon 84 a secure one overrides no port without TLS": {lb.DiscoveryEnabledServerList{VIPs: []string{"plain"}, SecurePort: 6002}, "i@a.b.c:8001 z"},
		"ribbon 84 a secure one overrides its like":            {lb.DiscoveryEnabledServerList{VIPs: []string{"tls"}, Port: 6001, SecurePort: 6002}, "s@foo:6002 UNKNOWN"},
		"Q26 without TLS against its word":                     {lb.DiscoveryEnabledServerList{VIPs: []string{"tls"}, Port: 6001, Secure: &no}, "s@foo:6001 UNKNOWN"},
		"Q26 without TLS on its other port":                    {lb.DiscoveryEnabledServerList{VIPs: []string{"two"}, Secure: &no}, "t@bar:8001 UNKNOWN"},
		"with TLS":                                             {lb.DiscoveryEnabledServerList{VIPs: []string{"tls"}, SecurePort: 6002, Secure: &yes}, "s@foo:6002 UNKNOWN"},
		"ribbon 85 88 by address":                              {lb.DiscoveryEnabledServerList{VIPs: []string{"plain"}, Address: byIP}, "i@10.0.0.2:8001 z"},
		"ribbon 85 by name for want of an address":             {lb.DiscoveryEnabledServerList{VIPs: []string{"tls"}, Address: byIP}, "s@foo:7002 UNKNOWN"},
		"ribbon 86 89 a zone from the host":                    {lb.DiscoveryEnabledServerList{VIPs: []string{"both"}, ZoneFromHost: true}, "i@a.b.c:8001 z, s@foo:7002 foo"},
		"ribbon 87 no zone":                                    {lb.DiscoveryEnabledServerList{VIPs: []string{"tls"}}, "s@foo:7002 UNKNOWN"},
		"the first that has an instance":                       {lb.DiscoveryEnabledServerList{VIPs: []string{"none", " plain", "tls"}}, "i@a.b.c:8001 z"},
		"all of them":                                          {lb.DiscoveryEnabledServerList{VIPs: []string{"none", "plain", "tls"}, Union: true}, "i@a.b.c:8001 z, s@foo:7002 UNKNOWN"},
	} {
		t.Run(name, func(t *testing.T) {
			tc.list.Instances = instances
			servers, err := tc.list.Servers(t.Context())
			var got []string
			for _, s := range servers {
				got = append(got, s.ID+"@"+s.HostPort()+" "+s.Zone)
			}
			if strings.Join(got, ", ") != tc.want || err != nil {
				t.Errorf("servers %q, %v; want %q", got, err, tc.want)
			}
			if plain.Port != 8001 || tls.Port != 7002 {
				t.Error("an instance was changed")
			}
		})
	}
}

// C212: who is called by address keeps its name for TLS.
func TestNameOfAServerListedByAddress(t *testing.T) {
	instances := []discovery.Instance{
		{ID: "a", Host: "a.test", IP: "10.0.0.1", Port: 443, Secure: true},
		{ID: "b", Host: "10.0.0.2", IP: "10.0.0.2", Port: 443, Secure: true},
		{ID: "c", Host: "c.test", Port: 443, Secure: true},
	}
	list := &lb.DiscoveryEnabledServerList{
		Instances: func(string) []discovery.Instance { return instances }, VIPs: []string{"users"},
		Address: func(i discovery.Instance) string { return i.IP },
	}
	b := lb.NewBalancer("users", lb.BalancerSettings{List: list})
	if err := b.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{"10.0.0.1:443": "a.test", "10.0.0.2:443": "", "c.test:443": "", "10.0.0.1:80": ""} {
		if got := b.TLSName(address); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

func TestZoneOfHost(t *testing.T) {
	for host, want := range map[string]string{ // ribbon 86 89
		"foo": "foo", "foo.bar": "bar", "hello.world.foo.bar": "world.foo.bar", "myHostName.myzone.mydomain.com": "myzone.mydomain.com",
		"10.0.0.1": "", "::1": "",
	} {
		if got := lb.ZoneOfHost(host); got != want {
			t.Errorf("%s is in zone %q, want %q", host, got, want)
		}
	}
}

// C147 C152: the list toggles between 1, 5 and 0 servers while clients choose, under
// every rule; then it is filled and everybody has a server.
func TestListTogglesWhileClientsChoose(t *testing.T) {
	for _, rule := range lb.RuleNames() {
		t.Run("C147 C152 "+rule, func(t *testing.T) {
			t.Parallel()
			newRule := lb.NewRule(rule, lb.RuleSettings{})
			if rule == "RetryRule" { // waits for a server: not half a second in this test
				newRule = func() lb.Rule { return &lb.Retry{Rule: lb.Random{}, Patience: time.Millisecond} }
			}
			b := lb.NewBalancer("users", lb.BalancerSettings{Class: lb.ZoneAware, NewRule: newRule, SlowStart: time.Millisecond, Outliers: &lb.OutlierPolicy{}})
			var wg sync.WaitGroup
			done := make(chan struct{})
			clients, rounds := 50, 200
			if race.Enabled {
				clients, rounds = 8, 60
			}
			for i := range clients {
				wg.Go(func() {
					for j := 0; ; j++ {
						select {
						case <-done:
							return
						default:
						}
						if s := b.Choose("key", nil); s != nil {
							b.Begin(s, time.Now())
							b.End(s, time.Now(), time.Duration(j), lb.Outcome((i+j)%4))
						}
					}
				})
			}
			for i := range rounds {
				zoned(b, []string{"a:1", "a:3 b:2", ""}[i%3])
			}
			close(done)
			wg.Wait()
			zoned(b, "a:1")
			if s := b.Choose("key", nil); s == nil || s.ID != "a0" {
				t.Errorf("chosen %v", s)
			}
		})
	}
}
