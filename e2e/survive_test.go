package e2e_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// pairYAML is a route to a service with two servers. A server that fails three times in a
// row is left alone for 100 ms, not 10 s, so that a test sees it come back.
func pairYAML(retryable bool, readTimeout time.Duration, a, b string) string {
	return fmt.Sprintf(`
zuul.routes.pair: {path: /pair/**, serviceId: pair, retryable: %t}
pair.ribbon: {listOfServers: "%s,%s", ReadTimeout: %d}
niws.loadbalancer.pair: {circuitTripTimeoutFactorSeconds: 100ms, circuitTripMaxTimeoutSeconds: 100ms}
hystrix.command.pair.execution.isolation.thread.timeoutInMilliseconds: 600000
`, retryable, a, b, readTimeout.Milliseconds())
}

// Kill refuses connections and finishes what is in flight. It says "Connection: close"
// with the answers of its last connections and closes only those that nobody has used for
// a while: when a server closes a connection at the very moment at which a POST is on its
// way there, the gateway cannot know whether it was processed, and must neither repeat it
// nor call it a success. No proxy could pass a test that does so.
func TestShowServerKilledAndRevived(t *testing.T) {
	t.Parallel()
	for _, retryable := range []bool{false, true} {
		t.Run(fmt.Sprintf("retryable %t, all methods", retryable), func(t *testing.T) {
			t.Parallel()
			a, b := backendtest.Start(t, identify()), backendtest.Start(t, identify())
			g := startGateway(t, pairYAML(retryable, patience, a.Addr, b.Addr))
			l := startLoad(t, g.URL("/pair/x"),
				http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, http.MethodOptions)
			for _, victim := range []*backendtest.Backend{a, b, a} {
				l.Reaches(victim, 100)
				victim.Kill()
				l.Progress(300)
				victim.Revive()
				l.Reaches(victim, 100)
			}
			l.Stop()
		})
	}
}

func TestShowServerFrozen(t *testing.T) {
	t.Parallel()
	a, b := backendtest.Start(t, identify()), backendtest.Start(t, identify())
	g := startGateway(t, pairYAML(true, 4*time.Second, a.Addr, b.Addr))
	l := startLoad(t, g.URL("/pair/x"), http.MethodGet)
	l.Reaches(a, 50)
	a.Freeze()
	l.Progress(200)
	a.Revive()
	l.Reaches(a, 50)
	l.Stop()
}

// What fails in the middle of an answer cannot be taken back, so only what had not begun
// is asked for here.
func TestShowServerCrashesBeforeAnswering(t *testing.T) {
	t.Parallel()
	a, b := backendtest.Start(t, identify()), backendtest.Start(t, identify())
	g := startGateway(t, pairYAML(true, patience, a.Addr, b.Addr))
	l := startLoad(t, g.URL("/pair/x"), http.MethodGet)
	for range 3 {
		l.Reaches(a, 50)
		a.Use(backendtest.Reset())
		l.Progress(100)
		a.Use(identify())
	}
	l.Stop()
}

// A connection that the server has closed while nobody used it is no failure of the next
// request, whatever its method: nothing of that request was on it.
func TestServerRestartedBetweenRequests(t *testing.T) {
	t.Parallel()
	b := backendtest.Start(t, identify())
	g := startGateway(t, oneYAML(b.Addr, "", ""))
	for n := range 50 {
		b.Crash() // nothing is in flight
		b.Revive()
		method := []string{http.MethodPost, http.MethodDelete, http.MethodPatch}[n%3]
		if a := g.Do(method, "/one/x", "body", "X-Id: 1").wantStatus(t, http.StatusOK); a.Body != "1 body" {
			t.Errorf("%s got %q", method, a.Body)
		}
	}
}
