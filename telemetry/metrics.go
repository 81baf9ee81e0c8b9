package telemetry

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/routing"
)

// Settings decide what is counted and shown.
type Settings struct {
	// ServerBuckets and ClientBuckets are the bounds of the histograms of requests and of
	// attempts, ascending, at most MaxBuckets. Nil means DefaultBuckets.
	ServerBuckets, ClientBuckets []time.Duration

	// MaxServers is how many servers of a service have series of their own; the attempts on
	// others are added up as "other".
	MaxServers int

	// Enabled tells, by a name in Spring's form ("http.server.request.duration"), whether a
	// metric is shown. Nil: all are.
	Enabled func(name string) bool
}

func (s Settings) withDefaults() Settings {
	if len(s.ServerBuckets) == 0 {
		s.ServerBuckets = DefaultBuckets()
	}
	if len(s.ClientBuckets) == 0 {
		s.ClientBuckets = DefaultBuckets()
	}
	return s
}

// Metrics are the counters of requests and attempts, which outlive snapshots. All methods
// may be called from any goroutine.
type Metrics struct {
	begun, ended [stripes]paddedCount
	tunnels      histogram // of their durations; the buckets are of no use
	current      atomic.Pointer[Observer]
	open         func() int64 // connections that have switched protocols

	mu       sync.Mutex // guards the maps; used while snapshots are built and read
	routes   map[string]*routeCounts
	services map[string]*serviceCounts
}

type paddedCount struct {
	n atomic.Int64
	_ [15]int64
}

// NewMetrics returns Metrics with nothing counted. tunnels tells how many connections that
// have switched protocols are open.
func NewMetrics(tunnels func() int64) *Metrics {
	return &Metrics{open: tunnels, routes: map[string]*routeCounts{}, services: map[string]*serviceCounts{}}
}

// Observer counts the requests of one snapshot.
type Observer struct {
	metrics  *Metrics
	settings Settings
	routes   map[*routing.Route]*routeCounts
	none     *routeCounts
	services map[string]*serviceCounts
	urls     *serviceCounts
}

var _ filters.Observer = (*Observer)(nil)

// Observer makes the observer of a snapshot with these routes and services. It changes
// nothing about what is shown until PutInForce.
func (m *Metrics) Observer(s Settings, routes []*routing.Route, services []string) *Observer {
	o := &Observer{
		metrics: m, settings: s.withDefaults(),
		routes:   make(map[*routing.Route]*routeCounts, len(routes)),
		services: make(map[string]*serviceCounts, len(services)),
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	fresh := m.current.Load() == nil || !o.sameBuckets(m.current.Load())
	byID := make(map[string]*routeCounts, len(routes))
	route := func(id string) *routeCounts {
		if c := byID[id]; c != nil {
			return c
		}
		c := m.routes[id]
		if c == nil || fresh {
			c = &routeCounts{id: id}
		}
		byID[id] = c
		return c
	}
	for _, r := range routes {
		o.routes[r] = route(r.ID)
	}
	o.none = route(noRoute)
	service := func(id string) *serviceCounts {
		if c := m.services[id]; c != nil && !fresh {
			return c
		}
		return newServiceCounts(id)
	}
	for _, id := range services {
		o.services[id] = service(id)
	}
	o.urls = service(urlRoutes)
	return o
}

func (o *Observer) sameBuckets(p *Observer) bool {
	return slices.Equal(o.settings.ServerBuckets, p.settings.ServerBuckets) && slices.Equal(o.settings.ClientBuckets, p.settings.ClientBuckets)
}

// PutInForce shows the counters of o from now on, and forgets those of routes and services
// that o does not have.
func (o *Observer) PutInForce() {
	m := o.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	m.current.Store(o)
	m.routes, m.services = map[string]*routeCounts{noRoute: o.none}, maps.Clone(o.services)
	for _, c := range o.routes {
		m.routes[c.id] = c
	}
	m.services[urlRoutes] = o.urls
	o.urls.prune(o.hosts())
}

// hosts are those of the URL routes. What filters have sent elsewhere begins anew.
func (o *Observer) hosts() map[string]bool {
	all := map[string]bool{}
	for r := range o.routes {
		if r.URL != nil {
			all[r.URL.Host] = true
		}
	}
	return all
}

// Begin counts a request in.
func (o *Observer) Begin(c *filters.Context) {
	o.metrics.begun[stripeOf(c.Start)].n.Add(1)
}

// End counts a request out, with its attempts.
func (o *Observer) End(c *filters.Context) {
	a := c.Account()
	end := c.Start.Add(a.Took)
	counts := o.none
	if c.Route != nil {
		if known := o.routes[c.Route]; known != nil {
			counts = known
		}
	}
	h := counts.of(methodIndex(c.Request.Method), classIndex(status(c)), &o.settings)
	s := h.add(a.Took-a.Tunnel, end)
	if a.Tunnel > 0 {
		o.metrics.tunnels.add(a.Tunnel, end)
	} else {
		s.in.Add(a.BytesIn)
		s.out.Add(a.BytesOut)
	}
	if c.IsCall() {
		counts.called(c.CallStatus())
	}
	for i := range a.Attempts {
		o.attempt(c, &a.Attempts[i])
	}
	o.metrics.ended[stripeOf(c.Start)].n.Add(1)
}

// status is that of the response: a server sends 200 if nothing else has been said.
func status(c *filters.Context) int {
	if c.Status() == 0 && !c.Aborted() {
		return 200
	}
	return c.Status()
}

func (o *Observer) attempt(c *filters.Context, a *filters.Attempt) {
	service := o.urls
	if c.ServiceID != "" && c.Out.URL == nil {
		if service = o.services[c.ServiceID]; service == nil {
			return // there are no attempts on servers of what is no service
		}
	}
	service.of(a.Server, &o.settings).add(a)
}

func stripeOf(t time.Time) int {
	n := t.Nanosecond()
	return (n ^ n>>4 ^ n>>9) & (stripes - 1)
}

// InFlight is how many requests are being answered, those that have switched protocols
// included.
func (m *Metrics) InFlight() int64 {
	var ended, begun int64
	for i := range m.ended {
		ended += m.ended[i].n.Load()
	}
	for i := range m.begun {
		begun += m.begun[i].n.Load()
	}
	return begun - ended
}

// Prune forgets the servers of a service that are not listed any more.
func (m *Metrics) Prune(service string, listed map[string]bool) {
	m.mu.Lock()
	s := m.services[service]
	m.mu.Unlock()
	if s != nil {
		s.prune(listed)
	}
}
