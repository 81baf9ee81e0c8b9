package e2e_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/discovery/eureka"
	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// small is the small installation of docs/discovery.md, faster.
const small = `
eureka.server:
  use-read-only-response-cache: false
  exact-lease-expiry: true
  enable-self-preservation: false
  eviction-interval-timer-in-ms: 500ms
`

// startRegistry runs "gateway registry" as small says, and returns its service URL.
func startRegistry(tb testing.TB) (g *gateway, url string) {
	tb.Helper()
	g = lone().launch(tb)
	address := g.Log.address(tb, "registry", g.ended)
	return g, "http://" + address + "/eureka/"
}

// user is an instance of the service users that keeps itself registered.
type user struct {
	*backendtest.Backend
	registrar *eureka.Registrar
	stop      func() // renewing
}

func startUser(t *testing.T, url string) *user {
	t.Helper()
	b := backendtest.Start(t, identify())
	host, port, _ := net.SplitHostPort(b.Addr)
	number, _ := strconv.Atoi(port)
	r, err := eureka.NewRegistrar(eureka.RegistrarSettings{
		Servers: eureka.ServerSettings{ServiceURLs: map[string][]string{eureka.DefaultZone: {url}}, Logger: slog.New(slog.DiscardHandler)},
		Instance: &eureka.Instance{
			ID: b.Addr, App: "USERS", HostName: host, IPAddr: host, VIPAddress: "users", Status: eureka.Up,
			Port: eureka.Port{Number: number, Enabled: true}, DataCenter: eureka.DataCenter{Name: eureka.MyOwn},
			Lease: eureka.Lease{RenewalInterval: time.Second, Duration: 6 * time.Second},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = r.Run(ctx) }()
	u := &user{b, r, func() { cancel(); <-ended }}
	t.Cleanup(u.stop)
	return u
}

// leave is an orderly end: the registry is told, and what is under way is finished.
// Whoever has not heard is refused.
func (u *user) leave(t *testing.T) {
	t.Helper()
	if err := u.registrar.OutOfService(t.Context()); err != nil {
		t.Error(err)
	}
	u.stop()
	if err := u.registrar.Cancel(t.Context()); err != nil {
		t.Error(err)
	}
	u.Kill()
}

// die is the end of a killed process: nobody is told, and answers are cut off.
func (u *user) die(*testing.T) {
	u.Crash()
	u.stop()
}

// What docs/discovery.md says: while an instance goes, orderly or killed, and is still
// listed, no request that may be repeated fails, pushed or polled.
func TestNoRequestFailsWhileAnInstanceGoes(t *testing.T) {
	for mode, push := range map[string]bool{"pushed": true, "polled": false} {
		for way, end := range map[string]func(*user, *testing.T){"shut down": (*user).leave, "killed": (*user).die} {
			t.Run(mode+", "+way, func(t *testing.T) {
				t.Parallel()
				_, url := startRegistry(t)
				going, staying := startUser(t, url), startUser(t, url)
				g := startGateway(t, fmt.Sprintf(`
zuul.retryable: true
eureka.client: {service-url.defaultZone: "%s", register-with-eureka: false, registry-fetch-interval-seconds: 1, push.enabled: %t}
`, url, push))
				eventually(t, "both instances are known", func() bool { return len(g.servers("users")) == 2 })
				l := startLoad(t, g.URL("/users/x"), http.MethodGet)
				l.Reaches(going.Backend, 100)
				began := time.Now()
				end(going, t)
				eventually(t, "the gateway has heard of it", func() bool { return len(g.servers("users")) == 1 })
				t.Logf("gone from the gateway's list after %v", time.Since(began).Round(10*time.Millisecond))
				l.Reaches(staying.Backend, 100)
				t.Logf("%d requests", l.Stop())
			})
		}
	}
}

// An instance that curl registers, as docs/discovery.md has it, is served until its
// lease has run out; the registry ends in order.
func TestRegistryAlone(t *testing.T) {
	t.Parallel()
	r, url := startRegistry(t)
	b := backendtest.Start(t, backendtest.Answer(http.StatusOK, "served"))
	g := startGateway(t, "eureka.client: {service-url.defaultZone: \""+url+"\", registry-fetch-interval-seconds: 1}\nspring.application.name: edge\n")
	eventually(t, "the gateway is registered", func() bool {
		a, err := g.tryGet(url + "apps/EDGE")
		return err == nil && a.Status == http.StatusOK
	})
	host, port, _ := net.SplitHostPort(b.Addr)
	body := fmt.Sprintf(`{"instance":{"instanceId":"u1","hostName":%q,"app":"USERS","ipAddr":%[1]q,"port":{"$":%s,"@enabled":"true"},
		"dataCenterInfo":{"name":"MyOwn"},"leaseInfo":{"durationInSecs":5}}}`, host, port)
	res, err := newClient(t).Post(url+"apps/USERS", "application/json", strings.NewReader(body)) //nolint:noctx // the client has a timeout
	if err != nil {
		t.Fatal(err)
	}
	if res.Body.Close(); res.StatusCode != http.StatusNoContent {
		t.Fatalf("registration: %s", res.Status)
	}
	eventually(t, "the service has a route", func() bool { return g.Get("/users/x").Body == "served" })
	eventually(t, "the route has gone with the lease", func() bool { return g.Get("/users/x").Status == http.StatusNotFound })
	wantExit(t, g.Stop(), 0)
	a, err := g.tryGet(url + "apps/EDGE")
	if err != nil || a.Status != http.StatusNotFound {
		t.Errorf("the gateway has left, and the registry says %v, %v", a, err)
	}
	wantExit(t, r.Stop(), 0)
}
