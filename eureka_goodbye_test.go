package gozer_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/discovery/eureka"
	"github.com/gozer-gateway/gozer/internal/memhttp"
	"github.com/gozer-gateway/gozer/registry"
)

// member is an instance that keeps itself registered.
type member struct {
	*eureka.Registrar
	stop func()
}

func (w *world) member(t *testing.T, i *eureka.Instance) *member {
	t.Helper()
	i.IPAddr, i.DataCenter.Name = "192.0.2.1", eureka.MyOwn
	r, err := eureka.NewRegistrar(eureka.RegistrarSettings{Instance: i, Servers: eureka.ServerSettings{
		ServiceURLs: map[string][]string{"defaultZone": {"http://registry:8761/eureka/"}}, Dial: w.Dial, Logger: slog.New(slog.DiscardHandler),
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = r.Run(ctx) }()
	return &member{r, func() { cancel(); <-ended }}
}

// ends are the two ways in which an instance goes.
func ends() map[string]func(t *testing.T, m *member) {
	return map[string]func(t *testing.T, m *member){
		"orderly": func(t *testing.T, m *member) {
			t.Helper()
			if err := m.OutOfService(t.Context()); err != nil {
				t.Error(err)
			}
			after(5 * time.Second) // in which it still answers
			m.stop()
			if err := m.Cancel(t.Context()); err != nil {
				t.Error(err)
			}
		},
		"killed": func(_ *testing.T, m *member) { m.stop() },
	}
}

// What docs/discovery.md says about how long an instance that is gone is still known,
// with the real registry and all intervals as they are by default, except that
// self-preservation is off, without which so few instances would never expire. No
// request fails in the meantime, whatever the list says.
func TestHowLongAnInstanceThatIsGoneIsKnown(t *testing.T) {
	for name, row := range map[string]struct {
		yaml     string
		cached   bool
		orderly  time.Duration // at most
		killed   time.Duration
		attempts int // at the dead instance, with one request in 100 ms
	}{
		"pushed":                      {"", true, time.Second, 242 * time.Second, 20},
		"polling a registry's cache":  {"eureka.client.push.enabled: false\n", true, 61 * time.Second, 301 * time.Second, 20},
		"polling without the cache":   {"eureka.client.push.enabled: false\n", false, 31 * time.Second, 271 * time.Second, 20},
		"polling every second, alike": {"eureka.client: {push.enabled: false, registry-fetch-interval-seconds: 1}\n", false, 2 * time.Second, 242 * time.Second, 20},
	} {
		for way, end := range ends() {
			t.Run(name+", "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := &world{Network: memhttp.NewNetwork(), settings: func(s *registry.Settings) {
						s.Cache.ReadOnly, s.Leases.SelfPreservation = row.cached, false
					}}
					w.startRegistry(t)
					one, two := w.member(t, user("u1")), w.member(t, user("u2"))
					defer two.stop()
					w.startGateway(t, row.yaml)
					defer w.end(t)
					after(3 * time.Minute)
					dead, attempts := false, 0
					w.gateway.SetTransport("users", roundTrip(func(r *http.Request) (*http.Response, error) {
						if strings.HasPrefix(r.URL.Host, "u1:") && dead {
							attempts++
							return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
						}
						return answerWith(func(*http.Request) string { return "ok" }).RoundTrip(r)
					}))
					began := time.Now()
					end(t, one)
					dead = true
					for len(w.gateway.Servers("users")) > 1 {
						if got := get(t, w.gateway, "/users/1"); got.Code != http.StatusOK {
							t.Fatalf("%d after %v", got.Code, time.Since(began))
						}
						if after(100 * time.Millisecond); time.Since(began) > 10*time.Minute {
							t.Fatal("the instance is still there")
						}
					}
					took, limit := time.Since(began), row.killed
					if way == "orderly" {
						limit = row.orderly + 5*time.Second // of ends
					}
					t.Logf("gone from the list after %v, %d attempts at it failed and were repeated elsewhere", took, attempts)
					if took > limit || attempts > row.attempts {
						t.Errorf("want at most %v and %d attempts", limit, row.attempts)
					}
				})
			})
		}
	}
}

// C186: an instance that goes in and out of service is asked no longer than the caches
// together last: none with pushes.
func TestC186FlappingInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{Network: memhttp.NewNetwork()}
		w.startRegistry(t)
		one, two := w.member(t, user("u1")), w.member(t, user("u2"))
		defer one.stop()
		defer two.stop()
		w.startGateway(t, "eureka.client.registry-fetch-interval-seconds: 1\n")
		defer w.end(t)
		after(5 * time.Second)
		for n := range 20 {
			status := []eureka.Status{eureka.OutOfService, eureka.Up}[n%2]
			if err := one.Override(t.Context(), status); err != nil {
				t.Fatal(err)
			}
			after(time.Second)
			if got := len(w.gateway.Servers("users")); got != 1+n%2 {
				t.Errorf("a second after %v there are %d servers", status, got)
			}
			after(2 * time.Second)
		}
	})
}

// The log of a shutdown tells of the registry only what the registry has heard.
func TestShutdownTellsWhatTheRegistryKnows(t *testing.T) {
	for name, row := range map[string]struct {
		yaml              string
		answers, vanishes bool
		out, left         bool
	}{
		"registered":               {"", true, false, true, true},
		"never answered":           {"", false, false, false, false},
		"does not answer any more": {"", true, true, false, false},
		"stays registered":         {"eureka.client.should-unregister-on-shutdown: false\n", true, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &world{Network: memhttp.NewNetwork()}
				if row.answers {
					w.startRegistry(t)
				}
				w.startGateway(t, row.yaml)
				after(time.Minute)
				if row.vanishes {
					w.stop()
				}
				w.end(t)
				log := w.log.String()
				if got := strings.Contains(log, "out of service in the registry"); got != row.out {
					t.Errorf("out of service %v:\n%s", got, log)
				}
				if got := strings.Contains(log, "left the registry"); got != row.left {
					t.Errorf("left %v:\n%s", got, log)
				}
			})
		})
	}
}
