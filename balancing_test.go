package gozer_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/discovery"
	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/lb"
)

// setUp describes the parts of a balancer by their types.
func setUp(g *gozer.Gateway, service string) string {
	s := g.Balancing(service)
	return fmt.Sprintf("%T %T %T %T class=%d", s.NewRule(), s.Ping, s.List, s.Filter, s.Class)
}

func TestPartsOfABalancer(t *testing.T) {
	const java = "com.netflix.loadbalancer."
	for name, tc := range map[string]struct{ yaml, want string }{
		"ribbon 151 152 by default": {
			"users.ribbon.listOfServers: a", "*lb.ZoneAvoidance lb.DummyPing lb.StaticServerList *lb.ZonePreferenceFilter class=1",
		},
		"ribbon 152 without listOfServers": {
			"users.ribbon.ConnectTimeout: 500", "*lb.ZoneAvoidance lb.DummyPing *lb.DiscoveryEnabledServerList *lb.ZonePreferenceFilter class=1",
		},
		"ribbon 152 without discovery": {
			"ribbon.eureka.enabled: false\nusers.ribbon.ConnectTimeout: 500", "*lb.ZoneAvoidance lb.DummyPing lb.StaticServerList *lb.ZonePreferenceFilter class=1",
		},
		"ribbon 151 five class names": {
			"users.ribbon:\n  NFLoadBalancerRuleClassName: " + java + "RandomRule\n  NFLoadBalancerPingClassName: " + java + "PingUrl\n" +
				"  NIWSServerListClassName: com.netflix.niws.loadbalancer.DiscoveryEnabledNIWSServerList\n  listOfServers: a\n" +
				"  NIWSServerListFilterClassName: " + java + "ServerListSubsetFilter\n  NFLoadBalancerClassName: " + java + "DynamicServerListLoadBalancer",
			"lb.Random *lb.PingURL *lb.DiscoveryEnabledServerList *lb.SubsetFilter class=0",
		},
		"short names": {
			"users.ribbon:\n  NFLoadBalancerRuleClassName: BestAvailableRule\n  NFLoadBalancerPingClassName: NIWSDiscoveryPing\n" +
				"  NIWSServerListClassName: ConfigurationBasedServerList\n  NIWSServerListFilterClassName: DefaultNIWSServerListFilter\n" +
				"  NFLoadBalancerClassName: NoOpLoadBalancer\n  ServerListUpdaterClassName: EurekaNotificationServerListUpdater",
			"lb.BestAvailable lb.DiscoveryPing lb.StaticServerList *lb.ZoneAffinityFilter class=2",
		},
		"Q39 for all services": {
			"ribbon.NFLoadBalancerRuleClassName: PeakEwma\nusers.ribbon.listOfServers: a",
			"*lb.PeakEwma lb.DummyPing lb.StaticServerList *lb.ZonePreferenceFilter class=1",
		},
		"zones switched off": {
			"ZoneAwareNIWSDiscoveryLoadBalancer.enabled: false\nusers.ribbon.listOfServers: a",
			"*lb.ZoneAvoidance lb.DummyPing lb.StaticServerList *lb.ZonePreferenceFilter class=0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := setUp(newGateway(t, tc.yaml+"\n"), "users"); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestBalancerSettings(t *testing.T) {
	g := newGateway(t, `
gateway:
  zone: east
  compat.zone-avoidance: true
  load-balancing:
    default.slow-start: 5s
    users: {outliers: {enabled: true, errors-in-a-row: 0, panic-share: 0, max-share: 0.2}, ping-path: /up, ping-body: well, ping-parallel: true}
users.ribbon:
  listOfServers: a
  NFLoadBalancerPingClassName: PingUrl
  NFLoadBalancerPingInterval: 5
  NFLoadBalancerMaxTotalPingTime: 3
  ActiveConnectionsLimit: 7
  EnableZoneAffinity: true
  zoneAffinity.minAvailableServers: 1
  EnablePrimeConnections: true
  PrimeConnectionsURI: /warm
  ServerListRefreshInterval: 4000
niws.loadbalancer:
  users.connectionFailureCountThreshold: 9
  availabilityFilteringRule: {filterCircuitTripped: false, activeConnectionsLimit: 8}
  serverStats.activeRequestsCount.effectiveWindowSeconds: 60
ZoneAwareNIWSDiscoveryLoadBalancer:
  default.triggeringLoadPerServerThreshold: 0.4
  users.avoidZoneWithBlackoutPercetage: 0.5
books.ribbon.listOfServers: b
`)
	type values struct {
		Trip                      int
		KeepTripped               bool
		Limit                     int
		Window, Interval, Timeout time.Duration
		Zones                     lb.ZonePolicy
		SlowStart                 time.Duration
		Parallel                  bool
		Primed                    bool
	}
	of := func(service string) values {
		s := g.Balancing(service)
		_, parallel := s.PingStrategy.(lb.ParallelPing)
		return values{s.Trip.Failures, s.KeepTripped, s.ActiveLimit, s.ActiveWindow, s.PingInterval, s.PingTimeout, s.Zones, s.SlowStart, parallel, s.Prime != nil}
	}
	const s = time.Second
	if diff := cmp.Diff(values{9, true, 7, 60 * s, 5 * s, 3 * s, lb.ZonePolicy{Load: 0.4, Blackout: 0.5, Original: true}, 5 * s, true, true}, of("users")); diff != "" {
		t.Error("users:", diff)
	}
	if diff := cmp.Diff(values{3, true, 8, 60 * s, 30 * s, 2 * s, lb.ZonePolicy{Load: 0.4, Blackout: 0.99999, Original: true}, 5 * s, false, false}, of("books")); diff != "" {
		t.Error("books:", diff)
	}
	users := g.Balancing("users")
	want := &lb.OutlierPolicy{
		ErrorsInARow: -1, ErrorShare: 0.5, MinRequests: 20, Interval: s, BaseTime: 10 * s, MaxTime: 5 * time.Minute, MaxShare: 0.2, PanicShare: -1,
	}
	if diff := cmp.Diff(want, users.Outliers); diff != "" {
		t.Error("outliers:", diff)
	}
	filter := &lb.ZonePreferenceFilter{ZoneAffinityFilter: lb.ZoneAffinityFilter{Zone: "east", Affinity: true, MaxLoad: 0.6, MaxBlackout: 0.8, MinAvailable: 1}}
	if diff := cmp.Diff(lb.ListFilter(filter), users.Filter); diff != "" {
		t.Error("filter:", diff)
	}
	if diff := cmp.Diff(lb.ListUpdater(lb.PollingUpdater{Delay: 4 * s, Interval: 4 * s}), users.Updater); diff != "" {
		t.Error("updater:", diff)
	}
	if ping, ok := users.Ping.(*lb.PingURL); !ok || ping.Path != "/up" || ping.Expected != "well" {
		t.Errorf("ping %+v", users.Ping)
	}
	if g.Balancing("books").Outliers != nil {
		t.Error("books has outliers")
	}
}

// What is 0 in the configuration is not the default of package lb.
func TestZeroIsNotTheDefault(t *testing.T) {
	s := newGateway(t, `
gateway:
  zone: east
  load-balancing.users.outliers: {enabled: true, error-share: 0, max-share: 0, latency-factor: 0}
users.ribbon:
  listOfServers: a
  EnablePrimeConnections: true
  MinPrimeConnectionsRatio: 0
  MaxRetriesPerServerPrimeConnection: 0
  zoneAffinity: {maxLoadPerServer: 0, maxBlackOutServesrPercentage: 0, minAvailableServers: 0}
ZoneAwareNIWSDiscoveryLoadBalancer.users: {triggeringLoadPerServerThreshold: 0, avoidZoneWithBlackoutPercetage: 0}
`).Balancing("users")
	if o := s.Outliers; o.ErrorShare <= 1 || o.MaxShare >= 0 {
		t.Errorf("outliers: error share %g, at most %g", o.ErrorShare, o.MaxShare)
	}
	if p := s.Prime; p.MinRatio >= 0 || p.Retries >= 0 {
		t.Errorf("priming: ratio %g, %d retries", p.MinRatio, p.Retries)
	}
	if z := s.Zones; z.Load >= 0 || z.Blackout >= 0 {
		t.Errorf("zones: load %g, blackout %g", z.Load, z.Blackout)
	}
	if f := s.Filter.(*lb.ZonePreferenceFilter); f.MaxLoad >= 0 || f.MaxBlackout >= 0 || f.MinAvailable >= 0 {
		t.Errorf("affinity: %+v", f)
	}
}

func TestUnknownClassNames(t *testing.T) {
	yaml := `users.ribbon:
  listOfServers: a
  NFLoadBalancerRuleClassName: com.netflix.loadbalancer.RandmRule
  NFLoadBalancerPingClassName: PingUri
  NIWSServerListClassName: com.example.Custom$List
  NIWSServerListFilterClassName: ZoneAfinityServerListFilter
  NFLoadBalancerClassName: com.example.Balancer
  ServerListUpdaterClassName: PolingServerListUpdater
gateway.retry.users.handler: htpp
`
	cfg := parse(t, yaml)
	report := &config.Report{}
	gozer.Validate(cfg, report)
	for _, want := range []string{
		`gateway.yaml:3: error: users.ribbon.NFLoadBalancerRuleClassName: "com.netflix.loadbalancer.RandmRule" is not known; did you mean RandomRule?`,
		`gateway.yaml:4: error: users.ribbon.NFLoadBalancerPingClassName: "PingUri" is not known; did you mean PingUrl?`,
		`gateway.yaml:5: error: users.ribbon.NIWSServerListClassName: "com.example.Custom$List" is not known; there are ConfigurationBasedServerList,`,
		`gateway.yaml:6: error: users.ribbon.NIWSServerListFilterClassName: "ZoneAfinityServerListFilter" is not known; did you mean ZoneAffinityServerListFilter?`,
		`gateway.yaml:7: error: users.ribbon.NFLoadBalancerClassName: "com.example.Balancer" is not known; there are ZoneAwareLoadBalancer,`,
		`gateway.yaml:8: error: users.ribbon.ServerListUpdaterClassName: "PolingServerListUpdater" is not known; did you mean PollingServerListUpdater?`,
		`gateway.yaml:9: error: gateway.retry.users.handler: "htpp" is not known; did you mean http?`,
	} {
		if !strings.Contains(report.String(), want) {
			t.Errorf("no finding %q in\n%s", want, report)
		}
	}
}

func TestUnknownClassNameForAllServices(t *testing.T) {
	report := &config.Report{}
	gozer.Validate(parse(t, "ribbon.NFLoadBalancerRuleClassName: Nothing\n"), report)
	if !strings.Contains(report.String(), `gateway.yaml:1: error: ribbon.NFLoadBalancerRuleClassName: "Nothing" is not known; there are RandomRule,`) {
		t.Error(report)
	}
}

func TestPartsGivenInGo(t *testing.T) {
	last := lb.RuleFunc(func(_ any, servers []*lb.Server) *lb.Server { return servers[len(servers)-1] })
	without := listFilter(func(servers []*lb.Server) []*lb.Server { return servers[:len(servers)-1] })
	g := newGateway(t, `
zuul.routes.users: /users/**
users.ribbon: {listOfServers: "a:1,b:1,c:1", NFLoadBalancerRuleClassName: com.example.Last, NIWSServerListFilterClassName: WithoutLast, NFLoadBalancerPingClassName: Mine}
`,
		gozer.WithRule("Last", func() lb.Rule { return last }),
		gozer.WithListFilter("WithoutLast", func() lb.ListFilter { return without }),
		gozer.WithPing("Mine", lb.PingConstant(true)))
	g.SetTransport("users", answerWith(func(r *http.Request) string { return r.URL.Host }))
	for range 3 {
		wantAnswer(t, get(t, g, "/users/x"), http.StatusOK, "b:1")
	}
	if g.Balancing("users").Ping != lb.PingConstant(true) {
		t.Errorf("ping %v", g.Balancing("users").Ping)
	}
}

// A service whose list is given in Go is not said to have no servers.
func TestNoWarningOfAListGivenInGo(t *testing.T) {
	mine := gozer.WithServerList("Mine", func(string) lb.ServerList { return lb.StaticServerList{{Host: "a", Port: 1}} })
	for class, warns := range map[string]bool{"com.example.Mine": false, "com.netflix.loadbalancer.ConfigurationBasedServerList": true} {
		cfg, report := config.Parse("gateway.yaml", []byte("zuul.routes.users: /users/**\nusers.ribbon.NIWSServerListClassName: "+class), config.Options{})
		gozer.Validate(cfg, report, mine)
		if got := strings.Contains(report.String(), "no static servers"); got != warns || report.Err() != nil {
			t.Errorf("%s: %s", class, report)
		}
	}
}

func TestServerListGivenInGo(t *testing.T) {
	g := newGateway(t, `
zuul.routes.users: /users/**
ribbon: {NIWSServerListClassName: com.example.Mine, ServerListRefreshInterval: 5000}
`, gozer.WithServerList("Mine", func(service string) lb.ServerList {
		if service != "users" {
			t.Errorf("a list for %q", service)
		}
		return lb.StaticServerList{{Host: "a", Port: 1}}
	}))
	g.SetTransport("users", answerWith(func(r *http.Request) string { return r.URL.Host }))
	wantAnswer(t, get(t, g, "/users/x"), http.StatusOK, "a:1")
	if diff := cmp.Diff(lb.ListUpdater(lb.PollingUpdater{Delay: 5 * time.Second, Interval: 5 * time.Second}), g.Balancing("users").Updater); diff != "" {
		t.Error("updater:", diff)
	}
}

// onlyResets is a handler that gives a broken connection another attempt, and a refused one none.
type onlyResets struct{ lb.DefaultRetryHandler }

func (onlyResets) Retriable(f *lb.Failure, _ bool) bool { return !f.Unsent }

func TestRetryHandlerGivenInGo(t *testing.T) {
	g := newGateway(t, `
zuul.routes: {users: /users/**, orders: /orders/**}
users.ribbon.listOfServers: a:1,b:1
orders.ribbon.listOfServers: a:1,b:1
gateway.retry.users.handler: com.example.OnlyResets
`, gozer.WithRetryHandler("OnlyResets", onlyResets{}))
	for service, want := range map[string]int{"users": 1, "orders": 2} {
		attempts := 0
		g.SetTransport(service, roundTrip(func(*http.Request) (*http.Response, error) {
			attempts++
			return nil, lb.NotSent(syscall.ECONNREFUSED)
		}))
		get(t, g, "/"+service+"/x")
		if attempts != want {
			t.Errorf("%s: %d attempts, want %d", service, attempts, want)
		}
	}
}

type listFilter func([]*lb.Server) []*lb.Server

func (f listFilter) Filter(servers []*lb.Server, _ lb.Health, _ bool) []*lb.Server { return f(servers) }

func TestHashOn(t *testing.T) {
	for source, vary := range map[string]func(i int) (target string, headers []string){
		"header:X-User": func(i int) (string, []string) { return "/users/x", []string{"X-User", strconv.Itoa(i)} },
		"cookie:session": func(i int) (string, []string) {
			return "/users/x", []string{"Cookie", fmt.Sprintf("a=b; session=%d", i)}
		},
		"path": func(i int) (string, []string) { return fmt.Sprintf("/users/%d?q=%d", i, i), nil },
		"address": func(i int) (string, []string) {
			return "/users/x", []string{"X-Forwarded-For", fmt.Sprintf("6.6.6.6, 10.0.0.%d", i)}
		},
	} {
		t.Run(source, func(t *testing.T) {
			g := newGateway(t, fmt.Sprintf(`
zuul.routes.users: /users/**
server.forward-headers.trusted-proxies: 192.0.2.0/24
gateway.load-balancing.users.hash-on: %q
users.ribbon: {listOfServers: "a:1,b:1,c:1,d:1", NFLoadBalancerRuleClassName: ConsistentHash}
`, source))
			g.SetTransport("users", answerWith(func(r *http.Request) string { return r.URL.Host }))
			hosts := map[string]int{}
			for i := range 20 {
				target, headers := vary(i)
				first := ask(t, g, http.MethodGet, target, headers...).Body.String()
				hosts[first]++
				for range 3 {
					wantAnswer(t, ask(t, g, http.MethodGet, target, headers...), http.StatusOK, first)
				}
			}
			if len(hosts) < 3 {
				t.Errorf("twenty keys met only %v", hosts)
			}
		})
	}
}

// A reload that says the same leaves the rotation where it was.
func TestReloadKeepsTheRotation(t *testing.T) {
	const yaml = "zuul.routes.users: /users/**\nusers.ribbon.listOfServers: a:1,b:1\n"
	g := newGateway(t, yaml)
	answer := answerWith(func(r *http.Request) string { return r.URL.Host })
	for _, want := range []string{"a:1", "b:1", "a:1", "b:1"} {
		if err := g.Reload(parse(t, yaml)); err != nil {
			t.Fatal(err)
		}
		g.SetTransport("users", answer)
		wantAnswer(t, get(t, g, "/users/x"), http.StatusOK, want)
	}
}

func TestPingsOfARunningGateway(t *testing.T) {
	good, bad := backendtest.Start(t, says("good")), backendtest.Start(t, backendtest.Answer(http.StatusInternalServerError, "bad"))
	log, lines := messages(100)
	g, err := gozer.New(parse(t, fmt.Sprintf(patient+`
server: {port: 0, address: 127.0.0.1}
management.server.port: -1
zuul.routes.users: /users/**
users.ribbon: {listOfServers: "%s,%s", NFLoadBalancerPingClassName: PingUrl, NFLoadBalancerPingInterval: 50ms, NFLoadBalancerMaxTotalPingTime: 60}
`, good.Addr, bad.Addr)), gozer.WithLogger(log))
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, g)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for found := false; !found; {
		select {
		case line := <-lines:
			found = strings.Contains(line, "server="+bad.Addr+" alive=false")
		case <-ctx.Done():
			t.Fatal("the bad server was not found dead")
		}
	}
	for range 4 {
		wantAnswer(t, get(t, g, "/users/x"), http.StatusOK, "good")
	}
	r.stop()
	if err := <-r.done; err != nil {
		t.Error(err)
	}
}

// C155 through the whole gateway: the servers of its own zone refuse, then are back.
func TestDeadZoneOfTheGateway(t *testing.T) {
	for _, affinity := range []string{"", "ribbon.EnableZoneAffinity: true\n"} {
		t.Run("C155 "+affinity, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				instance := func(host, zone string) discovery.Instance {
					return discovery.Instance{Service: "users", Host: host, Port: 80, Zone: zone}
				}
				d := discover(t, "gateway.zone: Z1\n"+affinity, discovery.Update{"users": {
					instance("a1", "z1"), instance("a2", "z1"), instance("b1", "z2"), instance("b2", "z2"),
				}})
				defer d.end(t)
				dead, refused := true, 0
				d.SetTransport("users", roundTrip(func(r *http.Request) (*http.Response, error) {
					if dead && strings.HasPrefix(r.URL.Host, "a") {
						refused++
						return nil, lb.NotSent(syscall.ECONNREFUSED)
					}
					return answerWith(func(r *http.Request) string { return r.URL.Host[:1] }).RoundTrip(r)
				}))
				for range 30 {
					wantAnswer(t, get(t, d.Gateway, "/users/x"), http.StatusOK, "b")
				}
				if refused != 6 {
					t.Errorf("%d refused attempts, want 6: three for each server to trip", refused)
				}
				dead = false
				<-time.After(10 * time.Second) // the blackout
				for range 10 {
					wantAnswer(t, get(t, d.Gateway, "/users/x"), http.StatusOK, "a")
				}
			})
		})
	}
}
