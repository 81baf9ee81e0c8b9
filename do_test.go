package gozer_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/memhttp"
	"github.com/gozer-gateway/gozer/ribboncmd"
)

// geo is a filter that asks for something on the side, under a command.
func geo(ask func(context.Context) (string, error)) filters.Spec {
	return filters.Func("Geo", filters.Pre, 1, func(c *filters.Context) error {
		country, err := ribboncmd.Do(c.Request.Context(), ribboncmd.Key{Command: "geo"}, ask,
			func(_ context.Context, cause *ribboncmd.Error) (string, error) { return cause.Outcome.String(), nil })
		if err != nil {
			return err
		}
		c.Respond(http.StatusOK, nil, strings.NewReader(country))
		return nil
	})
}

func TestFilterWithACommandOfItsOwn(t *testing.T) {
	for _, engine := range []string{"native", "nethttp"} {
		t.Run(engine, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var err error
				ask := func(context.Context) (string, error) { return "fr", err }
				p := &place{network: memhttp.NewNetwork(), held: make(hold)}
				p.running = run(t, newGateway(t, `
server: {address: 127.0.0.1, http1.engine: `+engine+`}
hystrix.command.geo.circuitBreaker: {requestVolumeThreshold: 2, sleepWindowInMilliseconds: 60000}
`, gozer.WithFilters(geo(ask)), p.listen()))
				synctest.Wait()
				p.wantBody(t, "fr")
				err = errors.New("down")
				p.wantBody(t, "COMMAND_EXCEPTION")
				<-time.After(time.Second)
				p.wantBody(t, "SHORTCIRCUIT")
			})
		})
	}
}

func (p *place) wantBody(t *testing.T, want string) {
	t.Helper()
	rt := &http.Transport{DialContext: p.network.Dial, DisableKeepAlives: true}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+proxy+"/x", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := rt.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var body strings.Builder
	_ = res.Write(&body)
	if !strings.HasSuffix(body.String(), "\r\n\r\n"+want) && !strings.Contains(body.String(), "\r\n"+want+"\r\n") {
		t.Errorf("answer is %q, want %s", body.String(), want)
	}
}

func TestCommandWithoutAGateway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := func(context.Context) (string, error) { return "fr", nil }
		if _, err := ribboncmd.Do(t.Context(), ribboncmd.Key{Command: "geo"}, run, nil); !errors.Is(err, ribboncmd.ErrNoCommands) {
			t.Errorf("error is %v", err)
		}
		g := newGateway(t, "server.port: 8080")
		if _, err := ribboncmd.Do(g.Context(t.Context()), ribboncmd.Key{}, run, nil); !errors.Is(err, ribboncmd.ErrNoKey) {
			t.Errorf("error is %v", err)
		}
		if got, err := ribboncmd.Do(g.Context(t.Context()), ribboncmd.Key{Command: "geo"}, run, nil); got != "fr" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

func TestReloadChangesTheCommandsOfFilters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const closed = "hystrix.command.geo.circuitBreaker.forceOpen: "
		g := newGateway(t, closed+"false")
		run := func(context.Context) (string, error) { return "fr", nil }
		do := func() error {
			_, err := ribboncmd.Do(g.Context(t.Context()), ribboncmd.Key{Command: "geo"}, run, nil)
			return err
		}
		if err := do(); err != nil {
			t.Error(err)
		}
		reload(t, g, closed+"true")
		if err := do(); !errors.Is(err, ribboncmd.ErrShortCircuited) {
			t.Errorf("error is %v", err)
		}
		reload(t, g, closed+"false")
		if err := do(); err != nil {
			t.Error(err)
		}
	})
}
