package gozer

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/gorilla/mux"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/fallback"
	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/route"
	"github.com/gozer-gateway/gozer/internal/http1"
	"github.com/gozer-gateway/gozer/internal/tlsout"
	"github.com/gozer-gateway/gozer/lb"
	"github.com/gozer-gateway/gozer/routing"
	"github.com/gozer-gateway/gozer/telemetry"
	"github.com/gozer-gateway/gozer/telemetry/accesslog"
)

// snapshot is everything that one configuration decides. It is never changed
// and owns nothing that would have to be closed.
type snapshot struct {
	edge         *edge        // nil when there is nothing to do
	certificates certificates // nil without TLS

	config     *config.Config
	discovered []string // the services that discovery knew
	paths      routing.PathOptions
	trust      *filters.Trust
	requestIDs *filters.RequestIDs
	table      *routing.Table
	services   services
	balancing  map[string]balancing // by service id
	pools      map[string]*pool     // by service id, urlRoutes, or routePool and a route id
	tls        upstreamTLS
	chain      *filters.Chain
	signatures []string          // for Via
	warnings   []routing.Problem // about routes that are not what they seem
	management http.Handler
	accessLog  *accesslog.Log // nil without one
	counting   *telemetry.Observer
	tracer     *telemetry.Tracer  // nil when tracing is off
	observers  []filters.Observer // of every request, in the order of their beginnings and ends
}

// apply makes the state follow the snapshot: balancers its policy and servers;
// what it does not use goes.
func (s *snapshot) apply(g *Gateway) {
	for id, service := range s.services {
		g.state.configure(id, s.balancing[id])
		service.Balance.Budget.Configure(budgetSettings(s.config.RibbonFor(id)))
		service.Command.PutInForce()
	}
	s.enlist()
	s.counting.PutInForce()
	g.security.adopt(s.certificates)
	g.state.commands.Configure(s.keySettings())
	g.state.retain(s.services, s.pools)
	g.state.accessLog.Configure(accessLogDestination(s.config))
	g.state.tls.retain(s.tls)
}

// enlist moves the balancers to the servers of this moment.
func (s *snapshot) enlist() {
	for _, service := range s.services {
		refresh(service.Balance.Balancer)
	}
}

// services finds a service by id.
type services map[string]*route.Service

var _ route.Services = services(nil)

func (s services) Service(id string) *route.Service { return s[id] }

// own reports whether host is a server of a service.
func (s services) own(service, host string) bool {
	known := s[service]
	if known == nil {
		return false
	}
	return slices.ContainsFunc(known.Balance.Balancer.Servers(), func(server *lb.Server) bool {
		return server.Host == host || server.HostPort() == host
	})
}

