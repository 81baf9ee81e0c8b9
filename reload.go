package gozer

import (
	"context"
	"errors"
	"maps"

	"github.com/gozer-gateway/gozer/admin"
	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/internal/rescue"
	"github.com/gozer-gateway/gozer/internal/watch"
)

// Reload builds everything that cfg decides beside what is running and swaps
// it in. Breakers, bulkheads, server statistics and connections go on by their
// keys. If cfg is faulty, nothing changes and the error says why. Listeners
// keep the addresses and limits they were opened with; the log names each key
// that differs from those and needs a restart.
func (g *Gateway) Reload(cfg *config.Config) error {
	g.reload.Lock()
	defer g.reload.Unlock()
	_, err := g.change(cfg)
	return err
}

// Refresh reads the configuration again and reloads it. Refreshes that overlap
// happen one after the other, so the last reading is the one that stays.
func (g *Gateway) Refresh(ctx context.Context) error {
	g.reload.Lock()
	defer g.reload.Unlock()
	_, err := g.reread(ctx, nil)
	return err
}

// change adopts a configuration, tells what is different with it, and keeps
// account of it; g.reload is held.
func (g *Gateway) change(cfg *config.Config) (admin.Change, error) {
	before := g.snapshot.Load()
	if err := g.adopt(cfg); err != nil {
		g.state.reloads.refused(cfg, err)
		return admin.Change{}, err
	}
	g.state.reloads.succeeded(cfg)
	g.retire(before)
	return difference(before, g.snapshot.Load(), g.config), nil
}

// rebuild is build for a gateway that may be serving: a panic of somebody's part, say in
// the constructor of a filter, is an error of the configuration, for which nothing changes.
// At the start it ends the process, with its stack.
func (g *Gateway) rebuild(cfg *config.Config) (next *snapshot, err error) {
	if g.snapshot.Load() == nil {
		return g.build(cfg)
	}
	err = rescue.Do(func() (err error) {
		next, err = g.build(cfg)
		return err
	})
	return next, err
}

// retire lets go of the circuits of services that a reload has removed. Those that
// discovery has lost may be back any moment, and keep theirs.
func (g *Gateway) retire(before *snapshot) {
	now := g.snapshot.Load()
	for id := range before.services {
		if now.services[id] == nil {
			g.state.commands.Retire(id)
		}
	}
}

// reread is change for what the source gives; without a source that is what there is.
// When the files have other content than is expected, it is errMoving and nothing
// has happened; nil expects nothing.
func (g *Gateway) reread(ctx context.Context, expected watch.Sums) (admin.Change, error) {
	cfg := g.snapshot.Load().config
	if g.options.source == nil {
		return g.change(cfg)
	}
	err := rescue.Do(func() (err error) {
		cfg, err = g.options.source(ctx)
		return err
	})
	if expected != nil && cfg != nil && !agree(sumsOf(cfg.Files()), expected) {
		return admin.Change{}, errMoving
	}
	if err != nil {
		g.state.reloads.refused(cfg, err)
		return admin.Change{}, err
	}
	return g.change(cfg)
}

// errMoving is about files that changed while they were read.
var errMoving = errors.New("gozer: the files are being written")

// agree is false when both know a file and something else about it.
func agree(read, expected watch.Sums) bool {
	for path, sum := range read {
		if want, known := expected[path]; known && want != sum {
			return false
		}
	}
	return true
}

func sumsOf(files []config.File) watch.Sums {
	sums := watch.Sums{}
	for _, f := range files {
		sums[f.Path] = f.Sum
	}
	return sums
}

// refreshFor is Refresh with log lines about who asked for it and what came of it.
func (g *Gateway) refreshFor(ctx context.Context, asker string) (admin.Change, error) {
	g.reload.Lock()
	defer g.reload.Unlock()
	change, err := g.reread(ctx, nil)
	g.tell(asker, change, err)
	return change, err
}

// refreshStill is refreshFor for files that were found with a certain content. If they
// have moved on since, that is for the next time.
func (g *Gateway) refreshStill(ctx context.Context, found watch.Sums) {
	g.reload.Lock()
	defer g.reload.Unlock()
	if agree(g.state.reloads.sums(), found) {
		return // somebody else was faster
	}
	change, err := g.reread(ctx, found)
	if errors.Is(err, errMoving) {
		return
	}
	g.state.reloads.read(found)
	g.tell("file", change, err)
}

// watchFiles reloads when files change, until ctx ends.
func (g *Gateway) watchFiles(ctx context.Context) {
	if g.options.source == nil {
		return
	}
	w := &watch.Watcher{
		Settings: func() watch.Settings {
			r := g.snapshot.Load().config.Gateway.Reload
			return watch.Settings{Off: !r.Watch, Delay: r.Delay, Poll: r.PollInterval}
		},
		Loaded:  func() watch.Sums { return maps.Clone(g.state.reloads.sums()) },
		Load:    g.refreshStill,
		Changed: g.state.reloads.changed,
		Logger:  g.options.logger,
	}
	w.Run(ctx)
}
