package e2e_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// slowUpstream holds every request until it is told to finish.
type slowUpstream struct {
	*backendtest.Backend
	arrived chan struct{}
	finish  chan struct{}
	gone    chan struct{} // gets one for every client that left
}

func startSlow(t *testing.T) *slowUpstream {
	t.Helper()
	s := &slowUpstream{arrived: make(chan struct{}, 100), finish: make(chan struct{}), gone: make(chan struct{}, 100)}
	s.Backend = backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.arrived <- struct{}{}
		select {
		case <-s.finish:
			io.WriteString(w, "finished")
		case <-r.Context().Done():
			s.gone <- struct{}{}
		}
	}))
	return s
}

// yaml is a gateway in front of the upstream, with the waits of its shutdown.
func (s *slowUpstream) yaml(wait, drain time.Duration) string {
	return fmt.Sprintf(`
zuul.routes.slow: {path: /slow/**, serviceId: slow}
slow.ribbon: {listOfServers: %s, ReadTimeout: 1m}
gateway.shutdown.wait: %dms
spring.lifecycle.timeout-per-shutdown-phase: %dms
`, s.Addr, wait.Milliseconds(), drain.Milliseconds())
}

// begin sends a request that the upstream holds, on a connection of its own.
func (s *slowUpstream) begin(t *testing.T, g *gateway) *net.TCPConn {
	t.Helper()
	c := dial(t, g.Proxy)
	write(t, c, lines("GET /slow/x HTTP/1.1", "Host: gateway.test"))
	receive(t, "the request arrives", s.arrived)
	return c
}

// C216: red first, then closed; what is in flight is answered.
func TestShutdownDrains(t *testing.T) {
	t.Parallel()
	s := startSlow(t)
	g := startGateway(t, s.yaml(3*time.Second, patience))
	idle := dial(t, g.Proxy)
	write(t, idle, lines("GET /nowhere HTTP/1.1", "Host: gateway.test"))
	nextAnswer(t, bufio.NewReader(idle), http.MethodGet).wantStatus(t, http.StatusNotFound)
	c := s.begin(t, g)
	g.Signal(syscall.SIGTERM)

	eventually(t, "readiness goes down", func() bool { return g.readiness() == http.StatusServiceUnavailable })
	late := s.begin(t, g) // not ready, and still serving whoever has not heard
	eventually(t, "new connections are refused", func() bool { return isRefused(t, g.Proxy) })
	if !g.alive() {
		t.Fatal("the gateway did not wait for requests in flight")
	}
	close(s.finish)
	for _, conn := range []*net.TCPConn{c, late} {
		a := nextAnswer(t, bufio.NewReader(conn), http.MethodGet).wantStatus(t, http.StatusOK)
		if a.Body != "finished" {
			t.Errorf("got %q", a.Body)
		}
	}
	wantExit(t, g.ExitCode(), 0)
	wantClosed(t, idle)
}

func isRefused(t *testing.T, addr string) bool {
	t.Helper()
	var d net.Dialer
	c, err := d.DialContext(t.Context(), "tcp", addr)
	if err == nil {
		c.Close()
		return false
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

func wantClosed(t *testing.T, c net.Conn) {
	t.Helper()
	if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("read %d bytes, %v from a connection that should be closed", n, err)
	}
}

func TestShutdownTellsKeptAliveClients(t *testing.T) {
	t.Parallel()
	s := startSlow(t)
	g := startGateway(t, s.yaml(0, patience))
	c := s.begin(t, g)
	g.Signal(syscall.SIGTERM)
	eventually(t, "new connections are refused", func() bool { return isRefused(t, g.Proxy) })
	close(s.finish)
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if !res.Close {
		t.Error("the last answer lacks Connection: close")
	}
	wantExit(t, g.ExitCode(), 0)
}

func TestShutdownGivesUpAfterTheDrainTimeout(t *testing.T) {
	t.Parallel()
	s := startSlow(t)
	g := startGateway(t, s.yaml(0, 300*time.Millisecond))
	c := s.begin(t, g)
	began := time.Now()
	wantExit(t, g.Stop(), 1)
	if took := time.Since(began); took < 300*time.Millisecond {
		t.Errorf("gave up after %s", took)
	}
	wantLines(t, g.Log.String(), []string{"requests were cut off after 300ms of draining"})
	wantClosed(t, c)
	receive(t, "the upstream call is cancelled", s.gone)
}

func TestShutdownImmediate(t *testing.T) {
	t.Parallel()
	s := startSlow(t)
	g := startGateway(t, s.yaml(0, patience)+"server.shutdown: immediate\n")
	c := s.begin(t, g)
	wantExit(t, g.Stop(), 0)
	wantClosed(t, c)
}

func TestShutdownOfAnIdleGateway(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		g := startGateway(t, "zuul.routes: {}\n")
		g.Signal(s)
		wantExit(t, g.ExitCode(), 0)
	}
}

// Under load a shutdown loses only what comes after it: a client that is told to close
// its connection finds no listener any more.
func TestShutdownUnderLoad(t *testing.T) {
	t.Parallel()
	b := backendtest.Start(t, identify())
	g := startGateway(t, fmt.Sprintf("zuul.routes.a: {path: /a/**, url: \"http://%s\"}\n", b.Addr))
	ended := make(chan error, loadWorkers)
	for range loadWorkers {
		client := newClient(t)
		if err := getOK(client, g.URL("/a/x")); err != nil { // a connection that waits to be accepted would be reset
			t.Fatal(err)
		}
		go func() { ended <- getUntilError(client, g.URL("/a/x")) }()
	}
	eventually(t, "requests flow", func() bool { return b.Requests() > 100 })
	wantExit(t, g.Stop(), 0)
	for range loadWorkers {
		if err := receive(t, "a client ends", ended); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("a client ended with %v, want connection refused", err)
		}
	}
}

func getUntilError(client *http.Client, url string) error {
	for {
		if err := getOK(client, url); err != nil {
			return err
		}
	}
}

func getOK(client *http.Client, url string) error {
	res, err := client.Get(url) //nolint:noctx // the client has a timeout
	if err != nil {
		return err
	}
	a, err := read(res)
	if err == nil && a.Status != http.StatusOK {
		err = fmt.Errorf("status %d", a.Status)
	}
	return err
}
