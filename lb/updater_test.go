package lb_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/discovery"
	"github.com/gozer-gateway/gozer/discovery/static"
	"github.com/gozer-gateway/gozer/lb"
)

func TestServersFrom(t *testing.T) {
	instances := []discovery.Instance{
		{ID: "one", Service: "users", Host: "::1", Port: 9001, Secure: true, Zone: "z1", Metadata: map[string]string{"v": "2"}},
		{Service: "users", Host: "[::1]", Port: 9002},
		{ID: "bad host", Service: "users", Host: "[evil.test]", Port: 80},
		{ID: "bad port", Service: "users", Host: "h", Port: 0},
		{ID: "no host", Service: "users", Port: 80},
		{Service: "users", Host: "10.0.0.1", Port: 80, Scheme: "http"},
	}
	servers, err := lb.ServersFrom(instances)
	var got []string
	for _, s := range servers {
		got = append(got, s.String()+" "+s.HostPort()+" "+s.Zone)
	}
	t.Run("C153 the good ones stand", func(t *testing.T) {
		want(t, got, "one [::1]:9001 z1", "[::1]:9002 [::1]:9002 UNKNOWN", "10.0.0.1:80 10.0.0.1:80 UNKNOWN")
		if !servers[0].Secure || servers[0].Metadata["v"] != "2" || servers[2].Scheme != "http" {
			t.Errorf("%+v", servers)
		}
	})
	t.Run("C153 the bad ones are named", func(t *testing.T) {
		for _, id := range []string{"bad host", "bad port", "no host"} {
			if err == nil || !strings.Contains(err.Error(), `"`+id+`"`) {
				t.Errorf("%s is not in %v", id, err)
			}
		}
	})
}

func TestInstancesAndBack(t *testing.T) {
	servers, err := lb.ParseServers("http://a:443, https://b, [::1]:81")
	if err != nil {
		t.Fatal(err)
	}
	back, err := lb.ServersFrom(lb.Instances("users", servers))
	if err != nil {
		t.Fatal(err)
	}
	describe := func(all []lb.Server) (lines []string) {
		for _, s := range all {
			lines = append(lines, s.ID+" "+s.Scheme+" "+s.HostPort()+" "+s.Zone)
		}
		return lines
	}
	if diff := cmp.Diff(describe(servers), describe(back)); diff != "" {
		t.Error(diff)
	}
}

func ids(b *lb.Balancer) (all []string) {
	for _, s := range b.Servers() {
		all = append(all, s.ID)
	}
	return all
}

func TestUpdater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := func(service string, ports ...int) (instances []discovery.Instance) {
			for _, p := range ports {
				instances = append(instances, discovery.Instance{Service: service, Host: "h", Port: p})
			}
			return instances
		}
		source := static.New(discovery.Update{"users": at("users", 1, 2), "orders": at("orders", 3)})
		var logged bytes.Buffer
		log := slog.New(slog.NewTextHandler(&logged, nil))
		hub := discovery.NewHub(log, source)
		updater := lb.NewUpdater(hub, log)
		users := lb.NewBalancer("users", lb.BalancerSettings{})
		updater.Follow(users)
		want(t, ids(users))

		go func() { _ = hub.Run(t.Context()) }()
		go func() { _ = updater.Run(t.Context()) }()
		synctest.Wait()
		want(t, ids(users), "h:1", "h:2")

		orders := lb.NewBalancer("orders", lb.BalancerSettings{})
		updater.Follow(orders) // is filled before Follow returns
		want(t, ids(orders), "h:3")

		source.Replace(discovery.Update{"users": at("users", 2, 4, 0)})
		synctest.Wait()
		want(t, ids(users), "h:2", "h:4")
		want(t, ids(orders))
		if text := logged.String(); !strings.Contains(text, "service=users") || !strings.Contains(text, "port 0") {
			t.Errorf("the instance left out is not in the log: %q", text)
		}
	})
}
