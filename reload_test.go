package gozer_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/memhttp"
	"github.com/gozer-gateway/gozer/lb"
	"github.com/gozer-gateway/gozer/ribboncmd"
)

// usersAt is a configuration of one service with these servers.
func usersAt(more string, servers ...string) string {
	return "zuul.routes.users: /users/**\nusers.ribbon.listOfServers: " + strings.Join(servers, ",") + "\n" + more
}

func reload(tb testing.TB, g *gozer.Gateway, yaml string) {
	tb.Helper()
	if err := g.Reload(parse(tb, yaml)); err != nil {
		tb.Fatal(err)
	}
}

func addresses(g *gozer.Gateway, service string) []string {
	var list []string
	for _, s := range g.Servers(service) {
		list = append(list, s.HostPort())
	}
	return list
}

func TestReloadKeepsBreakersAndChangesPolicy(t *testing.T) {
	const (
		breaker = "hystrix.command.default.circuitBreaker.sleepWindowInMilliseconds: 60000\n"
		instead = "gateway.fallback.users: {status: 200, body: instead}\n"
	)
	synctest.Test(t, func(t *testing.T) {
		p := &place{network: memhttp.NewNetwork()}
		g := newGateway(t, usersAt(breaker, "one:80"), p.listen())
		r := run(t, g)
		synctest.Wait()
		g.SetTransport("users", roundTrip(func(*http.Request) (*http.Response, error) { return nil, syscall.ECONNRESET }))
		for range 20 {
			if got := get(t, g, "/users/1"); got.Code != http.StatusBadGateway {
				t.Fatalf("got %d %s", got.Code, got.Body)
			}
		}
		after(time.Second) // health is judged twice a second
		wantFailure(t, get(t, g, "/users/1"), http.StatusServiceUnavailable, "SHORTCIRCUIT")

		reload(t, g, usersAt(breaker+instead, "one:80"))
		calls := 0
		g.SetTransport("users", answerWith(func(*http.Request) string { calls++; return "back" }))
		wantAnswer(t, get(t, g, "/users/1"), http.StatusOK, "instead")
		if calls != 0 {
			t.Error("the open circuit was forgotten")
		}
		after(time.Minute)
		wantAnswer(t, get(t, g, "/users/1"), http.StatusOK, "back")
		r.stop()
		if err := <-r.done; err != nil {
			t.Error(err)
		}
	})
}

func TestReloadShowsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const force = "hystrix.command.%s.circuitBreaker.forceOpen: true\n"
		g := newGateway(t, usersAt("", "one:80"))
		g.SetTransport("users", answerWith(func(*http.Request) string { return "user" }))
		wantAnswer(t, get(t, g, "/users/1"), http.StatusOK, "user")
		run := func(context.Context) (string, error) { return "fr", nil }
		if _, err := ribboncmd.Do(g.Context(t.Context()), ribboncmd.Key{Command: "geo", Group: "maps"}, run, nil); err != nil {
			t.Fatal(err)
		}
		reload(t, g, usersAt(fmt.Sprintf(force, "users")+fmt.Sprintf(force, "geo"), "one:80"))
		w := httptest.NewRecorder()
		g.Management().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/actuator/health", http.NoBody))
		if want := `"openCircuitBreakers":["maps::geo","RibbonCommand::users"]`; !strings.Contains(w.Body.String(), want) {
			t.Errorf("health is %s, want %s", w.Body, want)
		}
	})
}

func TestReloadKeepsStatisticsByServer(t *testing.T) {
	g := newGateway(t, usersAt("", "one:80", "two:80"))
	g.SetTransport("users", answerWith(func(r *http.Request) string { return r.URL.Host }))
	for range 4 {
		get(t, g, "/users/1")
	}
	reload(t, g, usersAt("", "two:80", "three:80"))
	totals := map[string]int64{}
	for _, s := range g.Servers("users") {
		totals[s.HostPort()] = s.Stats().Total()
	}
	if diff := cmp.Diff(map[string]int64{"two:80": 2, "three:80": 0}, totals); diff != "" {
		t.Error(diff)
	}
}

func TestReloadKeepsConnectionsUntilTheirSettingsChange(t *testing.T) {
	users, books := backendtest.Start(t, says("user")), backendtest.Start(t, says("book"))
	base := func(more string) string {
		return usersAt(patient+"zuul.routes.books: /books/**="+books.URL()+"\n"+more, users.Addr)
	}
	g := newGateway(t, base(""))
	visit := func(wantUsers, wantBooks int64) {
		t.Helper()
		wantAnswer(t, get(t, g, "/users/1"), http.StatusOK, "user")
		wantAnswer(t, get(t, g, "/books/1"), http.StatusOK, "book")
		if users.Connections() != wantUsers || books.Connections() != wantBooks {
			t.Errorf("%d and %d connections, want %d and %d", users.Connections(), books.Connections(), wantUsers, wantBooks)
		}
	}
	visit(1, 1)
	reload(t, g, base("zuul.add-host-header: true\n"))
	visit(1, 1)
	reload(t, g, base("users.ribbon.ReadTimeout: 70000\n"))
	visit(2, 1)
	reload(t, g, base("users.ribbon.ReadTimeout: 70000\nzuul.host.socket-timeout-millis: 70000\n"))
	visit(2, 2)
}

