package e2e_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// streaming is an upstream that switches when it is asked to, and else sends events
// without end.
func streaming(t *testing.T) *backendtest.Backend {
	t.Helper()
	switched := switching()
	return backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" {
			switched.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			if _, err := io.WriteString(w, "data: x\n\n"); err != nil || http.NewResponseController(w).Flush() != nil {
				return
			}
			select {
			case <-r.Context().Done():
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}))
}

func streamingConfig(b *backendtest.Backend, limit, grace time.Duration) string {
	return fmt.Sprintf("zuul.routes.url: {path: /url/**, url: \"%s\"}\nzuul.host.max-per-route-connections: 100\nserver.http2.enabled: true\n"+
		"spring.lifecycle.timeout-per-shutdown-phase: %dms\ngateway.shutdown.stream-grace: %dms\n", b.URL(), limit.Milliseconds(), grace.Milliseconds())
}

// events opens a stream of events and has seen the first when it returns.
func (g *gateway) events() net.Conn {
	g.tb.Helper()
	c := dial(g.tb, g.Proxy)
	write(g.tb, c, lines("GET /url/events HTTP/1.1", "Host: g.test"))
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		g.tb.Fatal(err)
	}
	g.tb.Cleanup(func() { _ = res.Body.Close() })
	if _, err := io.ReadFull(res.Body, make([]byte, 4)); err != nil {
		g.tb.Fatal(err)
	}
	return c
}

// C217: streams that end by themselves end well, the others at the end of their grace.
func TestC217DrainOfStreams(t *testing.T) {
	t.Parallel()
	const each, grace = 20, 4 * time.Second
	g := startGateway(t, streamingConfig(streaming(t), patience, grace))
	var polite, stubborn []net.Conn
	for n := range each {
		socket, events := g.upgrade("/url/ws", "Connection: Upgrade", "Upgrade: websocket").conn, g.events()
		if n%2 == 0 {
			polite = append(polite, socket, events)
		} else {
			stubborn = append(stubborn, socket, events)
		}
	}
	began := time.Now()
	g.Signal(syscall.SIGTERM)
	eventually(t, "new connections are refused", func() bool { return isRefused(t, g.Proxy) })
	for _, c := range polite {
		_ = c.Close()
	}
	for _, c := range stubborn {
		_, _ = io.Copy(io.Discard, c)
		if took := time.Since(began); took < grace {
			t.Errorf("a stream was cut after %s", took)
		}
	}
	wantExit(t, g.ExitCode(), 0)
	wantLines(t, g.Log.String(), []string{"msg=\"shutdown: streams are cut\" connections=10 requests=0 streams=10 tunnels=10"})
}

// Requests and streams have times of their own, either of which may be the longer one.
func TestDrainTimesOfRequestsAndStreams(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		limit, grace time.Duration
		first        string
		code         int
	}{
		"streams go first":  {patience, 200 * time.Millisecond, "stream", 0},
		"requests go first": {200 * time.Millisecond, 3 * time.Second, "request", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			slow := startSlow(t)
			g := startGateway(t, streamingConfig(streaming(t), row.limit, row.grace)+"zuul.routes.slow: {path: /slow/**, serviceId: slow}\nslow.ribbon: {listOfServers: "+slow.Addr+", ReadTimeout: 1m}\n")
			stream, request := g.events(), slow.begin(t, g)
			ended := make(chan string, 2)
			for kind, c := range map[string]net.Conn{"stream": stream, "request": request} {
				go func() { _, _ = io.Copy(io.Discard, c); ended <- kind }()
			}
			g.Signal(syscall.SIGTERM)
			if got := receive(t, "one kind ends", ended); got != row.first {
				t.Errorf("the %s ended first", got)
			}
			close(slow.finish)
			receive(t, "the other kind ends", ended)
			wantExit(t, g.ExitCode(), row.code)
		})
	}
}

// C216: clients of HTTP/2 are told to go with their next answer; those that stay have their
// streams reset at the end.
func TestC216DrainOfHTTP2Streams(t *testing.T) {
	t.Parallel()
	slow := startSlow(t)
	g := startGateway(t, streamingConfig(streaming(t), patience, time.Second)+"zuul.routes.slow: {path: /slow/**, serviceId: slow}\nslow.ribbon: {listOfServers: "+slow.Addr+", ReadTimeout: 1m}\n")
	const inFlight = 50
	h := g.dialH2()
	for range inFlight {
		h.open(true, get2("/slow/x")...)
		receive(t, "the request arrives", slow.arrived)
	}
	stubborn := g.dialH2()
	stubborn.open(true, get2("/url/events")...)
	for begun := false; !begun; {
		f, err := stubborn.ReadFrame()
		stubborn.must(err)
		_, begun = f.(*http2.DataFrame)
	}
	g.Signal(syscall.SIGTERM)
	eventually(t, "new connections are refused", func() bool { return isRefused(t, g.Proxy) })
	if reset := stubborn.untilReset(); reset != http2.ErrCodeInternal && reset != http2.ErrCodeCancel {
		t.Errorf("the stream was reset with %v", reset)
	}
	close(slow.finish)
	if answered, away := h.rest(); answered != inFlight || !away {
		t.Errorf("%d answers of %d, GOAWAY: %v", answered, inFlight, away)
	}
	wantExit(t, g.ExitCode(), 0)
}

