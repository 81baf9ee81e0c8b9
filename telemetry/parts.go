package telemetry

import (
	"strings"
	"time"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/h2"
	"github.com/gozer-gateway/gozer/internal/http1"
	"github.com/gozer-gateway/gozer/lb"
	"github.com/gozer-gateway/gozer/ribboncmd"
)

// Commands is the part about circuit breakers, what they guard, and their fallbacks.
func Commands(commands interface {
	Snapshots() []ribboncmd.Snapshot
	Pools() []ribboncmd.PoolSnapshot
},
) Part {
	return func(e *Emitter) {
		for _, s := range commands.Snapshots() {
			command(e, s)
		}
		for _, p := range commands.Pools() {
			e.Gauge("gozer_thread_pool_active", "Calls that run in a pool.", float64(p.Active), "pool", p.Key)
			e.Gauge("gozer_thread_pool_waiting", "Calls in the queue of a pool.", float64(p.Waiting), "pool", p.Key)
			e.Counter("gozer_thread_pool_rejected_total", "Calls that a pool had no room for.", float64(p.Rejected), "pool", p.Key)
		}
	}
}

func command(e *Emitter, s ribboncmd.Snapshot) {
	for _, state := range []ribboncmd.State{ribboncmd.Closed, ribboncmd.Open, ribboncmd.HalfOpen} {
		e.Gauge("gozer_breaker_state", "1 for the state that a circuit is in, 0 for the others.", one(s.State == state), "command", s.Service, "state", strings.ToLower(state.String()))
	}
	e.Gauge("gozer_breaker_open", "1 while a circuit refuses calls, by itself or because it is forced open.", one(s.IsOpen), "command", s.Service)
	e.Gauge("gozer_breaker_forced", "1 while an operator has forced a circuit open or closed.", one(s.Override != 0), "command", s.Service)
	e.Gauge("gozer_bulkhead_active", "Calls in progress.", float64(s.Concurrent), "command", s.Service)
	e.Gauge("gozer_bulkhead_limit", "Calls that may be in progress at once.", float64(s.Limit), "command", s.Service)
	e.Gauge("gozer_fallbacks_active", "Fallbacks in progress.", float64(s.Fallbacks), "command", s.Service)
	for event, n := range s.Events {
		name := strings.ToLower(event.String())
		if outcome, ok := strings.CutPrefix(name, "fallback_"); ok {
			e.Counter("gozer_fallbacks_total", "Fallbacks by what became of them.", float64(n), "command", s.Service, "outcome", outcome)
		} else {
			e.Counter("gozer_command_events_total", "Executions of commands by Hystrix's events.", float64(n), "command", s.Service, "event", name)
		}
	}
}

// Servers is the part about the servers of services, as their balancers see them.
func (m *Metrics) Servers(balancers func() []*lb.Balancer) Part {
	return func(e *Emitter) {
		now := time.Now()
		for _, b := range balancers() {
			listed, active, tripped := map[string]bool{}, int64(0), 0
			for _, s := range b.Servers() {
				listed[s.String()] = true
				active += s.Stats().Active(now)
				if b.Tripped(s, now) {
					tripped++
				}
			}
			m.Prune(b.Name(), listed)
			e.Gauge("gozer_service_servers", "Servers of a service.", float64(len(listed)), labelService, b.Name(), "state", "listed")
			e.Gauge("gozer_service_servers", "Servers of a service.", float64(len(b.Reachable())), labelService, b.Name(), "state", "alive")
			e.Gauge("gozer_service_servers", "Servers of a service.", float64(tripped), labelService, b.Name(), "state", "tripped")
			e.Gauge("gozer_client_active_requests", "Attempts that wait for the head of a response.", float64(active), labelService, b.Name())
		}
	}
}

// Retries are what the retry budget of a service has been asked for.
type Retries struct {
	Service         string
	Granted, Denied int64
}

// Budgets is the part about retries.
func Budgets(retries func() []Retries) Part {
	return func(e *Emitter) {
		for _, r := range retries() {
			const name, help = "gozer_retries_total", "Attempts beyond the first that were due, by whether the retry budget had room for them."
			e.Counter(name, help, float64(r.Granted), labelService, r.Service, "budget", "granted")
			e.Counter(name, help, float64(r.Denied), labelService, r.Service, "budget", "denied")
		}
	}
}

// Pool is what a pool of connections to a service holds.
type Pool struct {
	Service string // "" for those of URL routes
	http1.PoolStats
}

// Pools is the part about connections to servers.
func Pools(pools func() []Pool) Part {
	return func(e *Emitter) {
		for _, p := range pools() {
			service := p.Service
			if service == "" {
				service = urlRoutes
			}
			const name, help = "gozer_pool_connections", "Connections to servers, those that requests use and idle ones."
			e.Gauge(name, help, float64(p.Busy), labelService, service, "state", "busy")
			e.Gauge(name, help, float64(p.Idle), labelService, service, "state", "idle")
			e.Gauge("gozer_pool_waiting", "Requests that wait for a connection.", float64(p.Waiting), labelService, service)
		}
	}
}

