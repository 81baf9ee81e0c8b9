package gozer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gozer-gateway/gozer/internal/handover"
)

// succession is what Run and a hand-over to a new process know of each other.
type succession struct {
	servers atomic.Pointer[[]*server] // nil while Run does not serve
	busy    sync.Mutex                // held by the one hand-over
	serves  chan struct{}             // closed when the successor does
}

// over reports that the successor serves.
func (s *succession) over() bool {
	select {
	case <-s.serves:
		return true
	default:
		return false
	}
}

var errNoSuccessor = errors.New("gozer: this process has a successor, or is about to")

// handOver starts the program that is installed now as the successor of this process, with
// the sockets that it listens on, and waits until it serves; then Run drains. If that fails,
// nothing has changed.
func (g *Gateway) handOver(ctx context.Context) (pid int, err error) {
	servers := g.succession.servers.Load()
	if servers == nil || ctx.Err() != nil || !g.succession.busy.TryLock() {
		return 0, errNoSuccessor
	}
	defer func() {
		if err != nil { // else it stays locked: there is a successor
			g.succession.busy.Unlock()
		}
	}()
	if os.Getpid() == 1 {
		return 0, errors.New("gozer: the end of process 1 is the end of its container; replace the container")
	}
	var listeners []handover.Listener
	for _, s := range *servers {
		listeners = append(listeners, handover.Listener{Name: s.name, Address: s.address, Listener: s.raw})
	}
	path, args, err := handover.Program()
	if err != nil {
		return 0, fmt.Errorf("gozer: looking for the program: %w", err)
	}
	next := handover.Successor{Path: path, Args: args, Listeners: listeners, Limit: g.inForce().Gateway.ReadyTimeout}
	if g.registry != nil {
		next.State = g.registry.Export
	}
	if pid, err = next.Start(ctx); err == nil {
		close(g.succession.serves)
	}
	return pid, err
}

// handOverFor is handOver with log lines about who asked and what came of it. The service
// manager is told which process to follow.
func (g *Gateway) handOverFor(ctx context.Context, asker string) {
	log := g.options.logger
	log.Info("hand-over: starting a successor", "asked by", asker)
	g.notify("RELOADING=1")
	pid, err := g.handOver(ctx)
	if err != nil {
		log.Error("hand-over failed, this process goes on", "error", err)
		g.notify("READY=1")
		return
	}
	g.notify(fmt.Sprintf("MAINPID=%d", pid), "READY=1")
	log.Info("hand-over: the successor serves", "pid", pid)
}

// giveWay drains a gateway whose successor serves. The registry hears nothing of it: the
// successor has the same instance there. The end of ctx cuts what is left.
func (g *Gateway) giveWay(ctx context.Context, servers []*server, registered *registration) error {
	registered.leave()
	defer g.closeAll(servers)
	d := g.newDrain(servers)
	d.front, d.back = servers, nil   // their sockets are the successor's
	if servers[0].name != embedded { // what comes over kept connections changes a list that nobody reads any more
		d.idle = d.cfg.Server.DrainTimeout
	}
	if err := d.run(ctx); err != nil {
		return fmt.Errorf("gozer: after the hand-over: %w", err)
	}
	d.log(slog.LevelInfo, "shutdown: done, the successor goes on")
	return nil
}

// takeOver waits, in a process that has got its sockets from another one, until it can serve
// as well as that one: all registries have told their instances, and its own has a list.
func (g *Gateway) takeOver(ctx context.Context) {
	if !g.options.sockets.HandedOver() {
		return
	}
	alone, known := g.snapshot.Load() == nil, g.hub.Synced()
	if alone {
		known = g.registry.Ready()
	}
	select {
	case <-ctx.Done():
		return
	case <-known:
	}
	if !alone {
		g.rediscover()
	}
}

// importLeases takes over what the predecessor's registry knows, if it had one.
func (g *Gateway) importLeases() {
	if g.registry == nil {
		return
	}
	err := g.options.sockets.ReadState(func(from io.Reader) error {
		n, err := g.registry.Import(from)
		if err == nil {
			g.options.logger.Info("leases of the predecessor taken over", "instances", n)
		}
		return err
	})
	if err != nil {
		g.options.logger.Error("no leases of the predecessor, they come back with the next heartbeats", "error", err)
	}
}

// succeed tells those who wait for it that this process serves.
func (g *Gateway) succeed() {
	if !g.options.sockets.HandedOver() {
		g.notify("READY=1")
		return
	}
	if err := g.options.sockets.Ready(); err != nil {
		g.options.logger.Warn("the predecessor does not hear that this process is ready", "error", err)
	}
}

// settleSockets ends what has been passed on for no listener: systemd's unit and the
// configuration contradict each other, or this configuration has fewer listeners than
// that of the predecessor.
func (g *Gateway) settleSockets() error {
	unused := g.options.sockets.Unused()
	if len(unused) == 0 {
		return nil
	}
	if g.options.sockets.HandedOver() {
		g.options.logger.Info("sockets of the predecessor that this configuration has no use for are closed", "sockets", strings.Join(unused, ", "))
		return g.options.sockets.Close()
	}
	return fmt.Errorf("gozer: sockets were passed on that belong to no listener (%s): name them proxy, redirect, management or registry, or give a listener their port", strings.Join(unused, ", "))
}

// notify tells the service manager, if there is one.
func (g *Gateway) notify(lines ...string) {
	if g.options.notify == nil {
		return
	}
	if err := g.options.notify(lines...); err != nil {
		g.options.logger.Warn("the service manager was not told", "what", strings.Join(lines, " "), "error", err)
	}
}
