package interop_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/discovery"
	"github.com/gozer-gateway/gozer/discovery/eureka"
	"github.com/gozer-gateway/gozer/registry"
)

// registries are the real server and ours; what holds for one has to hold for the other.
func registries() map[string]func(t *testing.T) (root string) {
	return map[string]func(t *testing.T) string{"Spring's registry": javaServer, "our registry": ourRegistry}
}

// ourRegistry runs our registry with the intervals of javaServer.
func ourRegistry(t *testing.T) string {
	t.Helper()
	return ourRegistryAt(t, 0)
}

func ourRegistryAt(t *testing.T, port int, peers ...string) string {
	t.Helper()
	need(t)
	s := registry.DefaultSettings()
	s.Cache.UpdateInterval, s.Leases.EvictionInterval, s.Leases.SelfPreservation = time.Second, time.Second, false
	s.Logger, s.Peers, s.Self.Port = slog.New(slog.DiscardHandler), peers, port
	r, err := registry.New(s)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); r.Run(ctx) }()
	var listening net.ListenConfig
	l, err := listening.Listen(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: r.Handler(), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Close()
		cancel()
		<-ended
	})
	return "http://" + l.Addr().String() + "/eureka/"
}

func at(root string) eureka.ServerSettings {
	return eureka.ServerSettings{
		ServiceURLs: map[string][]string{eureka.DefaultZone: {root}}, Logger: slog.New(slog.DiscardHandler),
	}
}

