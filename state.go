package gozer

import (
	"sync"

	"github.com/gozer-gateway/gozer/admin"
	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/h2"
	"github.com/gozer-gateway/gozer/internal/http1"
	"github.com/gozer-gateway/gozer/internal/proxyproto"
	"github.com/gozer-gateway/gozer/lb"
	"github.com/gozer-gateway/gozer/ribboncmd"
	"github.com/gozer-gateway/gozer/telemetry/accesslog"
)

// state is what outlives a configuration: counters, breakers, bulkheads, server
// statistics and connections, each by its key.
type state struct {
	meter       *filters.Meter
	contexts    filters.Contexts
	connections http1.ServerCount // of the proxy's listener, with the native engine
	commands    *ribboncmd.Commands
	streams     *admin.Streams
	accessLog   *accesslog.Writer
	tls         *tlsState

	introductions proxyproto.Counts
	http2         http1.Refusals
	http2Ends     h2.Count

	mu        sync.Mutex // guards the maps; used while building, not while serving
	balancers map[string]*keptBalancer
	budgets   map[string]*lb.RetryBudget
	pools     map[string]*pool // those of the snapshot in force

	moved chan struct{} // a signal that balancers have come or gone

	reloads *reloads
}

// keptBalancer is a balancer with what its settings were made of.
type keptBalancer struct {
	balancer *lb.Balancer
	source   balancingSource
}

// pool is a transport with the settings it was made from: it is kept as long
// as they stay the same.
type pool struct {
	settings  connections
	transport transport
}

// urlRoutes is the key of the pool that URL routes share; no service can have
// an empty id.
const urlRoutes = ""

func newState(o options) *state {
	logger := o.logger
	return &state{
		accessLog: accesslog.NewWriter(o.accessLog, logger),
		meter:     filters.NewMeter(),
		commands:  ribboncmd.New(logTransition(logger)),
		streams:   &admin.Streams{},
		tls:       newTLSState(),
		balancers: map[string]*keptBalancer{},
		budgets:   map[string]*lb.RetryBudget{},
		moved:     make(chan struct{}, 1),
	}
}

// balancer returns the balancer of a service, which keeps its servers'
// statistics across reloads.
func (s *state) balancer(service string) *lb.Balancer {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.balancers[service]
	if k == nil {
		k = &keptBalancer{balancer: lb.NewBalancer(service, lb.BalancerSettings{})}
		s.balancers[service] = k
	}
	return k.balancer
}

// configure puts the settings of a balancer in force, unless they are the old ones.
func (s *state) configure(service string, b balancing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.balancers[service]
	if k == nil || k.source.same(b.source) {
		return
	}
	k.source = b.source
	k.balancer.Configure(b.settings)
}

// budget returns the retry budget of a service, which keeps what is saved up across
// reloads. A new one begins full, by the given settings.
func (s *state) budget(service string, settings lb.BudgetSettings) *lb.RetryBudget {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.budgets[service]
	if b == nil {
		b = lb.NewRetryBudget(settings)
		s.budgets[service] = b
	}
	return b
}

// pool returns the pool of a key: the one in force, or a new one if the settings
// have changed.
func (s *state) pool(key string, settings connections) *pool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.pools[key]; old != nil && old.settings == settings {
		return old
	}
	return &pool{settings, newTransport(settings)}
}

// retain puts pools in force and drops what is no longer used: the balancers and budgets of
// services that are not known, and the old pools, which serve their last
// requests.
func (s *state) retain(known services, pools map[string]*pool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.balancers {
		if known[id] == nil {
			delete(s.balancers, id)
			delete(s.budgets, id)
		}
	}
	select {
	case s.moved <- struct{}{}:
	default:
	}
	for key, old := range s.pools {
		if pools[key] != old {
			old.transport.Retire()
		}
	}
	s.pools = pools
}

// forgetBuilt drops what was made for a snapshot that has failed.
func (g *Gateway) forgetBuilt() {
	if now := g.snapshot.Load(); now != nil {
		g.state.retain(now.services, now.pools)
	}
}

func (s *state) closeIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pools {
		p.transport.CloseIdle()
	}
}
