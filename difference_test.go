package gozer_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/admin"
	"github.com/gozer-gateway/gozer/config"
)

// refreshable is a gateway whose next configuration the test sets.
type refreshable struct {
	*gozer.Gateway
	next string
}

func newRefreshable(tb testing.TB, yaml string, opts ...gozer.Option) *refreshable {
	tb.Helper()
	r := &refreshable{next: yaml}
	source := gozer.WithSource(func(context.Context) (*config.Config, error) {
		cfg, report := config.Parse("gateway.yaml", []byte(r.next), config.Options{})
		return cfg, report.Err()
	})
	r.Gateway = newGateway(tb, yaml, append(opts, source)...)
	return r
}

// refresh returns what the endpoint says has changed.
func (r *refreshable) refresh(tb testing.TB, yaml string) admin.Change {
	tb.Helper()
	r.next = yaml
	got := ask(tb, r.Management(), http.MethodPost, "/actuator/refresh?format=details")
	var change admin.Change
	if err := json.Unmarshal(got.Body.Bytes(), &change); err != nil || got.Code != http.StatusOK {
		tb.Fatalf("%d %s", got.Code, got.Body)
	}
	return change
}

func TestRefreshTellsWhatHasChanged(t *testing.T) {
	const base = "server.port: 8080\nzuul.routes.users: /users/**\nzuul.routes.books: /books/**\n" +
		"users.ribbon.listOfServers: a:1\nbooks.ribbon.listOfServers: b:1\ngateway.filters.Banner.text: hi\n"
	edit := func(from, to string) string { return strings.Replace(base, from, to, 1) }
	none := []string{}
	same := admin.Delta{Added: none, Changed: none, Removed: none}
	changed := func(names ...string) admin.Delta { return admin.Delta{Added: none, Changed: names, Removed: none} }
	for _, test := range []struct {
		name, yaml string
		want       admin.Change
	}{
		{"nothing", "# a comment\n" + base, admin.Change{Routes: same, Services: same, Filters: same, Keys: none, NeedRestart: none}},
		{"routes and services", edit("zuul.routes.books: /books/**", "zuul.routes.maps: /maps/**"), admin.Change{
			Routes:   admin.Delta{Added: []string{"maps"}, Changed: none, Removed: []string{"books"}},
			Services: admin.Delta{Added: []string{"maps"}, Changed: none, Removed: none}, // books has servers still
			Filters:  same, Keys: []string{"zuul.routes.books", "zuul.routes.maps"}, NeedRestart: none,
		}},
		{"a route", base + "zuul.routes.users.retryable: true\n", admin.Change{
			Routes: changed("users"), Services: same, Filters: same, Keys: []string{"zuul.routes.users.retryable"}, NeedRestart: none,
		}},
		{"what all routes share", base + "zuul.prefix: /api\n", admin.Change{
			Routes: changed("books", "users"), Services: same, Filters: same, Keys: []string{"zuul.prefix"}, NeedRestart: none,
		}},
		{"the order of routes", edit("zuul.routes.users: /users/**\nzuul.routes.books: /books/**\n", "zuul.routes.books: /books/**\nzuul.routes.users: /users/**\n"), admin.Change{
			Routes: same, RoutesReordered: true, Services: same, Filters: same, Keys: none, NeedRestart: none,
		}},
		{"servers", edit("a:1", "a:1,a:2"), admin.Change{
			Routes: same, Services: changed("users"), Filters: same, Keys: []string{"users.ribbon.listOfServers"}, NeedRestart: none,
		}},
		{"what all services share", base + "hystrix.command.default.circuitBreaker.forceOpen: true\n", admin.Change{
			Routes: same, Services: changed("books", "users"), Filters: same, Keys: []string{"hystrix.command.default.circuitBreaker.forceOpen"}, NeedRestart: none,
		}},
		{"a fallback", base + "gateway.fallback.books.body: none\n", admin.Change{
			Routes: same, Services: changed("books"), Filters: same, Keys: []string{"gateway.fallback.books.body"}, NeedRestart: none,
		}},
		{"TLS", base + "gateway.tls.books.min-version: TLSv1.3\n", admin.Change{
			Routes: same, Services: changed("books"), Filters: same, Keys: []string{"gateway.tls.books.min-version"}, NeedRestart: none,
		}},
		{"a filter's setting", edit("hi", "ho"), admin.Change{
			Routes: same, Services: same, Filters: changed("Banner"), Keys: []string{"gateway.filters.Banner.text"}, NeedRestart: none,
		}},
		{"a filter off", base + "zuul.SendErrorFilter.error.disable: true\n", admin.Change{
			Routes: same, Services: same, Filters: changed("SendErrorFilter"), Keys: []string{"zuul.SendErrorFilter.error.disable"}, NeedRestart: none,
		}},
		{"what needs a restart", edit("8080", "8088"), admin.Change{
			Routes: same, Services: same, Filters: same, Keys: []string{"server.port"}, NeedRestart: []string{"server.port"},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := newRefreshable(t, base, gozer.WithFilters(banner(new(int))))
			if diff := cmp.Diff(test.want, g.refresh(t, test.yaml)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// What needs a restart is told again as long as the restart has not come.
func TestRefreshGoesOnNamingWhatNeedsARestart(t *testing.T) {
	g := newRefreshable(t, "server.port: 8080\n")
	for range 2 {
		if got := g.refresh(t, "server.port: 8088\n").NeedRestart; len(got) != 1 {
			t.Errorf("%q need a restart", got)
		}
	}
	if got := g.refresh(t, "server.port: 8080\n").NeedRestart; len(got) != 0 {
		t.Errorf("%q need a restart after the value is back", got)
	}
}

func TestRefreshShowsNoValues(t *testing.T) {
	const secret = "hunter2"
	log, lines := logged()
	g := newRefreshable(t, "zuul.routes.users: /users/**\n", log)
	change := g.refresh(t, "zuul.routes.users: /users/**=http://h/\ninfo.password: "+secret+"\neureka.server.users.joe.token: "+secret+"\n")
	text, err := json.Marshal(change)
	if err != nil || len(change.Keys) != 3 {
		t.Fatal(change, err)
	}
	g.next = "zuul.routes.users: /users/**=http://joe:" + secret + "@h/\nribbon.ReadTimeout: http://joe:" + secret + "@h/\n"
	answer := ask(t, g.Management(), http.MethodPost, "/actuator/refresh").Body.String()
	health := get(t, g.Management(), "/actuator/health").Body.String()
	if !strings.Contains(answer, "gateway.yaml:2") || !strings.Contains(health, "gateway.yaml:2") {
		t.Errorf("the error names no place: %s, %s", answer, health)
	}
	for name, text := range map[string]string{"difference": string(text), "log": lines.String(), "answer": answer, "health": health} {
		if strings.Contains(text, secret) {
			t.Errorf("the %s shows a secret: %s", name, text)
		}
	}
}
