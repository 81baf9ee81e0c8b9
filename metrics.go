package gozer

import (
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/http1"
	"github.com/gozer-gateway/gozer/lb"
	"github.com/gozer-gateway/gozer/telemetry"
)

// Gatherer gives everything that the gateway counts, as /actuator/prometheus shows it, for
// programs that export it in another way.
func (g *Gateway) Gatherer() prometheus.Gatherer { return g.gatherer }

// gather joins the parts that have something to tell.
func (g *Gateway) gather() prometheus.Gatherer {
	parts := []telemetry.Part{
		telemetry.Commands(g.state.commands),
		telemetry.Filters(g.state.meter, func() []filters.Info { return g.snapshot.Load().chain.Filters() }),
		telemetry.Connections(&g.state.connections),
		telemetry.Pools(g.state.poolStats),
		telemetry.UpstreamTLS(g.state.tls.handshakes),
		telemetry.Budgets(func() []telemetry.Retries { return g.snapshot.Load().services.retries() }),
		g.metrics.Servers(func() []*lb.Balancer { return g.snapshot.Load().services.balancers() }),
		g.readiness,
		g.reloading,
		g.spans,
		telemetry.Certificates(g.security.stores, g.clientCertificates),
		telemetry.HTTP2(&g.state.http2, &g.state.http2Ends),
		g.accessLogging,
	}
	if g.options.lossy != nil {
		parts = append(parts, g.logging)
	}
	if g.config.Server.ProxyProtocol.Enabled {
		parts = append(parts, g.introducing)
	}
	if g.eureka != nil {
		parts = append(parts, telemetry.Registry(g.discovered))
	}
	if g.registry != nil {
		parts = append(parts, g.leases)
	}
	return g.metrics.Gatherer(parts...)
}

func (g *Gateway) readiness(e *telemetry.Emitter) {
	ready := 0.0
	if g.ready.Load() {
		ready = 1
	}
	e.Gauge("gozer_ready", "1 while the gateway serves and does not drain.", ready)
	e.Gauge("gozer_build_info", "1, with the version of the program.", 1, "version", g.options.version)
	e.Gauge("gozer_routes", "Routes of the configuration in force.", float64(len(g.snapshot.Load().table.Routes())))
}

func (g *Gateway) discovered() telemetry.Discovery {
	state, view := g.eureka.State(), g.eureka.View()
	return telemetry.Discovery{
		Fetched: state.Fetched, Instances: view.Len(), Applications: len(view.Names()),
		Pushed: state.Pushing, Failing: state.Trouble != "",
	}
}

// leases tells about the registry in this process.
func (g *Gateway) leases(e *telemetry.Emitter) {
	s := g.registry.Status()
	const name, help = "gozer_registry_instances", "Instances that are registered here."
	e.Gauge(name, help, float64(s.Leases.Instances), "state", "registered")
	e.Gauge(name, help, float64(s.Leases.Expired), "state", "expired")
	e.Gauge("gozer_registry_applications", "Applications that are registered here.", float64(s.Leases.Applications))
	e.Gauge("gozer_registry_renewals", "Renewals of the last minute.", float64(s.Leases.Renewals))
	e.Gauge("gozer_registry_renewals_threshold", "Renewals a minute below which leases are kept though they have run out.", float64(s.Leases.Threshold))
	e.Gauge("gozer_registry_preserving", "1 while leases that have run out are kept.", oneIf(s.Leases.Preserving))
	e.Gauge("gozer_registry_serving", "0 while the list may be partial.", oneIf(s.Leases.Serving))
	e.Gauge("gozer_registry_subscribers", "Open streams of pushed changes.", float64(s.Subscribers))
	for _, p := range s.Peers {
		e.Gauge("gozer_registry_peer_available", "1 while a peer answers.", oneIf(p.Available), "peer", p.Host)
		e.Gauge("gozer_registry_peer_queued", "Changes that wait for a peer.", float64(p.Queued), "peer", p.Host)
	}
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// poolStats are the pools of the snapshot in force whose engine can tell.
func (s *state) poolStats() []telemetry.Pool {
	s.mu.Lock()
	pools := maps.Clone(s.pools)
	s.mu.Unlock()
	var all []telemetry.Pool
	for _, key := range slices.Sorted(maps.Keys(pools)) {
		if known, able := pools[key].transport.(interface{ Stats() http1.PoolStats }); able {
			all = addPool(all, key, known.Stats())
		}
	}
	return all
}

// addPool counts the pools of single URL routes to that of all.
func addPool(all []telemetry.Pool, key string, stats http1.PoolStats) []telemetry.Pool {
	if strings.HasPrefix(key, routePool) {
		key = urlRoutes
	}
	if n := len(all); n > 0 && all[n-1].Service == key {
		all[n-1].Busy += stats.Busy
		all[n-1].Idle += stats.Idle
		all[n-1].Waiting += stats.Waiting
		return all
	}
	return append(all, telemetry.Pool{Service: key, PoolStats: stats})
}

func metricsSettings(cfg *config.Config) telemetry.Settings {
	m := cfg.Management.Metrics
	return telemetry.Settings{ServerBuckets: m.Server, ClientBuckets: m.Client, MaxServers: m.MaxServers, Enabled: cfg.MetricEnabled}
}

// mostScrapes is how many may be under way at once.
const mostScrapes = 8

// scrapePatience is that of Prometheus by default.
const scrapePatience = 10 * time.Second

// prometheus serves the text format and OpenMetrics, compressed if the reader likes.
func (g *Gateway) prometheus() http.Handler {
	return within(scrapePatience, promhttp.HandlerFor(g.gatherer, promhttp.HandlerOpts{
		EnableOpenMetrics:   true,
		ErrorHandling:       promhttp.ContinueOnError,
		ErrorLog:            slog.NewLogLogger(g.options.logger.Handler(), slog.LevelWarn),
		MaxRequestsInFlight: mostScrapes,
	}))
}

// within cuts off a reader that does not take an answer in that time, so that it does not
// keep the place of others.
func within(patience time.Duration, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		_ = control.SetWriteDeadline(time.Now().Add(patience))       // not there on a recorder
		defer func() { _ = control.SetWriteDeadline(time.Time{}) }() // the next answer has its own
		h.ServeHTTP(w, r)
	})
}

// reloading tells what became of configurations that were to be loaded.
func (g *Gateway) reloading(e *telemetry.Emitter) {
	r := g.state.reloads.counts()
	const name, help = "gozer_reloads_total", "Reloads of the configuration, by what became of them."
	e.Counter(name, help, float64(r.Succeeded), "outcome", "succeeded")
	e.Counter(name, help, float64(r.Failed), "outcome", "refused")
	e.Gauge("gozer_config_refused", "1 while the last configuration that was to be loaded was refused.", oneIf(r.Failing))
	e.Gauge("gozer_config_loaded_timestamp_seconds", "When the configuration in force was loaded.", float64(r.LastSuccess.Unix()))
}