// untilReset reads on until a stream is reset.
func (h *h2client) untilReset() http2.ErrCode {
	h.tb.Helper()
	for {
		f, err := h.ReadFrame()
		if err != nil {
			h.tb.Fatalf("no reset: %v", err)
		}
		if reset, ok := f.(*http2.RSTStreamFrame); ok {
			return reset.ErrCode
		}
	}
}

// rest counts the streams that end well until the connection does.
func (h *h2client) rest() (answered int, away bool) {
	for {
		f, err := h.ReadFrame()
		if err != nil {
			return answered, away
		}
		switch f := f.(type) {
		case *http2.GoAwayFrame:
			away = true
		case *http2.DataFrame:
			if f.StreamEnded() {
				answered++
			}
		}
	}
}

// C216: none of the requests that get through is lost: not those in flight, not those on
// kept connections, not those on new ones before they are refused.
func TestC216DrainUnderLoad(t *testing.T) {
	t.Parallel()
	slow, quick := startSlow(t), backendtest.Start(t, identify())
	g := startGateway(t, slow.yaml(500*time.Millisecond, patience)+fmt.Sprintf("zuul.routes.a: {path: /a/**, url: \"http://%s\"}\n", quick.Addr))
	var held []net.Conn
	for range 50 {
		held = append(held, slow.begin(t, g))
	}
	var workers sync.WaitGroup
	for n := range loadWorkers {
		client := newClient(t)
		client.Transport.(*http.Transport).DisableKeepAlives = n%2 == 0
		workers.Go(func() {
			if err := getUntilError(client, g.URL("/a/x")); !strings.Contains(err.Error(), "connection refused") && !strings.Contains(err.Error(), "connection reset") {
				t.Errorf("a client ended with %v, want connection refused", err)
			}
		})
	}
	eventually(t, "requests flow", func() bool { return quick.Requests() > 100 })
	g.Signal(syscall.SIGTERM)
	workers.Wait()
	close(slow.finish)
	for _, c := range held {
		nextAnswer(t, bufio.NewReader(c), http.MethodGet).wantStatus(t, http.StatusOK)
	}
	wantExit(t, g.ExitCode(), 0)
}

// The log tells the steps in their order, and the registry hears of them.
func TestDrainStepsAreLogged(t *testing.T) {
	t.Parallel()
	slow := startSlow(t)
	registry, url := startRegistry(t)
	g := startGateway(t, slow.yaml(300*time.Millisecond, patience)+"eureka.client: {service-url.defaultZone: \""+url+"\"}\nspring.application.name: front\n")
	eventually(t, "the gateway is registered", func() bool { return g.Log.Count("eureka: registered") == 1 })
	c := slow.begin(t, g)
	g.Signal(syscall.SIGTERM)
	eventually(t, "the registry has heard of it", func() bool {
		a, err := g.tryGet(strings.TrimSuffix(url, "/") + "/apps/FRONT")
		return err == nil && strings.Contains(a.Body, "OUT_OF_SERVICE")
	})
	eventually(t, "new connections are refused", func() bool { return isRefused(t, g.Proxy) })
	if g.readiness() != http.StatusServiceUnavailable {
		t.Error("the management endpoints do not answer during the drain")
	}
	close(slow.finish)
	nextAnswer(t, bufio.NewReader(c), http.MethodGet).wantStatus(t, http.StatusOK)
	wantExit(t, g.ExitCode(), 0)
	want := []string{
		"not ready any more", "out of service in the registry", "waiting for balancers to notice", "no new connections",
		"all requests and streams have ended", "left the registry", "done",
	}
	steps := regexp.MustCompile(`msg="shutdown: ([^"]+)" connections=\d+ requests=\d+ streams=\d+ tunnels=\d+`)
	var got []string
	for _, m := range steps.FindAllStringSubmatch(g.Log.String(), -1) {
		got = append(got, m[1])
	}
	if strings.Join(got, "; ") != strings.Join(want, "; ") {
		t.Errorf("steps %q, want %q", got, want)
	}
	if registry.Log.Count("panic") > 0 {
		t.Error("the registry has failed")
	}
}

// An idle connection is not closed at once: the request that comes is answered, and with
// a word of farewell.
func TestDrainAnswersOnIdleConnections(t *testing.T) {
	t.Parallel()
	b := backendtest.Start(t, identify())
	g := startGateway(t, fmt.Sprintf("zuul.routes.a: {path: /a/**, url: \"http://%s\"}\ngateway.shutdown.idle-grace: 20s\n", b.Addr))
	c := dial(t, g.Proxy)
	r := bufio.NewReader(c)
	for range 2 {
		write(t, c, lines("GET /a/x HTTP/1.1", "Host: g.test"))
		res, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if res.Close {
			wantClosed(t, c)
			wantExit(t, g.ExitCode(), 0)
			return
		}
		g.Signal(syscall.SIGTERM)
		eventually(t, "new connections are refused", func() bool { return isRefused(t, g.Proxy) })
	}
	t.Error("the last answer lacks Connection: close")
}

// A second signal ends what the first has begun.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	slow := startSlow(t)
	g := startGateway(t, slow.yaml(0, patience))
	slow.begin(t, g)
	g.Signal(syscall.SIGTERM)
	eventually(t, "new connections are refused", func() bool { return isRefused(t, g.Proxy) })
	g.Signal(syscall.SIGTERM)
	wantExit(t, g.ExitCode(), 1)
}