// follow runs our client until the end of the test.
func follow(t *testing.T, root string, change ...func(*eureka.ClientSettings)) *eureka.Client {
	t.Helper()
	s := eureka.ClientSettings{Servers: at(root), FetchInterval: time.Second}
	for _, f := range change {
		f(&s)
	}
	c, err := eureka.NewClient(s)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	updates, ended := make(chan discovery.Update), make(chan struct{})
	go func() { defer close(ended); _ = c.Run(ctx, updates) }()
	go func() {
		for {
			select {
			case <-updates:
			case <-ended:
				return
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return c
}

func ids(instances []*eureka.Instance) (all []string) {
	for _, i := range instances {
		all = append(all, i.ID)
	}
	slices.Sort(all)
	return all
}

// Our client lives through the life of an instance in a real registry, in both forms of
// the lists, and our registrar is believed by it.
func TestOurClient(t *testing.T) {
	for name, start := range registries() {
		t.Run(name, func(t *testing.T) {
			root := start(t)
			full := follow(t, root)
			compact := follow(t, root, func(s *eureka.ClientSettings) { s.Servers.Compact, s.DisableDelta = true, true })
			own := &eureka.Instance{
				ID: "host name:gw/é#1:80", App: "GATEWAY", HostName: "gw.test", IPAddr: "192.0.2.7", VIPAddress: "gateway", Status: eureka.Up, CountryID: 1,
				Port: eureka.Port{Number: 80, Enabled: true}, DataCenter: eureka.DataCenter{Name: eureka.MyOwn},
				Lease:    eureka.Lease{RenewalInterval: time.Second, Duration: 3 * time.Second},
				Metadata: map[string]string{"zone": "rack-g", "a_b": "<&\">", "we$ird": "é😀"},
			}
			if name != "our registry" {
				own.ID = "host:gw:80" // Tomcat refuses an encoded slash
			}
			registrar, err := eureka.NewRegistrar(eureka.RegistrarSettings{Servers: at(root), Instance: own})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() { defer close(ended); _ = registrar.Run(ctx) }()
			t.Cleanup(func() { cancel(); <-ended })
			seen := func(c *eureka.Client, want ...string) func() bool {
				return func() bool { return cmp.Equal(want, ids(c.View().Application("gateway"))) }
			}

			eventually(t, "the registration is seen", seen(full, own.ID))
			eventually(t, "the registration is seen in the compact form", seen(compact, own.ID))
			got := full.View().Instance("GATEWAY", own.ID)
			if diff := cmp.Diff(own.Metadata, got.Metadata); diff != "" {
				t.Error("metadata:", diff)
			}
			if !got.Lease.Given() || got.Lease.Duration != 3*time.Second || got.Lease.ServiceUp.IsZero() {
				t.Errorf("lease %+v", got.Lease)
			}
			stays := time.NewTimer(8 * time.Second) // more than the lease, so heartbeats count
			<-stays.C
			if !seen(full, own.ID)() {
				t.Error("the lease has expired in spite of heartbeats")
			}
			registrar.AddMetadata(map[string]string{"more": "1"})
			registrar.Replicate()
			eventually(t, "changed metadata is seen", func() bool {
				i := full.View().Instance("GATEWAY", own.ID)
				return i != nil && i.Metadata["more"] == "1"
			})
			if err := registrar.OutOfService(t.Context()); err != nil {
				t.Error(err)
			}
			eventually(t, "out of service is seen", func() bool {
				i := full.View().Instance("GATEWAY", own.ID)
				return i != nil && i.Status == eureka.OutOfService && seen(full)()
			})
			if err := registrar.ClearOverride(t.Context(), eureka.Up); err != nil {
				t.Error(err)
			}
			eventually(t, "the override is gone", seen(full, own.ID))
			cancel()
			<-ended
			if err := registrar.Cancel(t.Context()); err != nil {
				t.Error(err)
			}
			eventually(t, "the cancellation is seen", func() bool { return full.View().Instance("GATEWAY", own.ID) == nil })
			if full.State().Pushing != (name == "our registry") {
				t.Errorf("pushed to: %v", full.State().Pushing)
			}
		})
	}
}

// A Spring service registers in our registry, sees others, renews, and leaves in both
// manners.
func TestSpringServiceInOurRegistry(t *testing.T) {
	need(t, clientJar)
	root := ourRegistry(t)
	ours := follow(t, root)
	one, base := javaService(t, "java-1", root)
	eventually(t, "we see the Spring service", func() bool { return cmp.Equal([]string{"java-1"}, ids(ours.View().Application("users"))) })
	if got := ours.View().Instance("USERS", "java-1"); got.Metadata["zone"] != "rack-j" || got.Metadata["management.port"] == "" || got.HealthCheckURL == "" {
		t.Errorf("registered as %+v", got)
	}
	two, _ := javaService(t, "java-2", root)
	eventually(t, "the Spring service sees both", func() bool {
		return fetch(base+"services/users") == `["java-1","java-2"]` || fetch(base+"services/users") == `["java-2","java-1"]`
	})
	two.stop()
	orderly := eventually(t, "the orderly end is seen", func() bool { return cmp.Equal([]string{"java-1"}, ids(ours.View().Application("users"))) })
	eventually(t, "the other Spring service sees it too", func() bool { return fetch(base+"services/users") == `["java-1"]` })
	one.kill()
	killed := eventually(t, "the lease of a killed one expires", func() bool { return len(ours.View().Application("users")) == 0 })
	t.Logf("gone from our client's list %v after an orderly end, %v after a kill with a lease of 3 s", orderly, killed)
}

// Our registry and Spring's are peers: what is registered at one, renewed there and
// cancelled, is so at the other.
func TestPeers(t *testing.T) {
	need(t, serverJar)
	ourPort := free(t)
	theirPort := free(t, ourPort)
	theirs := javaServerAt(t, theirPort, "--eureka.client.service-url.defaultZone=http://127.0.0.1:"+strconv.Itoa(ourPort)+"/eureka/", "--eureka.instance.hostname=java.test")
	ours := ourRegistryAt(t, ourPort, theirs)
	roots := []string{ours, theirs}
	for i, name := range []string{"ours to theirs", "theirs to ours"} {
		t.Run(name, func(t *testing.T) {
			own := &eureka.Instance{
				ID: "p-1", App: "PEER" + strconv.Itoa(i), HostName: "p.test", IPAddr: "192.0.2.8", Status: eureka.Up, CountryID: 1,
				Port: eureka.Port{Number: 80, Enabled: true}, DataCenter: eureka.DataCenter{Name: eureka.MyOwn},
				Lease: eureka.Lease{RenewalInterval: time.Second, Duration: 3 * time.Second}, Metadata: map[string]string{"a_b": "<&>"},
			}
			registrar, err := eureka.NewRegistrar(eureka.RegistrarSettings{Servers: at(roots[i]), Instance: own})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() { defer close(ended); _ = registrar.Run(ctx) }()
			t.Cleanup(func() { cancel(); <-ended })
			there := follow(t, roots[1-i])
			seen := func(status eureka.Status) func() bool {
				return func() bool {
					got := there.View().Instance(own.App, own.ID)
					return got != nil && got.Status == status && cmp.Equal(own.Metadata, got.Metadata)
				}
			}
			eventually(t, "the registration is replicated", seen(eureka.Up))
			stays := time.NewTimer(8 * time.Second)
			<-stays.C
			if !seen(eureka.Up)() {
				t.Error("heartbeats are not replicated")
			}
			if err := registrar.OutOfService(t.Context()); err != nil {
				t.Error(err)
			}
			eventually(t, "the override is replicated", seen(eureka.OutOfService))
			cancel()
			<-ended
			if err := registrar.Cancel(t.Context()); err != nil {
				t.Error(err)
			}
			eventually(t, "the cancellation is replicated", func() bool { return there.View().Instance(own.App, own.ID) == nil })
		})
	}
}

func TestNpmClientInOurRegistry(t *testing.T) {
	need(t, npmClient)
	root := ourRegistry(t)
	host, port, _ := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(root, "http://"), "/eureka/"))
	for _, path := range []string{"/eureka/apps/", "/eureka/v2/apps/"} {
		ours := follow(t, root)
		node := start(t, "node", "node/client.js", host, port, path)
		eventually(t, "we see the npm client", func() bool { return cmp.Equal([]string{"node-1"}, ids(ours.View().Application("cart"))) })
		if got := ours.View().Application("cart")[0]; got.Port != (eureka.Port{Number: 4711, Enabled: true}) {
			t.Errorf("registered as %+v", got)
		}
		eventually(t, "the npm client sees itself", func() bool {
			var found map[string][]string
			return json.Unmarshal([]byte(node.last()), &found) == nil && cmp.Equal([]string{"node-1"}, found["CART"])
		})
		node.stop()
		eventually(t, "its end is seen", func() bool { return len(ours.View().Application("cart")) == 0 })
	}
}

// The gateway routes to a Spring service that it finds in either registry, and is found
// there itself.
func TestGatewayRoutesToSpring(t *testing.T) {
	for name, startRegistry := range registries() {
		t.Run(name, func(t *testing.T) {
			need(t, clientJar)
			root := startRegistry(t)
			service, base := javaService(t, "java-1", root)
			proxy := gateway(t, root)
			eventually(t, "the route answers", func() bool { return fetch(proxy+"users/hello") == "hello from java-1" })
			eventually(t, "the Spring service sees the gateway", func() bool { return strings.Contains(fetch(base+"services"), `"gateway"`) })
			second, _ := javaService(t, "java-2", root)
			eventually(t, "both answer", func() bool { return fetch(proxy+"users/hello") == "hello from java-2" })
			second.stop()
			service.kill()
			eventually(t, "none answers", func() bool { return fetch(proxy+"users/hello") == "" })
		})
	}
}

// gateway runs a gateway that knows a registry, until the end of the test.
func gateway(t *testing.T, root string) (base string) {
	t.Helper()
	cfg, report := config.Parse("gateway.yaml", []byte(`
server: {port: 0, address: 127.0.0.1}
management.server.port: -1
spring.application.name: gateway
eureka:
  client: {service-url.defaultZone: "`+root+`", registry-fetch-interval-seconds: 1}
  instance: {hostname: 127.0.0.1, lease-renewal-interval-in-seconds: 1, lease-expiration-duration-in-seconds: 3}
`), config.Options{})
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	listening := make(chan net.Addr, 1)
	g, err := gozer.New(cfg, gozer.WithLogger(slog.New(slog.DiscardHandler)), gozer.WithListen(func(ctx context.Context, address string) (net.Listener, error) {
		var plain net.ListenConfig
		l, err := plain.Listen(ctx, "tcp", address)
		if err == nil {
			listening <- l.Addr()
		}
		return l, err
	}))
	if err != nil {
		t.Fatal(err)
	}
	run(t, g)
	return "http://" + (<-listening).String() + "/"
}

// run runs a gateway until the end of the test.
func run(t *testing.T, g *gozer.Gateway) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