func TestFaultyReloadChangesNothing(t *testing.T) {
	old, other := backendtest.Start(t, says("old")), backendtest.Start(t, says("other"))
	faults := map[string]string{
		"a filter's setting": "gateway.filters.SendResponseFilter.colour: red\n",
		"a custom filter":    "gateway.filters.Banner.txt: hi\n",
		"an unknown filter":  "gateway.filters.Baner.text: hi\n",
		"a fallback":         "gateway.fallback.users: {status: 204, body: too much}\n",
	}
	g := newGateway(t, usersAt(patient+"zuul.Banner.pre.disable: true\n", old.Addr), gozer.WithFilters(banner(new(int))))
	wantAnswer(t, get(t, g, "/users/1"), http.StatusOK, "old")
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			cfg, _ := config.Parse("gateway.yaml", []byte(usersAt("users.ribbon.ReadTimeout: 700\n"+fault, other.Addr)), config.Options{})
			if err := g.Reload(cfg); err == nil {
				t.Fatal("accepted")
			}
			wantAnswer(t, get(t, g, "/users/1"), http.StatusOK, "old")
			if diff := cmp.Diff([]string{old.Addr}, addresses(g, "users")); diff != "" {
				t.Errorf("servers: %s", diff)
			}
			if old.Connections() != 1 || other.Connections() != 0 {
				t.Errorf("%d and %d connections, want the first one still", old.Connections(), other.Connections())
			}
		})
	}
}

// Constructors and sources of others may panic where nobody is above them.
func TestPanickingReloadChangesNothing(t *testing.T) {
	old, other := backendtest.Start(t, says("old")), backendtest.Start(t, says("other"))
	for name, broken := range map[string]func(boom func()) gozer.Option{
		"a constructor": func(boom func()) gozer.Option {
			return gozer.WithFilters(filters.Spec{Name: "Fragile", Phase: filters.Pre, New: func(func(any) error) (filters.Filter, error) {
				boom()
				return filters.Func("", "", 0, func(*filters.Context) error { return nil }).New(nil)
			}})
		},
		"the source": func(boom func()) gozer.Option {
			return gozer.WithSource(func(context.Context) (*config.Config, error) {
				boom()
				return parse(t, usersAt(patient, other.Addr)), nil
			})
		},
		"a list filter": func(boom func()) gozer.Option {
			return gozer.WithListFilter("Fragile", func() lb.ListFilter {
				boom()
				return passing{}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			panics := false
			source := gozer.WithSource(func(context.Context) (*config.Config, error) {
				return parse(t, usersAt(patient+"users.ribbon.NIWSServerListFilterClassName: Fragile\n", other.Addr)), nil
			})
			g := newGateway(t, usersAt(patient, old.Addr), gozer.WithListFilter("Fragile", func() lb.ListFilter { return passing{} }), source, broken(func() {
				if panics {
					panic("boom of others")
				}
			}))
			panics = true
			if err := g.Refresh(t.Context()); err == nil || !strings.Contains(err.Error(), "boom of others") {
				t.Errorf("error is %v", err)
			}
			wantAnswer(t, get(t, g, "/users/1"), http.StatusOK, "old")
			panics = false
			if err := g.Refresh(t.Context()); err != nil {
				t.Error(err)
			}
			wantAnswer(t, get(t, g, "/users/1"), http.StatusOK, "other")
		})
	}
}

type passing struct{}

func (passing) Filter(servers []*lb.Server, _ lb.Health, _ bool) []*lb.Server { return servers }

func TestRefreshEndpoint(t *testing.T) {
	next, failure := parse(t, "zuul.routes.books: /books/**=forward:/\n"), error(nil)
	g := newGateway(t, "zuul.routes.users: /users/**=forward:/\n", localEcho(),
		gozer.WithSource(func(context.Context) (*config.Config, error) { return next, failure }))
	m := g.Management()
	refresh := func(status int, want string) {
		t.Helper()
		if got := ask(t, m, http.MethodPost, "/actuator/routes"); got.Code != status || !strings.Contains(got.Body.String(), want) {
			t.Errorf("got %d %s, want %d with %s", got.Code, got.Body, status, want)
		}
	}
	wantAnswer(t, get(t, m, "/actuator/routes"), http.StatusOK, `{"/users/**":"forward:/"}`)

	refresh(http.StatusOK, `{"/books/**":"forward:/"}`)
	wantAnswer(t, get(t, g, "/books/1"), http.StatusOK, "/1")

	failure = errors.New("gateway.yaml:3: error: zuul.prefx: unknown key")
	refresh(http.StatusInternalServerError, "zuul.prefx: unknown key")
	wantAnswer(t, get(t, g, "/books/1"), http.StatusOK, "/1")
}

func TestRefreshWithoutASourceKeepsTheConfiguration(t *testing.T) {
	g := newGateway(t, "zuul.routes.users: /users/**=forward:/\n", localEcho())
	if err := g.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, get(t, g, "/users/1"), http.StatusOK, "/1")
}

func TestReloadWhileServing(t *testing.T) {
	upstream := backendtest.Start(t, says("user"))
	settings := []string{"zuul.retryable: true\n", "users.ribbon.MaxAutoRetries: 1\n", "users.ribbon.ReadTimeout: 70s\n"}
	g := newGateway(t, usersAt(patient, upstream.Addr))
	ctx, stop := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for ctx.Err() == nil {
				if got := get(t, g, "/users/1"); got.Code != http.StatusOK {
					t.Errorf("got %d %s", got.Code, got.Body)
					return
				}
			}
		})
	}
	for i := range 60 {
		reload(t, g, usersAt(patient+settings[i%len(settings)], upstream.Addr))
	}
	stop()
	clients.Wait()
}
