package gozer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"

	"github.com/gozer-gateway/gozer/admin"
)

// Run opens the listeners and serves until ctx ends, then drains: it stops
// being ready, has the registry say OUT_OF_SERVICE, waits gateway.shutdown.wait,
// stops accepting, lets requests in flight end within
// spring.lifecycle.timeout-per-shutdown-phase and streams within
// gateway.shutdown.stream-grace, cuts the rest, leaves the registry, closes the
// management listener last, and then idle connections. With "server.shutdown:
// immediate" it cuts everything at once. It returns nil unless requests were cut that
// had no response yet. Call it once.
func (g *Gateway) Run(ctx context.Context) error {
	if err := g.openAccessLog(); err != nil {
		return err
	}
	servers, err := g.listen(ctx)
	if err != nil {
		return err
	}
	return g.live(ctx, servers, g.background, func() *registration {
		g.warnOfOpenManagement()
		proxy, management := addresses(servers)
		g.options.opened(g, proxy, management)
		return g.register(servers)
	})
}

// live serves until ctx ends, or a successor serves, while background works. present tells
// others that it does.
func (g *Gateway) live(ctx context.Context, servers []*server, background func(context.Context, *sync.WaitGroup), present func() *registration) error {
	if err := g.settleSockets(); err != nil {
		for _, s := range servers {
			_ = s.listener.Close()
		}
		return err
	}
	beside, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	g.importLeases()
	background(beside, &running)

	g.takeOver(ctx)
	failed := make(chan error, len(servers))
	for _, s := range servers {
		running.Go(func() { failed <- s.serve() })
	}
	g.announce(servers)
	g.succession.servers.Store(&servers)
	g.ready.Store(true)
	g.options.logger.Info("ready")
	registered := present()
	g.succeed()
	select {
	case <-ctx.Done():
	case <-g.succession.serves:
	case err := <-failed:
		registered.end(g)
		g.closeAll(servers)
		return err
	}
	if g.succession.over() {
		return g.giveWay(ctx, servers, registered)
	}
	return g.shutDown(servers, registered)
}

// background starts what works beside the requests; it ends with ctx.
func (g *Gateway) background(ctx context.Context, running *sync.WaitGroup) {
	changed, stop := g.hub.Changes() // before the sources can report
	g.exports.run(ctx, running, g.config.Server.DrainTimeout)
	running.Go(func() { g.state.commands.Run(ctx) })
	running.Go(func() { g.state.tend(ctx) })
	running.Go(func() { g.security.run(ctx, g.config) })
	running.Go(func() { _ = g.hub.Run(ctx) }) // returns nil
	running.Go(func() { g.followTLS(ctx) })
	running.Go(func() { g.tellOfEnds(ctx) })
	running.Go(func() { g.state.accessLog.Run(ctx) })
	if g.registry != nil {
		running.Go(func() { g.registry.Run(ctx) })
	}
	running.Go(func() { g.watchFiles(ctx) })
	running.Go(func() {
		defer stop()
		g.followDiscovery(ctx, changed)
	})
}

// server is one listener with what it serves.
type server struct {
	name     string
	address  string       // as configured
	raw      net.Listener // the one that was opened
	listener net.Listener // the one that is served
	tls      bool
	http     drainedServer
	end      context.CancelFunc // of the context that all requests stem from
}

func (s *server) serve() error {
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("gozer: %s listener: %w", s.name, err)
	}
	return nil
}

// listen opens the proxy's, the registry's and the management listener, or none.
func (g *Gateway) listen(ctx context.Context) ([]*server, error) {
	openers := []func(context.Context) (*server, error){g.openProxy}
	if g.config.TLS() && g.config.Gateway.SSL.RedirectPort >= 0 {
		openers = append(openers, g.openRedirect)
	}
	if g.registry != nil {
		openers = append(openers, g.openRegistry)
	}
	if g.config.Management.Port >= 0 {
		openers = append(openers, g.openManagement)
	}
	var servers []*server
	for _, open := range openers {
		s, err := open(ctx)
		if err != nil {
			for _, opened := range servers {
				_ = opened.listener.Close()
			}
			return nil, err
		}
		servers = append(servers, s)
	}
	return servers, nil
}

func (g *Gateway) openProxy(ctx context.Context) (*server, error) {
	s, err := g.open(ctx, proxy, g.config.Server.Address, g.config.Server.Port, g.proxyServer)
	if err == nil {
		g.proxyPort.Store(int64(portOf(s.listener.Addr())))
	}
	return s, err
}

func (g *Gateway) openManagement(ctx context.Context) (*server, error) {
	return g.open(ctx, management, g.config.Management.Address, g.config.Management.Port, g.managementServer)
}

// The names of the listeners of proxied traffic and of the actuator endpoints.
const (
	proxy      = "proxy"
	management = "management"
)

// embedded is the name of the listener of the registry.
const embedded = "registry"

func (g *Gateway) managementServer(base context.Context) httpServer {
	s := g.standardServer(base, g.Management())
	s.ConnContext = admin.ConnContext
	return g.countFailures(s, g.security.management)
}

func (g *Gateway) open(ctx context.Context, name, address string, port int, serve func(context.Context) httpServer) (*server, error) {
	at := net.JoinHostPort(address, strconv.Itoa(port))
	listener := g.options.sockets.Take(name, at)
	if listener == nil {
		var err error
		if listener, err = g.options.listen(ctx, at); err != nil {
			return nil, fmt.Errorf("gozer: %s listener: %w", name, err)
		}
	}
	base, end := context.WithCancel(g.Context(context.WithoutCancel(ctx)))
	security := g.tlsOf(name)
	return &server{name, at, listener, secure(g.introduced(name, listener), security), security != nil, drainable(serve(base)), end}, nil
}

func addresses(servers []*server) (proxy, actuator net.Addr) {
	if last := servers[len(servers)-1]; last.name == management {
		actuator = last.listener.Addr()
	}
	return servers[0].listener.Addr(), actuator
}

// announce logs where the gateway listens and, per service, the deadlines that
// follow from the configuration.
func (g *Gateway) announce(servers []*server) {
	for _, s := range servers {
		g.options.logger.Info("listening", "for", s.name, "address", s.listener.Addr().String(), "tls", s.tls)
	}
	s := g.snapshot.Load()
	if s == nil {
		return
	}
	for _, id := range s.services.ids() {
		budget, ribbon := s.config.TimeoutFor(id)
		shown := budget.String()
		if !s.config.HystrixFor(id).TimeoutEnabled {
			shown = "none"
		}
		g.options.logger.Info("service", "id", id, "budget", shown, "attempts need", ribbon)
	}
}
