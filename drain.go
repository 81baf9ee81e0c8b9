package gozer

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/gozer-gateway/gozer/config"
)

const (
	// lastMoment is what becomes of requests that were cut, and of those to the
	// management endpoints.
	lastMoment = 500 * time.Millisecond
	// lookAgain is the pace at which the end of what nobody announces is looked for.
	lookAgain = 20 * time.Millisecond
)

// drain is the way from serving to the end.
type drain struct {
	g     *Gateway
	cfg   *config.Config
	idle  time.Duration // for connections without a request
	front []*server     // what the process is for, the first one, and further listeners of proxied traffic
	back  []*server     // the registry and, last, the management endpoints: they serve until the drain is over
}

func (g *Gateway) newDrain(servers []*server) *drain {
	d := &drain{g: g, cfg: g.inForce(), front: servers[:1]}
	d.idle = d.cfg.Gateway.Shutdown.IdleGrace
	for _, s := range servers[1:] {
		if s.name == management || s.name == embedded {
			d.back = append(d.back, s)
			continue
		}
		d.front = append(d.front, s)
	}
	return d
}

// shutDown drains in the order that Run documents.
func (g *Gateway) shutDown(servers []*server, registered *registration) error {
	d := g.newDrain(servers)
	g.notify("STOPPING=1")
	g.ready.Store(false)
	defer g.closeAll(servers)
	if !d.cfg.Server.Graceful {
		d.log(slog.LevelInfo, "shutting down at once")
		registered.end(g)
		return nil
	}
	d.log(slog.LevelInfo, "shutdown: not ready any more")
	if registered.outOfService(g) {
		d.log(slog.LevelInfo, "shutdown: out of service in the registry")
	}
	if wait := d.cfg.Gateway.Shutdown.Wait; wait > 0 {
		d.log(slog.LevelInfo, "shutdown: waiting for balancers to notice", "wait", wait)
		<-time.After(wait)
	}
	err := d.run(context.Background())
	if registered.end(g) { // before its registry closes, should that be our own
		d.log(slog.LevelInfo, "shutdown: left the registry")
	}
	d.retire()
	return err
}

// log writes one step with what is open.
func (d *drain) log(level slog.Level, step string, more ...any) {
	connections, requests, responses := d.inFlight()
	d.g.options.logger.Log(context.Background(), level, step, append([]any{ //nolint:sloglint // the callers' are constants
		"connections", connections, "requests", requests, "streams", responses, "tunnels", d.tunnels(),
	}, more...)...)
}

func (d *drain) inFlight() (connections, requests, responses int) {
	for _, s := range d.front {
		c, waiting, begun := s.http.InFlight()
		connections, requests, responses = connections+c, requests+waiting, responses+begun
	}
	return connections, requests, responses
}

// tunnels are the connections that have switched protocols, which no server counts
// among its own.
func (d *drain) tunnels() int { return int(d.g.state.meter.Tunnels.Active.Load()) }

// run refuses new connections and waits for what there is, each kind for its time. The
// end of ctx cuts the rest at once.
func (d *drain) run(ctx context.Context) error {
	limit, grace := d.cfg.Server.DrainTimeout, d.cfg.StreamGrace()
	for _, s := range d.front {
		s.http.Drain()
		if s.name == embedded {
			d.g.registry.EndPush()
		}
	}
	d.log(slog.LevelInfo, "shutdown: no new connections", "requests may take", limit, "streams may take", grace)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan struct{})
	var waiting sync.WaitGroup
	defer waiting.Wait()
	defer cancel()
	waiting.Go(func() { d.await(ctx, ended) })
	if done, err := d.cutInTime(ctx, ended, limit, grace); done {
		return err
	}
	d.log(slog.LevelInfo, "shutdown: all requests and streams have ended")
	return nil
}

// cutInTime returns false if everything has ended before it was due.
func (d *drain) cutInTime(ctx context.Context, ended <-chan struct{}, limit, grace time.Duration) (cut bool, err error) {
	requests, streams := time.NewTimer(limit), time.NewTimer(grace)
	defer requests.Stop()
	defer streams.Stop()
	for due := 2; due > 0; due-- {
		select {
		case <-ended:
			return cut, err
		case <-ctx.Done():
			return true, context.Cause(ctx)
		case <-requests.C:
			if d.cutRequests() {
				cut, err = true, fmt.Errorf("gozer: requests were cut off after %v of draining: %w", limit, context.DeadlineExceeded)
			}
		case <-streams.C:
			cut = d.cutStreams() || cut
		}
	}
	select {
	case <-ended:
	case <-time.After(lastMoment):
	}
	return true, err
}

// await closes ended when nothing is left of the front. Connections without a request
// are given a moment before they are closed.
func (d *drain) await(ctx context.Context, ended chan<- struct{}) {
	idling, cancel := context.WithTimeout(ctx, d.idle)
	defer cancel()
	until(idling, func() bool { n, _, _ := d.inFlight(); return n == 0 })
	var servers sync.WaitGroup
	for _, s := range d.front {
		servers.Go(func() { _ = s.http.Shutdown(ctx) }) // the rest is cut
	}
	servers.Wait()
	until(ctx, func() bool { return d.tunnels() == 0 })
	if ctx.Err() == nil {
		close(ended)
	}
}

// until waits for something to be so, or for the end of ctx.
func until(ctx context.Context, so func() bool) {
	look := time.NewTicker(lookAgain)
	defer look.Stop()
	for !so() {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
}

func (d *drain) cutRequests() (cut bool) {
	if _, requests, _ := d.inFlight(); requests > 0 {
		d.log(slog.LevelWarn, "shutdown: requests are cut")
	}
	for _, s := range d.front {
		cut = s.http.CutRequests() > 0 || cut
	}
	return cut
}

func (d *drain) cutStreams() bool {
	cut := d.tunnels() > 0
	if _, _, responses := d.inFlight(); cut || responses > 0 {
		d.log(slog.LevelWarn, "shutdown: streams are cut")
	}
	for _, s := range d.front {
		cut = s.http.CutResponses() > 0 || cut
	}
	return cut
}

// retire ends what has served beside the front until now, the management endpoints last.
func (d *drain) retire() {
	for _, s := range d.back {
		ctx, cancel := context.WithTimeout(context.Background(), lastMoment)
		s.http.Drain()
		_ = s.http.Shutdown(ctx) // what has not ended is cut
		cancel()
	}
	d.log(slog.LevelInfo, "shutdown: done")
}

// closeAll cuts whatever is left.
func (g *Gateway) closeAll(servers []*server) {
	for _, s := range slices.Backward(servers) {
		s.end()
		_ = s.http.Close()
	}
	g.state.closeIdle()
}
