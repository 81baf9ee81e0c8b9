package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

const (
	reloaded = `msg="configuration reloaded" "asked by"=SIGHUP`
	refused  = `msg="reload refused, the running configuration stays"`
)

func TestReload(t *testing.T) {
	t.Parallel()
	a, b := backendtest.Start(t, identify()), backendtest.Start(t, identify())
	to := func(upstream *backendtest.Backend) string {
		return fmt.Sprintf("zuul.routes.moved: {path: /moved/**, url: \"http://%s\"}\n", upstream.Addr)
	}
	service := func(upstream *backendtest.Backend) string {
		return fmt.Sprintf("zuul.routes.moved: /moved/**\nmoved.ribbon.listOfServers: %s\n", upstream.Addr)
	}
	g := startGateway(t, to(a))
	l := startLoad(t, g.URL("/moved/x"), http.MethodGet, http.MethodPost, http.MethodDelete)
	l.Reaches(a, 50)

	for _, bad := range []string{
		"zuul.rutes: {}\n",
		"zuul: {routes: [\n",
		`zuul.routes.moved: {path: "/moved{}/**", url: "http://127.0.0.1:1"}`,
		"zuul.NoFilter.pre.disable: true\n",
	} {
		g.Reload(bad, refused)
		l.Reaches(a, 50)
	}
	if b.Requests() != 0 {
		t.Error("a refused configuration is in force")
	}
	for _, next := range []struct {
		yaml string
		to   *backendtest.Backend
	}{{to(b), b}, {service(a), a}, {service(b), b}, {to(a), a}} {
		g.Reload(next.yaml, reloaded)
		l.Reaches(next.to, 50)
	}
	t.Logf("%d requests", l.Stop())

	was := b.Requests()
	g.Get("/moved/x", "X-Id: last").wantStatus(t, http.StatusOK)
	if b.Requests() != was {
		t.Error("an old configuration is still in force")
	}
	g.Reload("zuul.routes: {}\n", reloaded)
	g.Get("/moved/x").wantStatus(t, http.StatusNotFound)
}

func TestReloadKeepsTheCircuit(t *testing.T) {
	t.Parallel()
	a, b := backendtest.Start(t, identify()), backendtest.Start(t, identify())
	yaml := breakerYAML(60e9, a, b)
	g := startGateway(t, yaml)
	a.Kill()
	b.Kill()
	openCircuit(t, g, http.StatusBadGateway, http.StatusServiceUnavailable)
	a.Revive()
	b.Revive()
	g.Reload(yaml+"zuul.prefix: /next\n", reloaded)
	g.Get("/next/frail/x").wantStatus(t, http.StatusServiceUnavailable)
	if n := a.Requests() + b.Requests(); n != 0 {
		t.Errorf("%d calls reached the servers: the reload has closed the circuit", n)
	}
}

// A request in flight ends by the configuration with which it began.
func TestReloadLeavesRequestsInFlightAlone(t *testing.T) {
	t.Parallel()
	arrived, finish := make(chan struct{}), make(chan struct{})
	b := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-finish
		identify().ServeHTTP(w, r)
	}))
	g := startGateway(t, fmt.Sprintf("zuul.routes.slow: /slow/**\nslow.ribbon: {listOfServers: %s, ReadTimeout: 1m}\n", b.Addr))
	answered := make(chan *answer, 1)
	go func() {
		a, err := g.tryGet(g.URL("/slow/x"))
		if err != nil {
			a = &answer{Body: err.Error()}
		}
		answered <- a
	}()
	receive(t, "the request arrives", arrived)
	g.Reload("zuul.routes: {}\n", reloaded)
	close(finish)
	receive(t, "the answer", answered).wantStatus(t, http.StatusOK)
}

// zuul 150: POST /routes reads the configuration again.
func TestPostRoutesReloads(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, "zuul.routes: {}\n")
	g.Get("/new/x").wantStatus(t, http.StatusNotFound)
	g.Write(fmt.Sprintf("zuul.routes.new: {path: /new/**, url: \"http://%s\"}\n", m.Addr))
	post := func() *answer {
		a, err := send(t.Context(), http.MethodPost, g.AdminURL("/routes"), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := post().wantStatus(t, http.StatusOK)
	if !strings.Contains(a.Body, "/new/**") {
		t.Errorf("the answer lacks the new route: %s", a.Body)
	}
	g.Get("/new/x").reflected(t)
	g.Write("zuul.rutes: {}\n")
	if a = post(); a.Status < http.StatusBadRequest {
		t.Errorf("a bad configuration was answered with %d %s", a.Status, a.Body)
	}
	g.Get("/new/x").reflected(t)
}
