// Package gozer is the gateway as a library: what the main function of a
// filter author needs, and what a test or another program embeds.
//
//	func main() {
//		gozer.Main(gozer.WithFilters(myFilter))
//	}
package gozer

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/discovery"
)

// Gateway serves requests by one configuration at a time. Its methods may be
// called from any goroutine.
type Gateway struct {
	options  options
	config   *config.Config // of the start; listeners keep it across reloads
	state    *state
	hub      *discovery.Hub
	snapshot atomic.Pointer[snapshot]
	reload   sync.Mutex // held while a configuration is read and a snapshot is built
	ready    atomic.Bool
}

// New builds a gateway. It opens nothing and starts nothing; Run does. The
// error lists everything that is wrong with cfg or the options.
func New(cfg *config.Config, opts ...Option) (*Gateway, error) {
	g := newGateway(cfg, opts)
	if err := g.Reload(cfg); err != nil {
		return nil, err
	}
	return g, nil
}

func newGateway(cfg *config.Config, opts []Option) *Gateway {
	o := newOptions(opts)
	return &Gateway{
		options: o,
		config:  cfg,
		state:   newState(o.logger),
		hub:     discovery.NewHub(o.logger, o.sources...),
	}
}

// Reload builds everything that cfg decides beside what is running and swaps
// it in. Breakers, bulkheads, server statistics and connections go on by their
// keys. If cfg is faulty, nothing changes and the error says why. Listeners
// keep the addresses they were opened with.
func (g *Gateway) Reload(cfg *config.Config) error {
	g.reload.Lock()
	defer g.reload.Unlock()
	return g.replace(cfg)
}

// replace does the work of Reload; g.reload is held.
func (g *Gateway) replace(cfg *config.Config) error {
	next, err := g.build(cfg)
	if err != nil {
		return err
	}
	next.apply(g)
	g.snapshot.Store(next)
	return nil
}

// Refresh reads the configuration again and reloads it. Refreshes that overlap
// happen one after the other, so the last reading is the one that stays.
func (g *Gateway) Refresh(ctx context.Context) error {
	g.reload.Lock()
	defer g.reload.Unlock()
	cfg := g.snapshot.Load().config
	if g.options.source != nil {
		var err error
		if cfg, err = g.options.source(ctx); err != nil {
			return err
		}
	}
	return g.replace(cfg)
}

var _ http.Handler = (*Gateway)(nil)
