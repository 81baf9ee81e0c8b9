package gozer_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/memhttp"
)

const (
	proxy      = "127.0.0.1:8080"
	management = "127.0.0.1:8081"
	draining   = `
server.address: 127.0.0.1
gateway.shutdown.wait: 5s
spring.lifecycle.timeout-per-shutdown-phase: 30s
`
)

// hold answers /slow when it is let go, unless the client leaves first, and
// everything else at once.
type hold chan struct{}

func (h hold) spec() filters.Spec {
	return filters.Func("Hold", filters.Pre, 0, func(c *filters.Context) error {
		if c.Path.Clean == "/slow" {
			select {
			case <-h:
			case <-c.Request.Context().Done():
				return filters.ErrClientGone
			}
		}
		c.Respond(http.StatusOK, nil, strings.NewReader("done"))
		return nil
	})
}

type answer struct {
	status int
	err    error
}

// place is a gateway on a network in memory, at work.
type place struct {
	*running
	network *memhttp.Network
	held    hold
}

func open(t *testing.T, yaml string) *place {
	t.Helper()
	p := &place{network: memhttp.NewNetwork(), held: make(hold)}
	p.running = run(t, newGateway(t, yaml, gozer.WithFilters(p.held.spec()), p.listen()))
	synctest.Wait()
	return p
}

func (p *place) listen() gozer.Option {
	return gozer.WithListen(func(_ context.Context, address string) (net.Listener, error) { return p.network.Listen(address) })
}

// get asks over a connection of its own.
func (p *place) get(t *testing.T, url string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	rt := &http.Transport{DialContext: p.network.Dial, DisableKeepAlives: true}
	res, err := rt.RoundTrip(req)
	if err != nil {
		return answer{err: err}
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return answer{res.StatusCode, err}
}

// start is get without waiting for the answer.
func (p *place) start(t *testing.T, url string) <-chan answer {
	t.Helper()
	answers := make(chan answer, 1)
	go func() { answers <- p.get(t, url) }()
	synctest.Wait()
	return answers
}

func (p *place) wantStatus(t *testing.T, url string, want int) {
	t.Helper()
	if got := p.get(t, url); got.err != nil || got.status != want {
		t.Errorf("%s answered %d, %v; want %d", url, got.status, got.err, want)
	}
}

func (p *place) wantRefused(t *testing.T, url string) {
	t.Helper()
	if got := p.get(t, url); !errors.Is(got.err, syscall.ECONNREFUSED) {
		t.Errorf("%s answered %d, %v; want connection refused", url, got.status, got.err)
	}
}

// after returns when fake time has gone on and everything that this leads to has been done.
func after(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

const readiness = management + "/actuator/health/readiness"

func TestShutdownInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, draining)
		p.wantStatus(t, readiness, http.StatusOK)
		slow := p.start(t, proxy+"/slow")

		p.stop()
		after(4 * time.Second)
		p.wantStatus(t, readiness, http.StatusServiceUnavailable)
		p.wantStatus(t, proxy+"/fast", http.StatusOK) // while load balancers find out

		after(2 * time.Second)
		p.wantRefused(t, proxy+"/fast")
		p.wantStatus(t, readiness, http.StatusServiceUnavailable)
		select {
		case err := <-p.done:
			t.Fatalf("Run did not wait for the request in flight: %v", err)
		default:
		}

		close(p.held)
		if got := <-slow; got.err != nil || got.status != http.StatusOK {
			t.Errorf("the request in flight got %d, %v", got.status, got.err)
		}
		if err := <-p.done; err != nil {
			t.Errorf("Run returned %v", err)
		}
		p.wantRefused(t, readiness)
	})
}

func TestShutdownCutsOffWhatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, draining)
		slow := p.start(t, proxy+"/slow")
		stopped := time.Now()
		p.stop()
		err := <-p.done
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "30s of draining") {
			t.Errorf("Run returned %v", err)
		}
		// The server looks for the end of requests at times of its own.
		if took := time.Since(stopped); took < 35*time.Second || took > 36*time.Second {
			t.Errorf("shutdown took %v, want 5s + 30s", took)
		}
		if got := <-slow; got.err == nil {
			t.Errorf("the request that did not end got %d", got.status)
		}
	})
}

func TestImmediateShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, draining+"server.shutdown: immediate\n")
		slow := p.start(t, proxy+"/slow")
		stopped := time.Now()
		p.stop()
		if err := <-p.done; err != nil || time.Since(stopped) != 0 {
			t.Errorf("Run returned %v after %v, want nil at once", err, time.Since(stopped))
		}
		if got := <-slow; got.err == nil {
			t.Errorf("the request in flight got %d", got.status)
		}
	})
}

func TestServicesWithoutATimeoutHaveNoBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, lines := logged()
		p := &place{network: memhttp.NewNetwork()}
		r := run(t, newGateway(t, usersAt("books.ribbon.ReadTimeout: 2s\nhystrix.command.users.execution.timeout.enabled: false\n", "one:80"), log, p.listen()))
		synctest.Wait()
		r.stop()
		if err := <-r.done; err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"id=users budget=none", "id=books budget=6s"} {
			if !strings.Contains(lines.String(), want) {
				t.Errorf("%s is missing in\n%s", want, lines)
			}
		}
	})
}

func TestNoManagementListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, draining+"management.server.port: -1\n")
		p.wantStatus(t, proxy+"/fast", http.StatusOK)
		p.wantRefused(t, readiness)
		p.stop()
		if err := <-p.done; err != nil {
			t.Error(err)
		}
	})
}

func TestRunOpensAllListenersOrNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &place{network: memhttp.NewNetwork()}
		taken, err := p.network.Listen(management)
		if err != nil {
			t.Fatal(err)
		}
		defer taken.Close()
		err = newGateway(t, draining, p.listen()).Run(t.Context())
		if !errors.Is(err, syscall.EADDRINUSE) || !strings.HasPrefix(err.Error(), "gozer: management listener: ") {
			t.Errorf("Run returned %v", err)
		}
		p.wantRefused(t, proxy)
	})
}

func TestRunEndsWithABrokenListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &place{network: memhttp.NewNetwork()}
		broken := errors.New("broken")
		r := run(t, newGateway(t, draining, gozer.WithListen(func(_ context.Context, address string) (net.Listener, error) {
			l, err := p.network.Listen(address)
			if address == proxy {
				l = failing{l, broken}
			}
			return l, err
		})))
		if err := <-r.done; !errors.Is(err, broken) {
			t.Errorf("Run returned %v", err)
		}
		p.wantRefused(t, readiness)
	})
}

// What the system keeps for a reader that takes nothing must not hide for minutes
// that the stream has to drop it.
func TestManagementBoundsWriteBuffers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &place{network: memhttp.NewNetwork()}
		bounds := make(chan int, 1)
		p.running = run(t, newGateway(t, draining, gozer.WithListen(func(_ context.Context, address string) (net.Listener, error) {
			l, err := p.network.Listen(address)
			return bounding{l, bounds}, err
		})))
		synctest.Wait()
		p.wantStatus(t, readiness, http.StatusOK)
		select {
		case n := <-bounds:
			if n < 4<<10 || n > 64<<10 {
				t.Errorf("%d bytes", n)
			}
		default:
			t.Error("there is no bound")
		}
	})
}

// bounding is a listener whose connections tell how much they may keep.
type bounding struct {
	net.Listener
	bounds chan<- int
}

func (b bounding) Accept() (net.Conn, error) {
	c, err := b.Listener.Accept()
	return boundConn{c, b.bounds}, err
}

type boundConn struct {
	net.Conn
	bounds chan<- int
}

func (c boundConn) SetWriteBuffer(n int) error { c.bounds <- n; return nil }

// failing is a listener that cannot accept.
type failing struct {
	net.Listener
	err error
}

func (f failing) Accept() (net.Conn, error) { return nil, f.err }