// Filters is the part about filters and what they failed with, and about tunnels.
func Filters(meter *filters.Meter, infos func() []filters.Info) Part {
	return func(e *Emitter) {
		for _, f := range infos() {
			count := meter.Filter(f.Phase, f.Name)
			const name, help = "gozer_filter_total", "How often a filter came up, by what became of it."
			phase := string(f.Phase)
			e.Counter(name, help, float64(count.Success.Load()), "filter", f.Name, "phase", phase, "status", "success")
			e.Counter(name, help, float64(count.Failed.Load()), "filter", f.Name, "phase", phase, "status", "failed")
			e.Counter(name, help, float64(count.Skipped.Load()), "filter", f.Name, "phase", phase, "status", "skipped")
			e.Counter(name, help, float64(count.Disabled.Load()), "filter", f.Name, "phase", phase, "status", "disabled")
			e.Counter("gozer_filter_seconds_total", "Time spent in a filter; sending a response is part of SendResponseFilter.", count.Took().Seconds(), "filter", f.Name, "phase", phase)
		}
		tunnels := &meter.Tunnels
		e.Counter("gozer_tunnels_opened_total", "Connections that have switched protocols.", float64(tunnels.Opened.Load()))
		e.Gauge("gozer_tunnels_active", "Such connections that are open.", float64(tunnels.Active.Load()))
		const name, help = "gozer_tunnel_bytes_total", "Bytes that have passed through such connections."
		e.Counter(name, help, float64(tunnels.FromClient.Load()), "from", "client")
		e.Counter(name, help, float64(tunnels.FromUpstream.Load()), "from", "upstream")
	}
}

// Connections is the part about what the proxy's listener does before the filters.
func Connections(c *http1.ServerCount) Part {
	return func(e *Emitter) {
		e.Counter("gozer_connections_accepted_total", "Connections of clients.", float64(c.Accepted.Load()))
		e.Gauge("gozer_connections_open", "Connections of clients that are open.", float64(c.Open.Load()))
		const refused, help = "gozer_connections_refused_total", "Connections of clients that there was no room for, by the limit of gateway.limits."
		e.Counter(refused, help, float64(c.TurnedAway.Load()), "reason", "max-connections")
		e.Counter(refused, help, float64(c.TurnedAwayOfClient.Load()), "reason", "max-connections-per-client")
		e.Counter("gozer_tls_handshakes_failed_total", "TLS connections of clients that did not come about.", float64(c.HandshakesFailed.Load()))
		refusals(e, "gozer_http1_refused_total", c.Answered())
	}
}

// HTTP2 is the part about requests of HTTP/2 that became none, and about what has ended before
// its time.
func HTTP2(refused *http1.Refusals, count *h2.Count) Part {
	return func(e *Emitter) {
		refusals(e, "gozer_http2_refused_total", refused.All())
		for end, n := range count.Ends() {
			switch {
			case !end.Reset:
				e.Counter("gozer_http2_connections_cut_total", "Connections of HTTP/2 that were ended with GOAWAY for an error, by its code or by what there was too much of.", float64(n), "reason", end.Reason)
			case end.ByClient:
				e.Counter("gozer_http2_streams_reset_total", "Streams of HTTP/2 that were reset.", float64(n), "by", "client", "code", end.Reason)
			default:
				e.Counter("gozer_http2_streams_reset_total", "Streams of HTTP/2 that were reset.", float64(n), "by", "gateway", "code", end.Reason)
			}
		}
	}
}

// refusals sums those of a class and a reason up: a series must not come twice.
func refusals(e *Emitter, name string, all map[http1.Error]int64) {
	type series struct{ class, reason string }
	sums := map[series]int64{}
	for answer, n := range all {
		sums[series{className(classIndex(answer.Status)), answer.Reason}] += n
	}
	for s, n := range sums {
		e.Counter(name, "Requests that were answered on the wire, before any filter, by reason.", float64(n), labelClass, s.class, "reason", s.reason)
	}
}

// Discovery is what a registry client knows.
type Discovery struct {
	Fetched                 time.Time // zero before the first answer
	Instances, Applications int
	Pushed, Failing         bool
}

// Registry is the part about the gateway's view of a registry.
func Registry(known func() Discovery) Part {
	return func(e *Emitter) {
		d := known()
		e.Gauge("gozer_discovery_instances", "Instances that discovery knows.", float64(d.Instances))
		e.Gauge("gozer_discovery_applications", "Applications that discovery knows.", float64(d.Applications))
		e.Gauge("gozer_discovery_failing", "1 while the last attempt to read the registry has failed.", one(d.Failing))
		e.Gauge("gozer_discovery_fetched", "1 once the registry has been read.", one(!d.Fetched.IsZero()))
		if !d.Fetched.IsZero() {
			e.Gauge("gozer_discovery_age_seconds", "Time since the registry was last read.", time.Since(d.Fetched).Seconds())
		}
	}
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
