package lb

import (
	"sync"
	"sync/atomic"
	"time"
)

// statsKept is how long the statistics of a server outlive its last listing.
const statsKept = 30 * time.Minute

// BalancerSettings are the policy of a Balancer; they may be replaced while it works.
type BalancerSettings struct {
	// Rule chooses the server; nil means a RoundRobin. Do not share one between balancers.
	Rule Rule
	// Trip says when a failing server is avoided.
	Trip TripPolicy
}

// Balancer chooses servers of one service. Any goroutine may call any method; Choose,
// Servers, Begin and End never wait for a lock, the others are for rare changes.
type Balancer struct {
	name string
	view atomic.Pointer[view]
	// stale is set when a server went into blackout or came out early: the view is
	// rebuilt by the next Choose.
	stale atomic.Bool

	mu    sync.Mutex // guards known and the building of views
	known map[string]*knownServer
}

// knownServer is what the balancer remembers of a server id.
type knownServer struct {
	state  serverState
	server *Server   // as last listed
	listed time.Time // when it was last listed
}

// NewBalancer makes a balancer without servers for the service of that name. It starts nothing.
func NewBalancer(name string, s BalancerSettings) *Balancer {
	b := &Balancer{name: name, known: make(map[string]*knownServer)}
	b.view.Store(&view{})
	b.Configure(s)
	return b
}

// Name is the service id.
func (b *Balancer) Name() string { return b.name }

// Configure replaces the policy. Servers, liveness and statistics stay.
func (b *Balancer) Configure(s BalancerSettings) {
	if s.Rule == nil {
		s.Rule = new(RoundRobin)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.view.Store(newView(b.view.Load().servers, s.Rule, s.Trip.withDefaults(), time.Now()))
}

// SetServers replaces the list. Servers whose id was listed within the last half hour
// keep their statistics and liveness, new ones are alive. list is not kept.
func (b *Balancer) SetServers(list []Server) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	servers := make([]*Server, len(list))
	for i := range list {
		servers[i] = b.enlist(list[i], now)
	}
	for id, k := range b.known {
		if now.Sub(k.listed) > statsKept {
			delete(b.known, id)
		}
	}
	v := b.view.Load()
	b.rebuild(servers, v, now)
}

// enlist finds or makes the balancer's own object for a server.
func (b *Balancer) enlist(s Server, now time.Time) *Server {
	s.addr = ""
	s.addr = s.HostPort()
	if s.ID == "" {
		s.ID = s.addr
	}
	k := b.known[s.ID]
	if k == nil {
		k = &knownServer{}
		k.state.alive.Store(true)
		b.known[s.ID] = k
	}
	k.listed = now
	if k.server == nil || !k.server.describedAs(&s) {
		s.state = &k.state
		k.server = &s
	}
	return k.server
}

// rebuild makes the view of servers current under the policy of v. The flag is cleared
// first, so that a change during the building leads to another.
func (b *Balancer) rebuild(servers []*Server, v *view, now time.Time) *view {
	b.stale.Store(false)
	next := newView(servers, v.rule, v.trip, now)
	b.view.Store(next)
	return next
}

// SetAlive takes the servers with that id, or that host:port, out of rotation or puts
// them back. It reports whether there was one to change.
func (b *Balancer) SetAlive(id string, alive bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := b.view.Load()
	changed := false
	for _, s := range v.servers {
		if (s.ID == id || s.addr == id) && s.state.alive.Swap(alive) != alive {
			changed = true
		}
	}
	if changed {
		b.rebuild(v.servers, v, time.Now())
	}
	return changed
}

// Servers lists all servers, dead ones too. The slice is shared, do not change it.
func (b *Balancer) Servers() []*Server { return b.view.Load().servers }

// Available counts the servers that Choose picks from: alive and, unless none would be
// left, out of blackout.
func (b *Balancer) Available() int { return len(b.current().eligible) }

// Choose picks a server, nil if none is alive. key is handed to the rule. tried are the
// servers that the same request has failed on, in order: another one is chosen if any
// is alive, the last of them only if it is the only one.
func (b *Balancer) Choose(key any, tried []*Server) *Server {
	v := b.current()
	if len(v.eligible) == 0 {
		return nil
	}
	s := v.rule.Choose(key, v.eligible)
	if len(tried) > 0 && met(tried, s) {
		return v.another(key, tried)
	}
	return s
}

// current is the view of this moment, or the previous one while another goroutine builds it.
func (b *Balancer) current() *view {
	v := b.view.Load()
	if !b.outdated(v) || !b.mu.TryLock() {
		return v
	}
	defer b.mu.Unlock()
	if v = b.view.Load(); !b.outdated(v) {
		return v
	}
	return b.rebuild(v.servers, v, time.Now())
}

func (b *Balancer) outdated(v *view) bool { return b.stale.Load() || v.expired() }

// Begin counts an attempt on s, which Choose has returned.
func (b *Balancer) Begin(s *Server, now time.Time) { s.Stats().Begin(now) }

// End completes an attempt that Begin counted; exactly one End belongs to each Begin.
func (b *Balancer) End(s *Server, now time.Time, took time.Duration, o Outcome) {
	stats, trip := s.Stats(), b.view.Load().trip
	before := stats.Tripped(now, trip)
	stats.End(now, took, o)
	if stats.Tripped(now, trip) != before {
		b.stale.Store(true)
	}
}
