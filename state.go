package gozer

import (
	"log/slog"
	"sync"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/upstream"
	"github.com/gozer-gateway/gozer/lb"
	"github.com/gozer-gateway/gozer/ribboncmd"
)

// state is what outlives a configuration: counters, breakers, bulkheads, server
// statistics and connections, each by its key.
type state struct {
	meter    *filters.Meter
	commands *ribboncmd.Commands

	mu         sync.Mutex // guards the maps; used while building, not while serving
	balancers  map[string]*lb.Balancer
	transports map[string]*pool
}

// pool is a transport with the settings it was made from: it is kept as long
// as they stay the same.
type pool struct {
	settings  upstream.Settings
	transport *upstream.Transport
}

// urlRoutes is the key of the pool that URL routes share; no service can have
// an empty id.
const urlRoutes = ""

func newState(logger *slog.Logger) *state {
	return &state{
		meter:      filters.NewMeter(),
		commands:   ribboncmd.New(logTransition(logger)),
		balancers:  map[string]*lb.Balancer{},
		transports: map[string]*pool{},
	}
}

// balancer returns the balancer of a service, which keeps its servers'
// statistics across reloads.
func (s *state) balancer(service string) *lb.Balancer {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.balancers[service]
	if b == nil {
		b = lb.NewBalancer(service, lb.BalancerSettings{})
		s.balancers[service] = b
	}
	return b
}

// transport returns the pool of a key. With other settings than before it is a
// new one; the old one serves its last requests and closes what is idle.
func (s *state) transport(key string, settings upstream.Settings) *upstream.Transport {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.transports[key]
	if old != nil && old.settings == settings {
		return old.transport
	}
	s.transports[key] = &pool{settings, upstream.New(settings)}
	if old != nil {
		old.transport.CloseIdle()
	}
	return s.transports[key].transport
}

// retain drops balancers and connections of services that are no longer known.
func (s *state) retain(known services) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.balancers {
		if known[id] == nil {
			delete(s.balancers, id)
		}
	}
	for id, p := range s.transports {
		if id != urlRoutes && known[id] == nil {
			p.transport.CloseIdle()
			delete(s.transports, id)
		}
	}
}

func (s *state) closeIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.transports {
		p.transport.CloseIdle()
	}
}
