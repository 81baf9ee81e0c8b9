package gozer

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/gozer-gateway/gozer/config"
)

// runRegistry is the command "gateway registry": the registry without a gateway
// around it, from the same file, or from that of a Spring registry.
func (c *command) runRegistry(ctx context.Context, args []string) int {
	f := c.flags("registry")
	if code, ok := f.parse(args); !ok {
		return code
	}
	asked := hearSignals()
	defer asked.stop()
	f.aloneAs()
	cfg, report := config.Load(f.config, f.sources())
	if err := report.Err(); err != nil {
		fmt.Fprint(c.err, report)
		return exitFailure
	}
	logger, level := c.logger(cfg)
	logFindings(logger, report)
	sockets, own, err := inherited(ctx)
	if err != nil {
		return c.fail(err)
	}
	defer func() { _ = sockets.Close() }() // those that no listener has taken
	own = append(own, WithLogger(logger), withLevel(level))
	g := newGateway(cfg, append(own, c.options...))
	_, outward := openRegistryFiles(cfg)
	view, inward := g.security.prepareRegistry(cfg)
	if err := errors.Join(outward, inward, g.embed(cfg)); err != nil {
		return c.fail(err)
	}
	g.security.adopt(certificates{registry: view})
	ctx, stop := context.WithCancel(ctx)
	var background sync.WaitGroup
	defer background.Wait()
	defer stop()
	background.Go(func() { g.onReload(ctx, asked, func() { g.reloadPeers(f) }) })
	background.Go(func() { g.onHandOver(ctx, asked) })
	if err := g.serveRegistry(ctx); err != nil {
		return c.fail(err)
	}
	return exitOK
}

// aloneAs switches the registry on and everything else that listens off. A registry
// that came from Spring says where it listens by server.port.
func (f *flags) aloneAs() {
	cfg, _ := config.Load(f.config, f.sources()) // whose faults the next reading reports
	own := []string{"eureka.server.enabled=true", "management.server.port=-1"}
	if cfg.Place("eureka.server.port") == (config.Position{}) && cfg.Place("server.port") != (config.Position{}) {
		own = append(own, "eureka.server.port="+strconv.Itoa(cfg.Server.Port))
	}
	if cfg.Place("eureka.server.address") == (config.Position{}) && cfg.Server.Address != "" {
		own = append(own, "eureka.server.address="+cfg.Server.Address)
	}
	f.settings = append(f.settings, own...)
}

// serveRegistry serves nothing but the registry until ctx ends.
func (g *Gateway) serveRegistry(ctx context.Context) error {
	s, err := g.openRegistry(ctx)
	if err != nil {
		return err
	}
	return g.live(ctx, []*server{s}, func(ctx context.Context, running *sync.WaitGroup) {
		running.Go(func() { g.registry.Run(ctx) })
		running.Go(func() { g.security.runRegistry(ctx, g.config) })
		running.Go(func() { g.followTLS(ctx) })
		running.Go(func() { g.tellOfEnds(ctx) })
	}, func() *registration { return nil })
}

// reloadPeers reads the list of peers again.
func (g *Gateway) reloadPeers(f *flags) {
	cfg, report := config.Load(f.config, f.sources())
	if err := report.Err(); err != nil {
		g.options.logger.Error("reload refused, the peers stay", "error", err)
		return
	}
	g.registry.SetPeers(peerURLs(cfg))
	g.options.logger.Info("peers reloaded")
	for _, key := range cfg.NeedRestart(g.config) {
		g.options.logger.Warn("needs a restart, the value of the start stays", "key", key)
	}
}
