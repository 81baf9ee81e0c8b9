//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"
)

// scene is one kind of load.
type scene struct {
	name    string
	request request
	conns   int
}

// The first scene has the figures that memory and the fixed rate refer to.
func allScenes() []scene {
	return []scene{
		{"small", request{path: "/small"}, 64},
		{"small ×1", request{path: "/small"}, 1},
		{"small ×512", request{path: "/small"}, 512},
		{"64 KiB", request{path: "/64k"}, 64},
		{"1 MiB", request{path: "/1m"}, 64},
		{"POST 1 KiB", request{path: "/small", post: 1024}, 64},
	}
}

// pickScenes returns the scenes named, all without names.
func pickScenes(names []string) ([]scene, error) {
	scenes := slices.DeleteFunc(allScenes(), func(sc scene) bool {
		return len(names) > 0 && !slices.Contains(names, sc.name)
	})
	if len(scenes) < len(names) || len(scenes) == 0 {
		return nil, fmt.Errorf("not all of %q are scenes", names)
	}
	return scenes, nil
}

// sample is one peer in one scene of one round.
type sample struct {
	outcome
	cpu float64 // of the proxy, µs per request
}

// residence is what a peer needs to be there: one sample for each start.
type residence struct {
	startup     time.Duration
	early, peak float64 // bytes resident at most, after the first scene and after all
}

// result is everything measured.
type result struct {
	settings
	peers      []peer
	scenes     []scene
	closed     map[string]map[string][]sample // by peer and scene
	residences map[string][]residence         // by peer, one a round
	rate       float64                        // of the open loop
	open       map[string][]outcome           // by peer, one a round
	idle       map[string]float64             // bytes per idle connection, by peer
	machine    []string
	command    string
}

// roomy is how many client connections a peer is configured for; the idle run
// starts it with more.
const roomy = 2048

func newResult(s settings, peers []peer, scenes []scene) *result {
	r := &result{
		settings: s, peers: peers, scenes: scenes,
		closed: map[string]map[string][]sample{}, residences: map[string][]residence{},
		open: map[string][]outcome{}, idle: map[string]float64{},
	}
	for _, p := range peers {
		r.closed[p.name] = map[string][]sample{}
	}
	return r
}

func (l *lab) measure(ctx context.Context, r *result) error {
	for round := range r.rounds {
		for _, p := range r.peers {
			progress("round %d: %s", round+1, p.name)
			if err := l.closedRound(ctx, r, p); err != nil {
				return err
			}
		}
	}
	if r.fixedRate {
		if err := l.openRounds(ctx, r); err != nil {
			return err
		}
	}
	return l.idleRound(ctx, r)
}

func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// closedRound starts a peer once and runs all scenes on it.
func (l *lab) closedRound(ctx context.Context, r *result, p peer) error {
	at, err := l.seat(ctx, p, roomy)
	if err != nil {
		return err
	}
	defer at.end()
	live := residence{startup: at.startup}
	for i, sc := range r.scenes {
		req := sc.request
		req.path = p.prefix + req.path
		if i == 0 {
			if _, err := l.closedLoop(ctx, at.addr, req, sc.conns, time.Second); err != nil { // warm up
				return err
			}
		}
		before := at.cpu()
		o, err := l.closedLoop(ctx, at.addr, req, sc.conns, r.span)
		if err != nil {
			return at.failure(fmt.Errorf("%s, %s: %w", p.name, sc.name, err))
		}
		used := at.cpu() - before
		r.closed[p.name][sc.name] = append(r.closed[p.name][sc.name], sample{o, micros(used) / float64(o.requests)})
		if i == 0 {
			live.early = at.memory("VmHWM")
		}
	}
	live.peak = at.memory("VmHWM")
	r.residences[p.name] = append(r.residences[p.name], live)
	return nil
}

// openRounds measures all peers at the same rate: half of what the slowest one
// manages in the first scene.
func (l *lab) openRounds(ctx context.Context, r *result) error {
	first := r.scenes[0]
	for _, p := range r.peers {
		rate := median(r.closed[p.name][first.name], func(s sample) float64 { return s.rate })
		if r.rate == 0 || rate/2 < r.rate {
			r.rate = rate / 2
		}
	}
	for round := range r.rounds {
		for _, p := range r.peers {
			progress("round %d at %.0f requests/s: %s", round+1, r.rate, p.name)
			if err := l.openRound(ctx, r, p); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *lab) openRound(ctx context.Context, r *result, p peer) error {
	at, err := l.seat(ctx, p, roomy)
	if err != nil {
		return err
	}
	defer at.end()
	req := r.scenes[0].request
	req.path = p.prefix + req.path
	if _, err := openLoop(ctx, at.addr, req, 64, r.rate, time.Second/2, nap); err != nil { // warm up
		return err
	}
	o, err := openLoop(ctx, at.addr, req, 64, r.rate, r.span, nap)
	if err != nil {
		return at.failure(fmt.Errorf("%s at a fixed rate: %w", p.name, err))
	}
	r.open[p.name] = append(r.open[p.name], o)
	return nil
}

// idleRound measures what connections cost that have had one request each.
func (l *lab) idleRound(ctx context.Context, r *result) error {
	r.idleConns = max(0, min(r.idleConns, spareFiles()))
	if r.idleConns == 0 {
		return nil
	}
	for _, p := range r.peers {
		progress("%d idle connections: %s", r.idleConns, p.name)
		each, err := l.idleConnections(ctx, p, r.idleConns)
		if err != nil {
			return fmt.Errorf("%s with idle connections: %w", p.name, err)
		}
		r.idle[p.name] = each
	}
	return nil
}

func (l *lab) idleConnections(ctx context.Context, p peer, n int) (float64, error) {
	at, err := l.seat(ctx, p, n+256)
	if err != nil {
		return 0, err
	}
	defer at.end()
	before := at.memory("VmRSS")
	clients, err := dialMany(ctx, at.addr, n, request{path: p.prefix + "/small"})
	defer closeAll(clients)
	if err != nil {
		return 0, at.failure(err)
	}
	select { // give the proxy time to see that nothing comes
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(3 * time.Second):
	}
	return (at.memory("VmRSS") - before) / float64(n), nil
}

// spareFiles is how many connections this process and a proxy may each have open.
func spareFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	const other = 1000
	return int(min(limit.Max, 1<<20)) - other
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
