package discovery_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/discovery"
	"github.com/gozer-gateway/gozer/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// feed is a source that reports what is sent to it; a closed feed ends with err.
type feed struct {
	in  chan discovery.Update
	err error
}

func newFeed() *feed { return &feed{in: make(chan discovery.Update)} }

func (f *feed) Run(ctx context.Context, updates chan<- discovery.Update) error {
	for {
		select {
		case u, open := <-f.in:
			if !open {
				return f.err
			}
			select {
			case updates <- u:
			case <-ctx.Done():
				return nil
			}
		case <-ctx.Done():
			return nil
		}
	}
}

func (f *feed) report(u discovery.Update) {
	f.in <- u
	synctest.Wait()
}

func instances(ids ...string) (all []discovery.Instance) {
	for _, id := range ids {
		all = append(all, discovery.Instance{ID: id, Host: "h", Port: 80})
	}
	return all
}

func wantServices(t *testing.T, h *discovery.Hub, services ...string) {
	t.Helper()
	if diff := cmp.Diff(services, h.Services()); diff != "" {
		t.Error("services:", diff)
	}
}

func wantInstances(t *testing.T, h *discovery.Hub, service string, ids ...string) {
	t.Helper()
	var got []string
	for _, i := range h.Instances(service) {
		got = append(got, i.ID)
	}
	if diff := cmp.Diff(ids, got); diff != "" {
		t.Errorf("instances of %s: %s", service, diff)
	}
}

func signalled(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// running is a hub over two feeds.
type running struct {
	*discovery.Hub
	a, b *feed
	log  bytes.Buffer
}

// run starts a hub that has stopped when the test's bubble ends.
func run(t *testing.T) *running {
	t.Helper()
	r := &running{a: newFeed(), b: newFeed()}
	r.Hub = discovery.NewHub(slog.New(slog.NewTextHandler(&r.log, nil)), r.a, r.b)
	stopped := make(chan error)
	go func() { stopped <- r.Run(t.Context()) }()
	t.Cleanup(func() {
		if err := <-stopped; err != nil {
			t.Error("the hub ended with", err)
		}
	})
	return r
}

func TestHubMerges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := run(t)
		wantServices(t, h.Hub)
		wantInstances(t, h.Hub, "users")
		h.b.report(discovery.Update{"users": instances("2", "3"), "orders": instances("1")})
		h.a.report(discovery.Update{"users": instances("1", "2")})
		wantServices(t, h.Hub, "orders", "users")
		wantInstances(t, h.Hub, "users", "1", "2", "3")

		h.a.report(discovery.Update{"billing": nil})
		wantServices(t, h.Hub, "billing", "orders", "users")
		wantInstances(t, h.Hub, "users", "2", "3")
		wantInstances(t, h.Hub, "billing")
	})
}

func TestNamesThatAreNoServices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := run(t)
		users, books := instances("1", "2"), instances("3")
		users[1].Aliases, books[0].Aliases = []string{"readers", "books"}, []string{"readers"}
		h.a.report(discovery.Update{"users": users, "books": books})
		wantServices(t, h.Hub, "books", "users")
		wantInstances(t, h.Hub, "readers", "3", "2")
		wantInstances(t, h.Hub, "Readers", "3", "2")
		wantInstances(t, h.Hub, "USERS", "1", "2")
		wantInstances(t, h.Hub, "books", "3") // a service comes before an alias
	})
}

func TestSnapshotsDoNotChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := run(t)
		h.a.report(discovery.Update{"users": instances("1")})
		before := h.Snapshot()
		h.a.report(discovery.Update{"orders": instances("2")})
		if before.Services()[0] != "users" || len(before.Instances("users")) != 1 {
			t.Errorf("the old snapshot now has %v", before.Services())
		}
	})
}

func TestChangesAreCoalesced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := run(t)
		changed, stop := h.Changes()
		h.a.report(discovery.Update{"users": instances("1")})
		h.a.report(discovery.Update{"users": instances("1", "2")})
		if !signalled(changed) || signalled(changed) {
			t.Error("two changes did not make one signal")
		}
		h.a.report(discovery.Update{"users": instances("1", "2")})
		if signalled(changed) {
			t.Error("a report without news was signalled")
		}
		stop()
		stop()
		h.a.report(discovery.Update{})
		if signalled(changed) {
			t.Error("signalled after stop")
		}
	})
}

