package lb_test

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/internal/testlog"
	"github.com/gozer-gateway/gozer/lb"
)

// written is a log of panics.
type written struct{ testlog.Buffer }

// wantOnce checks that a panic was logged once, with its stack.
func (w *written) wantOnce(t *testing.T, text string) {
	t.Helper()
	if log := w.String(); strings.Count(log, text) != 1 || strings.Count(log, "stack=") != 1 {
		t.Errorf("want %q once with its stack, got %s", text, log)
	}
}

// The parts of others panic in the background once broken says so, and are whole again
// when it does not.
func TestPanicsInTheBackground(t *testing.T) {
	two := lb.StaticServerList{{Host: "a", Port: 1}, {Host: "b", Port: 1}}
	for name, tc := range map[string]struct {
		settings func(boom func()) lb.BalancerSettings
		alive    int // of the two servers, while broken
	}{
		"list": {func(boom func()) lb.BalancerSettings {
			return lb.BalancerSettings{Updater: lb.PollingUpdater{Interval: time.Second}, List: lb.ServerListFunc(func(ctx context.Context) ([]lb.Server, error) {
				boom()
				return two.Servers(ctx)
			})}
		}, 2},
		"filter": {func(boom func()) lb.BalancerSettings {
			return lb.BalancerSettings{Updater: lb.PollingUpdater{Interval: time.Second}, List: two, Filter: brokenFilter(boom)}
		}, 2},
		"ping": {func(boom func()) lb.BalancerSettings {
			return lb.BalancerSettings{List: two, PingInterval: time.Second, Ping: brokenPing(boom)}
		}, 0},
		"ping, in parallel": {func(boom func()) lb.BalancerSettings {
			return lb.BalancerSettings{List: two, PingInterval: time.Second, Ping: brokenPing(boom), PingStrategy: lb.ParallelPing{}}
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var broken atomic.Bool
				log := new(written)
				settings := tc.settings(func() {
					if broken.Load() {
						panic("boom of others")
					}
				})
				settings.Logger = slog.New(slog.NewTextHandler(log, nil))
				b := lb.NewBalancer("users", settings)
				refresh(t, b)
				stop := run(t, b)
				pass(3 * time.Second)
				wantAlive(t, b, 2)
				broken.Store(true)
				pass(5 * time.Second)
				wantAlive(t, b, tc.alive)
				log.wantOnce(t, "boom of others")
				broken.Store(false)
				pass(3 * time.Second)
				wantAlive(t, b, 2)
				stop()
			})
		})
	}
}

func wantAlive(t *testing.T, b *lb.Balancer, want int) {
	t.Helper()
	alive := 0
	for _, s := range b.Servers() {
		if s.Alive() {
			alive++
		}
	}
	if len(b.Servers()) != 2 || alive != want {
		t.Errorf("%d servers, %d alive; want 2, %d", len(b.Servers()), alive, want)
	}
}

func brokenPing(boom func()) lb.Ping {
	return lb.PingFunc(func(context.Context, *lb.Server) bool {
		boom()
		return true
	})
}

type brokenFilter func()

func (f brokenFilter) Filter(servers []*lb.Server, _ lb.Health, _ bool) []*lb.Server {
	f()
	return servers
}
