package e2e_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// rude are clients that reset, half-close and abandon their connections at any moment of
// an exchange. What they do receive has to be their own.
type rude struct {
	g       *gateway
	stop    atomic.Bool
	visits  atomic.Int64
	clients sync.WaitGroup
}

func startRude(g *gateway, target string) *rude {
	r := &rude{g: g}
	for client := range loadWorkers {
		r.clients.Go(func() {
			for n := 0; !r.stop.Load(); n++ {
				r.visit(target, fmt.Sprintf("rude-%d-%d", client, n))
				r.visits.Add(1)
			}
		})
	}
	g.tb.Cleanup(r.Stop)
	return r
}

// visit sends a request, or a part of it, and receives the answer, or a part of it.
func (r *rude) visit(target, id string) {
	c, err := connectFrom([4]byte{127, 0, 0, 1}, r.g.Proxy)
	if err != nil {
		r.g.tb.Errorf("%s: %v", id, err)
		return
	}
	defer c.Close()
	body := strings.Repeat(id+" ", 2000)
	request := lines("POST "+target+" HTTP/1.1", "Host: a", "X-Id: "+id, fmt.Sprintf("Content-Length: %d", len(body))) + body
	mood := rand.IntN(4)
	if mood == 0 {
		request = request[:rand.IntN(len(request))]
	}
	_, _ = io.WriteString(c, request)
	if mood == 1 {
		_ = c.CloseWrite()
	}
	if mood > 1 {
		r.receive(c, id, id+" "+body)
	}
	if rand.IntN(2) == 0 {
		_ = c.SetLinger(0)
	}
}

// receive reads a part of the answer. One that has begun well has only bytes of its own.
func (r *rude) receive(c io.Reader, id, want string) {
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || res.StatusCode != http.StatusOK {
		return
	}
	defer res.Body.Close()
	got, _ := io.ReadAll(io.LimitReader(res.Body, int64(rand.IntN(len(want)))))
	if !strings.HasPrefix(want, string(got)) {
		r.g.tb.Errorf("%s received %.200q", id, got)
	}
}

// Stop ends the visits.
func (r *rude) Stop() {
	r.stop.Store(true)
	r.clients.Wait()
}

// Progress waits for so many further visits.
func (r *rude) Progress(n int64) {
	r.g.tb.Helper()
	goal := r.visits.Load() + n
	eventually(r.g.tb, "the visits go on", func() bool { return r.visits.Load() >= goal })
}

// Rude clients harm nobody else, whatever happens to the upstreams meanwhile, and nothing
// of them stays.
func TestShowRudeClients(t *testing.T) {
	t.Parallel()
	a, b := backendtest.Start(t, identify()), backendtest.Start(t, identify())
	yaml := pairYAML(true, patience, a.Addr, b.Addr)
	g := startGateway(t, yaml)
	honest := startLoad(t, g.URL("/pair/x"), http.MethodGet) // see TestShowServerKilledAndRevived for POST
	clients := startRude(g, "/pair/x")
	for _, victim := range []*backendtest.Backend{a, b} {
		clients.Progress(200)
		honest.Reaches(victim, 50)
		victim.Kill()
		clients.Progress(100)
		honest.Progress(100)
		victim.Revive()
	}
	clients.Stop()
	honest.Stop()
	honest.client.CloseIdleConnections()
	a.Crash()
	b.Crash()
	g.wantNoLeak(yaml)
}

// Frozen and crashing upstreams at the same time: no client gets what is not its own, and
// when it is over everything is as at the start.
func TestShowRudeClientsAndUpstreams(t *testing.T) {
	t.Parallel()
	a, b := backendtest.Start(t, identify()), backendtest.Start(t, identify())
	yaml := pairYAML(true, 300*time.Millisecond, a.Addr, b.Addr) + "hystrix.command.pair.circuitBreaker.enabled: false\n"
	g := startGateway(t, yaml)
	clients := startRude(g, "/pair/x")
	for range 2 {
		clients.Progress(100)
		a.Freeze()
		clients.Progress(20)
		a.Revive()
		clients.Progress(50)
		b.Crash()
		clients.Progress(50)
		b.Revive()
		a.Use(backendtest.Reset())
		b.Use(backendtest.Cut("", 4))
		clients.Progress(50)
		a.Use(identify())
		b.Use(identify())
	}
	clients.Stop()
	for range 4 {
		eventually(t, "it answers as at the start", func() bool { return g.Get("/pair/x", "X-Id: 1").Body == "1" })
	}
	a.Crash()
	b.Crash()
	g.wantNoLeak(yaml)
}