func TestSynced(t *testing.T) {
	t.Run("when every source has reported or ended", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := run(t)
			h.a.report(discovery.Update{})
			if signalled(h.Synced()) {
				t.Error("synced before the second source")
			}
			h.b.err = errors.New("registry is gone")
			close(h.b.in)
			synctest.Wait()
			if !signalled(h.Synced()) {
				t.Error("not synced")
			}
			if !strings.Contains(h.log.String(), "registry is gone") {
				t.Errorf("log %q", h.log.String())
			}
		})
	})
	t.Run("at once without sources", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := discovery.NewHub(nil)
			go func() { _ = h.Run(t.Context()) }()
			synctest.Wait()
			if !signalled(h.Synced()) {
				t.Error("not synced")
			}
		})
	})
}

// clumsy panics after its n-th report.
type clumsy struct{ runs int }

func (c *clumsy) Run(ctx context.Context, updates chan<- discovery.Update) error {
	c.runs++
	switch c.runs {
	case 1:
		panic("clumsy from the start")
	case 2:
		updates <- discovery.Update{"users": instances("1")}
		panic("clumsy again")
	}
	updates <- discovery.Update{"users": instances("2")}
	<-ctx.Done()
	return nil
}

func TestSourceThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		source := new(clumsy)
		h := discovery.NewHub(slog.New(slog.NewTextHandler(&log, nil)), source)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- h.Run(ctx) }()
		synctest.Wait()
		if !signalled(h.Synced()) {
			t.Error("everybody waits for a source that has panicked")
		}
		<-time.After(time.Second + time.Millisecond)
		wantInstances(t, h, "users", "1")
		<-time.After(time.Second)
		wantInstances(t, h, "users", "1") // as it was, during a longer pause
		<-time.After(time.Second)
		wantInstances(t, h, "users", "2")
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if text := log.String(); strings.Count(text, "stack=") != 2 || !strings.Contains(text, "clumsy again") {
			t.Errorf("log is %s", text)
		}
	})
}

func TestLastReportOutlivesItsSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := run(t)
		h.a.report(discovery.Update{"users": instances("1")})
		close(h.a.in)
		synctest.Wait()
		h.b.report(discovery.Update{"users": instances("2")})
		wantInstances(t, h.Hub, "users", "1", "2")
		if h.log.Len() != 0 {
			t.Errorf("an orderly end was logged: %s", h.log.String())
		}
	})
}

// Run returns only when the sources have.
func TestRunWaitsForItsSources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := discovery.SourceFunc(func(ctx context.Context, _ chan<- discovery.Update) error {
			<-ctx.Done()
			<-time.After(time.Minute)
			return ctx.Err()
		})
		ctx, cancel := context.WithCancel(t.Context())
		var log bytes.Buffer
		h := discovery.NewHub(slog.New(slog.NewTextHandler(&log, nil)), slow)
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		if err := h.Run(ctx); err != nil || time.Since(start) != time.Second+time.Minute || log.Len() != 0 {
			t.Errorf("error %v after %v, log %s", err, time.Since(start), log.String())
		}
	})
}

func TestInstanceEqual(t *testing.T) {
	base := func() discovery.Instance {
		return discovery.Instance{ID: "i", Service: "s", Host: "h", Port: 1, Scheme: "http", Zone: "z", Metadata: map[string]string{"k": "v"}}
	}
	if !base().Equal(base()) {
		t.Error("an instance differs from itself")
	}
	for name, change := range map[string]func(*discovery.Instance){
		"id":       func(i *discovery.Instance) { i.ID = "x" },
		"service":  func(i *discovery.Instance) { i.Service = "x" },
		"host":     func(i *discovery.Instance) { i.Host = "x" },
		"port":     func(i *discovery.Instance) { i.Port = 2 },
		"scheme":   func(i *discovery.Instance) { i.Scheme = "https" },
		"secure":   func(i *discovery.Instance) { i.Secure = true },
		"zone":     func(i *discovery.Instance) { i.Zone = "x" },
		"metadata": func(i *discovery.Instance) { i.Metadata = map[string]string{"k": "x"} },
		"plain":    func(i *discovery.Instance) { i.PlainPort = 2 },
		"ip":       func(i *discovery.Instance) { i.IP = "x" },
		"aliases":  func(i *discovery.Instance) { i.Aliases = []string{"x"} },
	} {
		t.Run(name, func(t *testing.T) {
			other := base()
			change(&other)
			if base().Equal(other) {
				t.Error("the difference goes unseen")
			}
		})
	}
}
