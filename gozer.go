// Package gozer is the gateway as a library: what the main function of a
// filter author needs, and what a test or another program embeds.
//
//	func main() {
//		gozer.Main(gozer.WithFilters(myFilter))
//	}
package gozer

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/discovery"
	"github.com/gozer-gateway/gozer/discovery/eureka"
	"github.com/gozer-gateway/gozer/registry"
	"github.com/gozer-gateway/gozer/ribboncmd"
	"github.com/gozer-gateway/gozer/telemetry"
)

// Gateway serves requests by one configuration at a time. Its methods may be
// called from any goroutine.
type Gateway struct {
	security  security
	proxyPort atomic.Int64 // of the open listener

	options    options
	config     *config.Config // of the start; listeners keep it across reloads
	state      *state
	metrics    *telemetry.Metrics
	gatherer   prometheus.Gatherer
	scrape     http.Handler
	levels     *levels
	hub        *discovery.Hub
	eureka     *eureka.Client     // nil without one
	registry   *registry.Registry // nil unless eureka.server.enabled at the start
	registries *registryFiles     // what registries are called with; nil without eureka.client.tls
	exports    exports
	snapshot   atomic.Pointer[snapshot] // nil in a process that is a registry alone
	reload     sync.Mutex               // held while a configuration is read and a snapshot is built
	ready      atomic.Bool

	succession succession
}

// New builds a gateway. It opens nothing and starts nothing; Run does. The
// error lists everything that is wrong with cfg or the options.
func New(cfg *config.Config, opts ...Option) (*Gateway, error) {
	g := newGateway(cfg, opts)
	embedded := g.embed(cfg)
	g.gatherer = g.gather()
	g.scrape = g.prometheus()
	g.exports = openExports(cfg, &g.options, g.gatherer)
	if err := errors.Join(embedded, g.adopt(cfg)); err != nil {
		return nil, err
	}
	return g, nil
}

func newGateway(cfg *config.Config, opts []Option) *Gateway {
	o := newOptions(opts)
	g := &Gateway{config: cfg, state: newState(o), security: newSecurity(o.logger)}
	g.succession.serves = make(chan struct{})
	g.registries, _ = openRegistryFiles(cfg) // build says what is wrong
	if cfg.Registry.Enabled {
		o.sources = append(slices.Clone(o.sources), g.ownRegistry())
	} else if client, _ := eurekaClient(cfg, o, g.registries); client != nil {
		o.sources = append(slices.Clone(o.sources), client)
		g.eureka = client
	}
	g.options = o
	g.state.reloads = newReloads(cfg.Files())
	g.hub = discovery.NewHub(o.logger, o.sources...)
	g.levels = &levels{level: o.level}
	g.metrics = telemetry.NewMetrics(g.state.meter.Tunnels.Active.Load)
	return g
}

// Context returns the context that requests have to stem from for ribboncmd.Do to
// find the gateway's commands. Run sees to it; who calls ServeHTTP does it here.
func (g *Gateway) Context(parent context.Context) context.Context {
	return ribboncmd.NewContext(parent, g.state.commands)
}

// inForce is the configuration of the snapshot, or of the start where there is none.
func (g *Gateway) inForce() *config.Config {
	if s := g.snapshot.Load(); s != nil {
		return s.config
	}
	return g.config
}

// replace puts a configuration in force; g.reload is held.
func (g *Gateway) replace(cfg *config.Config) error {
	next, err := g.rebuild(cfg)
	if err != nil {
		g.forgetBuilt()
		return err
	}
	next.apply(g)
	g.snapshot.Store(next)
	if g.registry != nil {
		g.registry.SetPeers(peerURLs(cfg))
	}
	return nil
}

// adopt is replace for a configuration that was asked for: the log level follows
// it, and the log names what does not.
func (g *Gateway) adopt(cfg *config.Config) error {
	if err := g.replace(cfg); err != nil {
		return err
	}
	g.levels.configure(cfg.LogLevels["root"])
	for _, key := range cfg.NeedRestart(g.config) {
		g.options.logger.Warn("needs a restart, the value of the start stays", "key", key)
	}
	return nil
}

var _ http.Handler = (*Gateway)(nil)
