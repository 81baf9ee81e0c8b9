package gozer

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"

	"github.com/gorilla/mux"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/internal/demo"
	"github.com/gozer-gateway/gozer/internal/handover"
)

// run is the command "gateway run": it serves until ctx ends and reloads the
// configuration at SIGHUP.
func (c *command) run(ctx context.Context, args []string) int {
	f := c.flags("run")
	withDemo := f.set.Bool("demo", false, "start sample upstreams in this process")
	if code, ok := f.parse(args); !ok {
		return code
	}
	asked := hearSignals()
	defer asked.stop()
	cfg, report := f.load(c.options)
	if err := report.Err(); err != nil {
		fmt.Fprint(c.err, report)
		return exitFailure
	}
	logger, level := c.logger(cfg)
	logFindings(logger, report)

	var background sync.WaitGroup
	defer background.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	sockets, own, err := inherited(ctx)
	if err != nil {
		return c.fail(err)
	}
	defer func() { _ = sockets.Close() }() // those that no listener has taken
	own = append(own, WithLogger(logger), WithAccessLog(c.out), withLevel(level), WithSource(f.reread(c.options, logger)))
	if *withDemo {
		serving, end := context.WithCancel(context.WithoutCancel(ctx))
		defer end() // after the gateway has drained
		shown, err := c.demo(serving, &background)
		if err != nil {
			return c.fail(err)
		}
		own = append(own, shown...)
	}
	all := append(own, c.options...)
	defer logOpenTelemetry(newOptions(all).logger)()
	defer logStandard(newOptions(all).logger)()
	g, err := New(cfg, all...)
	if err != nil {
		return c.fail(err)
	}
	background.Go(func() { g.onReload(ctx, asked, func() { g.reloadAll(ctx) }) })
	background.Go(func() { g.onHandOver(ctx, asked) })
	if err := g.Run(ctx); err != nil {
		return c.fail(err)
	}
	return exitOK
}

// inherited are the sockets that the process was started with, and the options that make
// use of them and of the service manager.
func inherited(ctx context.Context) (*handover.Sockets, []Option, error) {
	sockets, err := handover.Inherited()
	notify := func(lines ...string) error { return handover.Notify(context.WithoutCancel(ctx), lines...) }
	return sockets, []Option{withSockets(sockets), withNotify(notify)}, err
}

// logger writes what cfg wants to be logged, until its level is changed.
func (c *command) logger(cfg *config.Config) (*slog.Logger, *slog.LevelVar) {
	level := &slog.LevelVar{}
	level.Set(logLevel(cfg))
	return newLogger(c.err, level), level
}

// demo starts the sample upstreams, which run until ctx ends, and gives what shows them.
func (c *command) demo(ctx context.Context, background *sync.WaitGroup) ([]Option, error) {
	upstreams, err := demo.Listen(ctx)
	if err != nil {
		return nil, err
	}
	background.Go(func() { upstreams.Run(ctx) })
	return []Option{
		WithLocal(func(r *mux.Router) { r.PathPrefix("/hello").Handler(demo.Hello()) }),
		withOpened(func(g *Gateway, proxy, management net.Addr) {
			fmt.Fprint(c.out, demo.Tour(g.sights(proxy, management)))
		}),
	}, nil
}

// reread returns the source of a refresh: the same files and flags again. With an error
// the configuration tells no more than which files those were.
func (f *flags) reread(opts []Option, logger *slog.Logger) func(context.Context) (*config.Config, error) {
	return func(context.Context) (*config.Config, error) {
		cfg, report := f.load(opts)
		if err := report.Err(); err != nil {
			return cfg, err
		}
		logFindings(logger, report)
		return cfg, nil
	}
}

// reloadAll refreshes, and opens the access log anew. A faulty configuration changes nothing.
func (g *Gateway) reloadAll(ctx context.Context) {
	g.state.accessLog.Reopen()
	_, _ = g.refreshFor(ctx, "SIGHUP") // which has logged it
}

func logFindings(logger *slog.Logger, report *config.Report) {
	for _, finding := range report.Findings() {
		logger.Warn("configuration", "finding", finding.String())
	}
}
