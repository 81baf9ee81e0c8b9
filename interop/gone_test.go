package interop_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/discovery/eureka"
	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// The second table of timings of docs/discovery.md: how long a gateway goes on listing an
// instance that was shut down, and one that was killed; and no request fails meanwhile.
func TestHowLongUntilAnInstanceIsGone(t *testing.T) {
	for name, row := range map[string]struct {
		registry func(t *testing.T) string
		push     bool
	}{
		"Spring's registry, polled": {javaServer, false},
		"our registry, polled":      {ourRegistry, false},
		"our registry, pushed":      {ourRegistry, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := row.registry(t)
			leaving, dying := startInstance(t, root, "leaving"), startInstance(t, root, "dying")
			startInstance(t, root, "leaving")
			startInstance(t, root, "dying")
			g := startGone(t, root, row.push)
			for _, service := range []string{"leaving", "dying"} {
				eventually(t, "both instances are listed", func() bool { return g.listed(t, service) == 2 })
				g.load(t, service)
			}
			var measuring sync.WaitGroup
			measuring.Go(func() {
				leaving.leave(t)
				t.Logf("shut down: %.1f s", eventually(t, "the gateway has heard of the one that left", func() bool { return g.listed(t, "leaving") == 1 }).Seconds())
			})
			measuring.Go(func() {
				dying.die()
				t.Logf("killed: %.1f s", eventually(t, "the gateway has heard of the one that died", func() bool { return g.listed(t, "dying") == 1 }).Seconds())
			})
			measuring.Wait()
			if failed, sent := g.failed.Load(), g.sent.Load(); failed > 0 || sent < 100 {
				t.Errorf("%d of %d requests failed", failed, sent)
			}
		})
	}
}

// instance is a server that keeps itself registered with a lease of 9 s.
type instance struct {
	*backendtest.Backend
	registrar *eureka.Registrar
	stop      func() // renewing
}

func startInstance(t *testing.T, root, app string) *instance {
	t.Helper()
	b := backendtest.Start(t, backendtest.Answer(http.StatusOK, "served"))
	host, port, _ := net.SplitHostPort(b.Addr)
	number, _ := strconv.Atoi(port)
	registrar, err := eureka.NewRegistrar(eureka.RegistrarSettings{Servers: at(root), Instance: &eureka.Instance{
		ID: b.Addr, App: app, HostName: host, IPAddr: host, VIPAddress: app, Status: eureka.Up, CountryID: 1,
		Port: eureka.Port{Number: number, Enabled: true}, DataCenter: eureka.DataCenter{Name: eureka.MyOwn},
		Lease: eureka.Lease{RenewalInterval: 3 * time.Second, Duration: 9 * time.Second},
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = registrar.Run(ctx) }()
	i := &instance{b, registrar, func() { cancel(); <-ended }}
	t.Cleanup(i.stop)
	return i
}

// leave is an orderly end: goodbye first.
func (i *instance) leave(t *testing.T) {
	t.Helper()
	i.stop()
	if err := i.registrar.Cancel(t.Context()); err != nil {
		t.Error(err)
	}
	i.Kill()
}

// die is the end of a killed process.
func (i *instance) die() {
	i.Crash()
	i.stop()
}

// gone is a gateway that polls every 5 s, under load.
type gone struct {
	*gozer.Gateway
	sent, failed atomic.Int64
}

func startGone(t *testing.T, root string, push bool) *gone {
	t.Helper()
	cfg, report := config.Parse("gateway.yaml", []byte(`
server: {port: 0, address: 127.0.0.1}
management.server.port: -1
ribbon: {ConnectTimeout: 20000, ReadTimeout: 20000}
zuul.retryable: true
eureka.client:
  service-url.defaultZone: "`+root+`"
  registry-fetch-interval-seconds: 5
  register-with-eureka: false
  push.enabled: `+strconv.FormatBool(push)+`
`), config.Options{})
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	g, err := gozer.New(cfg, gozer.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	run(t, g)
	return &gone{Gateway: g}
}

// listed counts the servers of a service.
func (g *gone) listed(t *testing.T, service string) int {
	t.Helper()
	answer := httptest.NewRecorder()
	g.Management().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/actuator/servers/"+service, http.NoBody))
	var seen struct{ Servers []json.RawMessage }
	_ = json.Unmarshal(answer.Body.Bytes(), &seen) // what is no list has no servers
	return len(seen.Servers)
}

// load sends requests to a service one after the other until the end of the test.
func (g *gone) load(t *testing.T, service string) {
	t.Helper()
	proxy := httptest.NewServer(g)
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for tick := time.NewTicker(5 * time.Millisecond); ; {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			if g.sent.Add(1); fetch(proxy.URL+"/"+service+"/x") != "served" {
				g.failed.Add(1)
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-ended; proxy.Close() })
}
