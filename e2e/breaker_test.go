package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// breakerYAML is a service whose circuit opens at 20 failures, as everywhere, but judges
// and sleeps in less time.
func breakerYAML(sleep time.Duration, a, b *backendtest.Backend) string {
	return fmt.Sprintf(`
zuul.routes:
  frail: /frail/**
frail.ribbon.listOfServers: "%s,%s"
hystrix.command.frail:
  circuitBreaker.sleepWindowInMilliseconds: %d
  metrics.healthSnapshot.intervalInMilliseconds: 10
`, a.Addr, b.Addr, sleep.Milliseconds())
}

// openCircuit makes 20 calls, which fail, and waits until the circuit is open.
func openCircuit(t *testing.T, g *gateway, failed, refused int) {
	t.Helper()
	for n := range 20 {
		if a := g.Get("/frail/x"); a.Status != failed {
			t.Fatalf("call %d got %d, want %d: %s", n, a.Status, failed, a.Body)
		}
	}
	eventually(t, "the circuit opens", func() bool {
		return strings.Contains(g.Log.String(), "msg=circuit service=frail from=CLOSED to=OPEN")
	})
	g.Get("/frail/x").wantStatus(t, refused)
}

func TestShowBreaker(t *testing.T) {
	t.Parallel()
	a, b := backendtest.Start(t, identify()), backendtest.Start(t, identify())
	awake, asleep := breakerYAML(10*time.Millisecond, a, b), breakerYAML(time.Hour, a, b)
	g := startGateway(t, asleep)
	a.Kill()
	b.Kill()
	openCircuit(t, g, http.StatusBadGateway, http.StatusServiceUnavailable)

	arrived, verdict := make(chan struct{}), make(chan int)
	trial := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		status := <-verdict
		if status == 0 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(status)
	})
	a.Use(trial)
	b.Use(trial)
	a.Revive()
	b.Revive()
	calls := func() int64 { return a.Requests() + b.Requests() }

	refused := func(n int, before int64) {
		t.Helper()
		for range n {
			g.Get("/frail/x").wantStatus(t, http.StatusServiceUnavailable)
		}
		if got := calls() - before; got != 0 {
			t.Errorf("%d calls reached the servers while the circuit was not closed", got)
		}
	}
	refused(10, 0)

	nextTrial := func() (outcome <-chan int) {
		t.Helper()
		g.Reload(awake, reloaded)
		outcome = firstNot(g, http.StatusServiceUnavailable)
		receive(t, "a trial after the sleep window", arrived)
		g.Reload(asleep, reloaded)
		return outcome
	}
	outcome := nextTrial()
	refused(10, 1)
	verdict <- 0
	if got := receive(t, "the trial fails", outcome); got != http.StatusBadGateway {
		t.Errorf("the failed trial was answered with %d", got)
	}
	refused(10, 1)

	outcome = nextTrial()
	refused(10, 2)
	verdict <- http.StatusOK
	if got := receive(t, "the trial succeeds", outcome); got != http.StatusOK {
		t.Errorf("the trial was answered with %d", got)
	}
	a.Use(identify())
	b.Use(identify())
	for range 10 {
		g.Get("/frail/x").wantStatus(t, http.StatusOK)
	}
}

// firstNot asks until the answer has another status, and tells that one.
func firstNot(g *gateway, status int) <-chan int {
	found := make(chan int, 1)
	go func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for end := time.Now().Add(patience); time.Now().Before(end); <-tick.C {
			a, err := g.tryGet(g.URL("/frail/x"))
			switch {
			case err != nil:
				found <- 0
				return
			case a.Status != status:
				found <- a.Status
				return
			}
		}
	}()
	return found
}

func TestShowBreakerWithFallback(t *testing.T) {
	t.Parallel()
	a, b := backendtest.Start(t, identify()), backendtest.Start(t, identify())
	g := startGateway(t, breakerYAML(time.Minute, a, b)+`
gateway.fallback.frail: {status: 203, headers: {X-Why: "circuit or failure"}, body: sorry}
`)
	a.Kill()
	b.Kill()
	openCircuit(t, g, http.StatusNonAuthoritativeInfo, http.StatusNonAuthoritativeInfo)
	a.Revive()
	b.Revive()
	for range 10 {
		answer := g.Get("/frail/x").wantStatus(t, http.StatusNonAuthoritativeInfo)
		if answer.Body != "sorry" || answer.Header.Get("X-Why") != "circuit or failure" {
			t.Errorf("not the fallback: %v %q", answer.Header, answer.Body)
		}
	}
	if n := a.Requests() + b.Requests(); n != 0 {
		t.Errorf("%d calls reached the servers of an open circuit", n)
	}
}

// An open circuit is for people to know; a load balancer in front of the gateway must not
// take the whole gateway out because of one service.
func TestOpenCircuitIsShownAndDoesNotMakeUnready(t *testing.T) {
	t.Parallel()
	a, b := backendtest.Start(t, identify()), backendtest.Start(t, identify())
	g := startGateway(t, breakerYAML(time.Minute, a, b))
	a.Kill()
	b.Kill()
	openCircuit(t, g, http.StatusBadGateway, http.StatusServiceUnavailable)
	health, err := g.tryGet(g.AdminURL("/actuator/health"))
	if err != nil {
		t.Fatal(err)
	}
	health.wantStatus(t, http.StatusOK)
	for _, part := range []string{`"status":"UP"`, "CIRCUIT_OPEN", "RibbonCommand::frail"} {
		if !strings.Contains(health.Body, part) {
			t.Errorf("health lacks %s: %s", part, health.Body)
		}
	}
	if got := g.readiness(); got != http.StatusOK {
		t.Errorf("readiness is %d", got)
	}
}

func TestShowFullBulkhead(t *testing.T) {
	t.Parallel()
	const limit = 3
	for name, isolation := range map[string]string{
		"semaphore": "zuul.semaphore.max-semaphores: 3",
		"thread":    "zuul.ribbon-isolation-strategy: THREAD\nhystrix.threadpool.default.coreSize: 3",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arrived, finish := make(chan struct{}, limit), make(chan struct{})
			b := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				arrived <- struct{}{}
				<-finish
				io.WriteString(w, "finished")
			}))
			g := startGateway(t, fmt.Sprintf(`
zuul.routes: {full: /full/**, backup: /backup/**}
full.ribbon: {listOfServers: %s, ReadTimeout: 1m}
backup.ribbon: {listOfServers: %[1]s, ReadTimeout: 1m}
hystrix.command.backup.threadPoolKeyOverride: other
gateway.fallback.backup: {status: 203}
%s
`, b.Addr, isolation))
			for service, refusal := range map[string]int{"full": http.StatusServiceUnavailable, "backup": http.StatusNonAuthoritativeInfo} {
				before := b.Requests()
				var busy sync.WaitGroup
				for range limit {
					busy.Go(func() {
						a, err := g.tryGet(g.URL("/" + service + "/x"))
						if err != nil || a.Status != http.StatusOK || a.Body != "finished" {
							t.Errorf("a call within the limit: %v, %v", a, err)
						}
					})
				}
				for range limit {
					receive(t, "the bulkhead fills up", arrived)
				}
				began := time.Now()
				for range 5 {
					g.Get("/"+service+"/x").wantStatus(t, refusal)
				}
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("five refusals took %s", took)
				}
				if n := b.Requests() - before; n != limit {
					t.Errorf("%d calls reached the server, want %d", n, limit)
				}
				for range limit {
					finish <- struct{}{}
				}
				busy.Wait()
			}
		})
	}
}
