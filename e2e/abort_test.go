package e2e_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// C126: a client that goes away takes its upstream call with it, and counts against
// nobody: no retry, no breaker, no server statistics.
func TestClientGoesAway(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*net.TCPConn) error{
		"with FIN": func(c *net.TCPConn) error { return c.Close() },
		"with RST": func(c *net.TCPConn) error {
			if err := c.SetLinger(0); err != nil {
				return err
			}
			return c.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, two := startSlow(t), startSlow(t)
			g := startGateway(t, fmt.Sprintf(`
zuul.routes.slow: {path: /slow/**, serviceId: slow, retryable: true}
slow.ribbon: {listOfServers: "%s,%s", ReadTimeout: 1m}
hystrix.command.slow:
  circuitBreaker.requestVolumeThreshold: 1
  metrics.healthSnapshot.intervalInMilliseconds: 10
logging.level.root: debug
`, one.Addr, two.Addr))
			const visits = 10
			for n := range visits {
				c := dial(t, g.Proxy)
				write(t, c, lines("GET /slow/x HTTP/1.1", "Host: gateway.test"))
				s := []*slowUpstream{one, two}[n%2]
				receive(t, "the request arrives", s.arrived)
				if err := leave(c); err != nil {
					t.Fatal(err)
				}
				receive(t, "the upstream call is cancelled", s.gone)
			}
			close(one.finish)
			close(two.finish)
			for range 4 {
				g.Get("/slow/x").wantStatus(t, http.StatusOK)
			}
			if a, b := one.Requests(), two.Requests(); a != visits/2+2 || b != visits/2+2 {
				t.Errorf("%d and %d requests, want %d each: something was repeated, or a server avoided", a, b, visits/2+2)
			}
			if g.Log.Count("level=WARN") != 0 {
				t.Error("a client that left is no reason for a warning")
			}
		})
	}
}

// C126 again, for a request body that stops half-way. It is too long to be gathered
// before it is sent.
func TestClientGoesAwayWhileSending(t *testing.T) {
	t.Parallel()
	arrived, failed := make(chan struct{}), make(chan error, 1)
	b := backendtest.Start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if _, err := r.Body.Read(make([]byte, 4)); err != nil {
			t.Error(err)
		}
		close(arrived)
		var err error
		for err == nil {
			_, err = r.Body.Read(make([]byte, 4))
		}
		failed <- err
	}))
	g := startGateway(t, fmt.Sprintf("zuul.routes.up: {path: /up/**, url: \"http://%s\"}\n", b.Addr))
	c := dial(t, g.Proxy)
	write(t, c, lines("POST /up/x HTTP/1.1", "Host: gateway.test", "Content-Length: 1000000")+strings.Repeat("some", 25_000))
	receive(t, "the first bytes arrive", arrived)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := receive(t, "the upstream learns", failed); err.Error() == "EOF" {
		t.Error("the upstream took half a body for a whole one")
	}
}

// C113: a stream that nobody listens to any more ends, also when it is silent.
func TestClientLeavesAStream(t *testing.T) {
	t.Parallel()
	for name, talk := range map[string]bool{"talking": true, "silent": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gone := make(chan struct{}, 1)
			b := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				w.WriteHeader(http.StatusOK)
				flusher := http.NewResponseController(w)
				for err := flusher.Flush(); err == nil && talk && r.Context().Err() == nil; err = flusher.Flush() {
					_, _ = w.Write([]byte("data: x\n\n")) // Flush tells
				}
				<-r.Context().Done()
				gone <- struct{}{}
			}))
			g := startGateway(t, fmt.Sprintf("zuul.routes.s: /s/**\ns.ribbon.listOfServers: %s\n", b.Addr))
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.URL("/s/x"), http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			res, err := newClient(t).Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close() // net/http closes the connection of a body that was not read
			receive(t, "the upstream's connection is closed", gone)
		})
	}
}
