package gozer

import (
	"context"
	"net/http"
	"time"

	"github.com/gozer-gateway/gozer/admin"
	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/lb"
	"github.com/gozer-gateway/gozer/routing"
	"github.com/gozer-gateway/gozer/telemetry"
)

// Management returns the handler of the actuator endpoints, for tests and for
// programs that serve it themselves; Run serves it on the management listener.
// It follows the configuration in force.
func (g *Gateway) Management() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.snapshot.Load().management.ServeHTTP(w, r)
	})
}

func (g *Gateway) managementOf(cfg *config.Config) http.Handler {
	m := cfg.Management
	return admin.New(admin.Settings{
		BasePath: m.BasePath,
		Guard:    guard(&cfg.Management),
		Include:  m.Include,
		Exclude:  m.Exclude,
		Version:  g.options.version,
		Info:     cfg.Info,
		Streams:  g.state.streams,
		Stream:   streamSettings(cfg.Hystrix.Stream),

		Gatherer: g.gatherer, Prometheus: g.scrape, Loggers: g.levels,
	}, view{g})
}

func streamSettings(s config.HystrixStream) admin.StreamSettings {
	return admin.StreamSettings{MaxReaders: s.MaxConnections, Dashboard: s.Dashboard, Config: s.Config, Utilization: s.Utilization}
}

// view is what the management endpoints see of a gateway.
type view struct{ *Gateway }

var _ admin.View = view{}

func (v view) Routes() []*routing.Route     { return v.snapshot.Load().table.Routes() }
func (v view) Filters() []filters.Info      { return v.snapshot.Load().chain.Filters() }
func (v view) Meter() *filters.Meter        { return v.state.meter }
func (v view) Commands() admin.Commands     { return v.state.commands }
func (v view) Balancers() []*lb.Balancer    { return v.snapshot.Load().services.balancers() }
func (v view) Retries() []telemetry.Retries { return v.snapshot.Load().services.retries() }
func (v view) Ready() bool                  { return v.ready.Load() }
func (v view) Reloads() admin.Reloads       { return v.state.reloads.counts() }

func (v view) Refresh(ctx context.Context) (admin.Change, error) {
	return v.refreshFor(ctx, "management endpoint")
}

func (v view) Components() []admin.Component {
	parts := []admin.Component{v.state.reloads.health()}
	if v.eureka != nil {
		parts = append(parts, eurekaHealth(v.eureka, v.config.Eureka.Client.FetchInterval))
	}
	if v.registry != nil {
		parts = append(parts, registryHealth(v.registry))
	}
	if v.hasTLS() {
		parts = append(parts, v.certificateHealth(time.Now()))
	}
	return parts
}