// client is what filters call services with: the same commands as for routed requests,
// without their circuit breakers.
func (s services) client() *http.Client {
	commands := make(map[string]*lb.Command, len(s))
	for id, service := range s {
		commands[id] = service.Balance
	}
	return &http.Client{
		Transport:     lb.NewTransport(lb.NewDirectory(commands), nil),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// balancers are those of all services, by name.
func (s services) balancers() []*lb.Balancer {
	all := make([]*lb.Balancer, 0, len(s))
	for _, id := range s.ids() {
		all = append(all, s[id].Balance.Balancer)
	}
	return all
}

// retries tells what the budgets have been asked for.
func (s services) retries() []telemetry.Retries {
	var all []telemetry.Retries
	for _, id := range s.ids() {
		b := s[id].Balance.Budget
		all = append(all, telemetry.Retries{Service: id, Granted: b.Granted(), Denied: b.Denied()})
	}
	return all
}

func (s services) ids() []string { return slices.Sorted(maps.Keys(s)) }

// build makes the snapshot of a configuration and changes nothing else. With an
// error it returns as much of one as could be built, for the sake of a complete
// report; it must not serve.
func (g *Gateway) build(cfg *config.Config) (*snapshot, error) {
	s := &snapshot{config: cfg, discovered: g.hub.Services(), paths: pathOptions(cfg), trust: trust(cfg), requestIDs: requestIDs(cfg), pools: map[string]*pool{}, signatures: signatures()}
	s.management = g.managementOf(cfg)
	secured := g.secure(s)
	s.edge = newEdge(cfg)
	var security error
	s.certificates, security = g.security.prepare(cfg, g.config)
	traced := g.exports.trace(s)
	routes := s.route()
	services := g.connect(s)
	chained := g.chain(s)
	_, registry := openRegistryFiles(cfg)
	_, client := eurekaClient(cfg, g.options, nil)
	logged := g.logAccess(s)
	problems := errors.Join(security, secured, traced, routes, services, chained, logged, registry, client)
	if problems == nil {
		s.observers = g.observers(s)
	}
	return s, problems
}

// chain makes the filters of a snapshot. Settings that none of them takes are an
// error.
func (g *Gateway) chain(s *snapshot) error {
	specs, decoded := g.specs(s), map[string]bool{}
	chain, err := filters.NewChain(specs, filters.Settings{
		Disabled: func(name string, phase filters.Phase) bool { return s.config.FilterDisabled(name, string(phase)) },
		Decode: func(name string, into any) error {
			decoded[name] = true
			return s.config.DecodeFilter(name, into)
		},
		Client: s.services.client(),
		Meter:  g.state.meter,
		Logger: g.options.logger,
	})
	s.chain = chain
	return errors.Join(err, leftOver(s.config, specs, decoded))
}

// route builds the table of the configured routes and the discovered services.
func (s *snapshot) route() error {
	settings, err := routingSettings(s.config)
	table, problems := routing.Build(settings, s.discovered)
	s.table = table
	fatal := []error{err}
	for _, p := range problems {
		if p.Fatal {
			fatal = append(fatal, &routeError{p})
		} else {
			s.warnings = append(s.warnings, p)
		}
	}
	return errors.Join(fatal...)
}

// routeError is a route that cannot be served.
type routeError struct{ routing.Problem }

func (e *routeError) Error() string { return "gozer: " + e.String() }

// connect makes the services of a snapshot.
func (g *Gateway) connect(s *snapshot) error {
	s.services, s.balancing = services{}, map[string]balancing{}
	registry, err := fallbacks(s.config, g.options.fallbacks)
	problems := []error{err}
	if _, err := g.parts(s.config, "", s.config.Ribbon); err != nil {
		return errors.Join(append(problems, err)...) // every service would say the same
	}
	for _, id := range serviceIDs(s) {
		service, err := g.service(s, id, registry)
		if err != nil {
			for _, problem := range separate(err) {
				problems = append(problems, fmt.Errorf("gozer: service %s: %w", id, problem))
			}
			continue
		}
		s.services[id] = service
	}
	return errors.Join(problems...)
}

func (g *Gateway) service(s *snapshot, id string, registry *fallback.Registry) (*route.Service, error) {
	settings, err := commandSettings(s.config, id)
	settings.Tracer = s.commandTracer()
	if err != nil {
		return nil, err
	}
	ribbon := s.config.RibbonFor(id)
	transport := g.transport(s, id, servicePool(ribbon), s.config.TLSFor(id), g.state.balancer(id))
	if s.balancing[id], err = g.balancing(s.config, id, transport); err != nil {
		return nil, err
	}
	key, err := lb.ParseKeySource(ribbon.Balancing.Hash.On)
	if err != nil {
		return nil, err
	}
	return &route.Service{
		Command: g.state.commands.Command(id, settings, registry.Provider(id)),
		Balance: &lb.Command{
			Balancer:  g.state.balancer(id),
			Transport: transport,
			Retry:     retryPolicy(s.config, ribbon, s.balancing[id].retries),
			Secure:    lb.SecurePolicy{IsSecure: ribbon.Secure, Ports: ribbon.SecurePorts},
			Budget:    g.state.budget(id, budgetSettings(ribbon)),
			Listeners: listeners(g.options.listeners, ribbon),
			Hedge:     hedgePolicy(s.config.ResilienceFor(id)),
			Tracer:    s.attemptTracer(),
			Rule:      ribbon.Balancing.Rule.Name,
		},
		Key: key,
	}, nil
}

// transport returns the connections of a key, which the snapshot then uses. The
// engine is the one that the proxy's listener was opened with.
func (g *Gateway) transport(s *snapshot, key string, settings http1.TransportSettings, security config.UpstreamTLS, names tlsout.Names) transport {
	settings.TLS = g.tlsClient(s, key, security, names)
	s.pools[key] = g.state.pool(key, upstreamConnections(g.config.Server.Engine, s.config.UpstreamFor(upstreamOf(key)), settings))
	return s.pools[key].transport
}

// router returns the handlers of the gateway itself.
func (g *Gateway) router() *mux.Router {
	r := mux.NewRouter().UseEncodedPath().SkipClean(true)
	if g.options.local != nil {
		g.options.local(r)
	}
	return r
}
