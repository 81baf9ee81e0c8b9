package gozer_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/internal/memhttp"
	"github.com/gozer-gateway/gozer/ribboncmd"
)

// dashboard reads the live stream as the Hystrix Dashboard does.
type dashboard struct {
	t     *testing.T
	lines *bufio.Scanner
}

func (p *place) watch(t *testing.T) *dashboard {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	t.Cleanup(leave)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+management+"/actuator/hystrix.stream", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := (&http.Transport{DialContext: p.network.Dial, DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return &dashboard{t, bufio.NewScanner(res.Body)}
}

// until reads messages about a command until it is shown as wanted, and tells how
// long that took.
func (d *dashboard) until(name string, open bool) time.Duration {
	d.t.Helper()
	begin := time.Now()
	for d.lines.Scan() && time.Since(begin) < 10*time.Second {
		text, ok := strings.CutPrefix(d.lines.Text(), "data: ")
		if !ok {
			continue
		}
		var m struct {
			Name string
			Open bool `json:"isCircuitBreakerOpen"`
		}
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			d.t.Fatal(err)
		}
		if m.Name == name && m.Open == open {
			return time.Since(begin)
		}
	}
	d.t.Fatalf("%s was not shown as open: %v", name, open)
	return 0
}

func TestDashboardSeesATrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &place{network: memhttp.NewNetwork(), held: make(hold)}
		g := newGateway(t, `
server.address: 127.0.0.1
hystrix.command.geo.circuitBreaker: {requestVolumeThreshold: 3, sleepWindowInMilliseconds: 2000}
`, p.listen())
		p.running = run(t, g)
		synctest.Wait()
		ctx, down := g.Context(t.Context()), errors.New("down")
		do := func() error {
			_, err := ribboncmd.Do(ctx, ribboncmd.Key{Command: "geo"}, func(context.Context) (string, error) { return "", down }, nil)
			return err
		}
		down = nil
		if err := do(); err != nil {
			t.Fatal(err)
		}
		d := p.watch(t)
		d.until("geo", false)
		down = errors.New("down")
		for range 3 {
			_ = do()
		}
		if took := d.until("geo", true); took > time.Second {
			t.Errorf("the trip was seen after %v", took)
		}
		down = nil
		<-time.After(2500 * time.Millisecond)
		if err := do(); err != nil {
			t.Fatal(err)
		}
		if took := d.until("geo", false); took > time.Second {
			t.Errorf("the recovery was seen after %v", took)
		}
	})
}

func TestOperatorForcesACircuit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, "server.port: 8080")
		ctx := g.Context(t.Context())
		do := func() error {
			_, err := ribboncmd.Do(ctx, ribboncmd.Key{Command: "geo"}, func(context.Context) (string, error) { return "", nil }, nil)
			return err
		}
		if err := do(); err != nil {
			t.Fatal(err)
		}
		order := func(state string) {
			t.Helper()
			body := strings.NewReader(`{"updateState":"` + state + `"}`)
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/actuator/circuitbreakers/geo", body)
			w := httptest.NewRecorder()
			if g.Management().ServeHTTP(w, r); w.Code != http.StatusOK {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		}
		order("FORCE_OPEN")
		reload(t, g, "server.port: 8080")
		if err := do(); !errors.Is(err, ribboncmd.ErrShortCircuited) {
			t.Errorf("error is %v", err)
		}
		order("RESET")
		if err := do(); err != nil {
			t.Error(err)
		}
	})
}
