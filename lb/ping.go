package lb

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Ping finds out whether a server is alive.
type Ping interface {
	// Alive may be called for several servers at once. It gives up when ctx ends; its answer
	// is then false.
	Alive(ctx context.Context, s *Server) bool
}

// PingFunc makes a Ping of a function.
type PingFunc func(ctx context.Context, s *Server) bool

// Alive implements Ping.
func (f PingFunc) Alive(ctx context.Context, s *Server) bool { return f(ctx, s) }

// DummyPing asks nobody: a balancer with it does not ping, and a server that was marked
// down is alive again with the next list. A nil Ping means the same.
type DummyPing struct{}

// Alive implements Ping.
func (DummyPing) Alive(context.Context, *Server) bool { return true }

// NoOpPing finds every server alive, but is asked: a server that was marked down is
// alive again after the next ping.
type NoOpPing struct{}

// Alive implements Ping.
func (NoOpPing) Alive(context.Context, *Server) bool { return true }

// PingConstant always gives the same answer.
type PingConstant bool

// Alive implements Ping.
func (p PingConstant) Alive(context.Context, *Server) bool { return bool(p) }

// PingURL sends GET to every server. It is alive if it answers 200 with the expected body.
type PingURL struct {
	// Transport carries the request; nil means http.DefaultTransport. The balancer's deadline
	// for all pings bounds it.
	Transport http.RoundTripper
	// Secure chooses the scheme.
	Secure SecurePolicy
	// Path follows host and port, with a query if it has one; empty means "/".
	Path string
	// Expected, if not empty, is the body that is wanted.
	Expected string
}

var _ Ping = (*PingURL)(nil)

// Alive implements Ping.
func (p *PingURL) Alive(ctx context.Context, s *Server) bool {
	req, err := p.request(ctx, s)
	if err != nil {
		return false
	}
	resp, err := orDefault(p.Transport).RoundTrip(req)
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxDrain+int64(len(p.Expected))))
	return err == nil && resp.StatusCode == http.StatusOK && (p.Expected == "" || string(body) == p.Expected)
}

// request asks the server's host and port; its id may be something else.
func (p *PingURL) request(ctx context.Context, s *Server) (*http.Request, error) {
	path := p.Path
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	target, err := url.Parse(p.Secure.scheme(s) + "://" + s.hostHeader() + path)
	if err != nil {
		return nil, fmt.Errorf("lb: ping of %s: %w", s.id(), err)
	}
	target.Host = s.HostPort()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://placeholder.invalid", http.NoBody)
	if err != nil {
		return nil, err
	}
	req.URL, req.Host = target, s.hostHeader()
	return req, nil
}

// DiscoveryPing asks discovery: a server is dead if its instance is known and not up.
type DiscoveryPing struct {
	// Up tells whether an instance is up, and whether it is known at all, by its id.
	Up func(id string) (up, known bool)
}

var _ Ping = DiscoveryPing{}

// Alive implements Ping.
func (p DiscoveryPing) Alive(_ context.Context, s *Server) bool {
	up, known := p.Up(s.id())
	return up || !known
}

// PingStrategy pings servers: serially, in parallel, or otherwise.
type PingStrategy interface {
	// Ping calls result for each server that it has pinged, from one goroutine at a time. It
	// returns when all are pinged, or soon after ctx has ended.
	Ping(ctx context.Context, p Ping, servers []*Server, result func(s *Server, alive bool))
}

// SerialPing pings one server after the other. Those that are not reached before ctx
// ends, or so late that they had less than half of the time, stay as they were, and are
// the first of the next time.
type SerialPing struct{ next int }

var _ PingStrategy = (*SerialPing)(nil)

// Ping implements PingStrategy. It must not be called by several goroutines.
func (p *SerialPing) Ping(ctx context.Context, ping Ping, servers []*Server, result func(*Server, bool)) {
	start := time.Now()
	for range servers {
		if ctx.Err() != nil {
			return
		}
		s, asked := servers[p.next%len(servers)], time.Now()
		alive := ping.Alive(ctx, s)
		if !alive && hurried(ctx, start, asked) {
			return
		}
		p.next = (p.next + 1) % len(servers)
		result(s, alive)
	}
}

// hurried reports that a round that began at start has ended too soon for a server that
// was asked late in it: after less than half of the time, so that a frozen server needs
// two rounds at most to be found out.
func hurried(ctx context.Context, start, asked time.Time) bool {
	return ctx.Err() != nil && time.Since(asked) < asked.Sub(start)
}

// ParallelPing pings several servers at once, in an order drawn anew each time. Those that
// are not reached before ctx ends, or too late, stay as they were, as with SerialPing.
type ParallelPing struct {
	// Most at once; 0 or less means 16.
	Most int
}

var _ PingStrategy = ParallelPing{}

// Ping implements PingStrategy.
func (p ParallelPing) Ping(ctx context.Context, ping Ping, servers []*Server, result func(*Server, bool)) {
	most := p.Most
	if most <= 0 {
		most = 16
	}
	var mu sync.Mutex // held during result
	var wg sync.WaitGroup
	queue := make(chan *Server, len(servers))
	for _, i := range rand.Perm(len(servers)) {
		queue <- servers[i]
	}
	start := time.Now()
	close(queue)
	for range min(most, len(servers)) {
		wg.Go(func() {
			for s := range queue {
				if ctx.Err() != nil {
					return
				}
				asked := time.Now()
				alive := ping.Alive(ctx, s)
				if !alive && hurried(ctx, start, asked) {
					return
				}
				mu.Lock()
				result(s, alive)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}
