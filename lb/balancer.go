package lb

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// statsKept is how long the statistics of a server outlive its last listing.
const statsKept = 30 * time.Minute

// Balancer chooses servers of one service. Any goroutine may call any method; Choose,
// Servers, Begin and End never wait for a lock, the others are for rare changes.
type Balancer struct {
	name string
	view atomic.Pointer[view]
	// stale is set when a server went into blackout or came out early: the view is
	// rebuilt by the next Choose.
	stale   atomic.Bool
	running atomic.Bool // Run is

	refreshing sync.Mutex // held while the list is read
	complaints complaints

	mu     sync.Mutex // guards all below and the building of views
	policy *policy
	known  map[string]*knownServer
	listed []*Server
	prime  []*Server     // to be primed
	primed chan struct{} // a signal that there is something in prime
	fresh  chan struct{} // a signal that there are servers that no ping has seen
}

// knownServer is what the balancer remembers of a server id.
type knownServer struct {
	state  serverState
	server *Server   // as last listed
	listed time.Time // when it was last listed
}

// NewBalancer makes a balancer without servers for the service of that name. It starts
// nothing: what the settings ask for at intervals is done by Run.
func NewBalancer(name string, s BalancerSettings) *Balancer {
	b := &Balancer{name: name, known: make(map[string]*knownServer), primed: make(chan struct{}, 1), fresh: make(chan struct{}, 1)}
	b.policy = newPolicy(s)
	b.view.Store(newView(nil, nil, b.policy, time.Now()))
	return b
}

// Name is the service id.
func (b *Balancer) Name() string { return b.name }

// Configure replaces the policy. Servers, liveness and statistics stay. If the rule or the
// filter panics meanwhile, that is logged and the policy stays too.
func (b *Balancer) Configure(s BalancerSettings) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.guard(b.policy, policyReplaced, func() { b.adopt(newPolicy(s)) })
	b.rebuild(time.Now(), false)
}

// adopt puts a policy in the place of the one there is; mu is held.
func (b *Balancer) adopt(p *policy) {
	old := b.policy
	if heir, ok := p.Filter.(Adopter); ok {
		heir.Adopt(old.Filter)
	}
	b.policy = p
	for _, k := range b.known {
		b.tune(&k.state)
	}
	close(old.changed)
}

// tune gives a server's state what of the policy it needs.
func (b *Balancer) tune(s *serverState) {
	s.stats.window.Store(int64(b.policy.ActiveWindow))
}

// Servers lists all servers, dead ones and those that the filter leaves out too. The
// slice is shared, do not change it.
func (b *Balancer) Servers() []*Server { return b.view.Load().listed }

// Reachable lists the servers that the filter has left and that are alive. The slice is
// shared, do not change it.
func (b *Balancer) Reachable() []*Server { return b.view.Load().alive }

// Available counts the servers that Choose picks from: alive, not full and, unless none
// would be left, in good standing.
func (b *Balancer) Available() int {
	v, n := b.current(), 0
	for _, s := range v.eligible {
		if !v.full(s) {
			n++
		}
	}
	return n
}

// Tripped reports that s is avoided because its connections fail.
func (b *Balancer) Tripped(s *Server, now time.Time) bool {
	p := b.view.Load().policy
	return !p.KeepTripped && s.Stats().Tripped(now, p.Trip)
}

// Zones describes the zones of all servers, by name.
func (b *Balancer) Zones() []ZoneSnapshot {
	v := b.current()
	h := Health{Now: time.Now(), Trip: v.policy.Trip}
	zones := make([]ZoneSnapshot, 0, len(v.zones.zones))
	for _, z := range newZones(v.listed, v.listed, ZonePolicy{}).zones {
		s := h.Snapshot(z.alive)
		s.Zone = z.name
		zones = append(zones, s)
	}
	return zones
}

// Choose picks a server, nil if none is alive. key is handed to the rule. tried are the
// servers that the same request has failed on, in order: another one is chosen if any
// is alive, the last of them only if it is the only one. Under the rule Retry it may wait.
func (b *Balancer) Choose(key any, tried []*Server) *Server {
	v := b.current()
	s := v.choose(key, tried)
	if s == nil && v.policy.patience > 0 {
		return b.await(key, tried, v.policy.patience)
	}
	return s
}

// awaitStep is how often a request that waits for a server looks for one.
const awaitStep = 10 * time.Millisecond

func (b *Balancer) await(key any, tried []*Server, patience time.Duration) *Server {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ticker := time.NewTicker(awaitStep)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return b.current().choose(key, tried)
		case <-ticker.C:
			if s := b.current().choose(key, tried); s != nil {
				return s
			}
		}
	}
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
	return b.rebuild(time.Now(), false)
}

func (b *Balancer) outdated(v *view) bool { return b.stale.Load() || v.expired() }

// Begin counts an attempt on s, which Choose has returned.
func (b *Balancer) Begin(s *Server, now time.Time) { s.Stats().Begin(now) }

// End completes an attempt that Begin counted; exactly one End belongs to each Begin.
func (b *Balancer) End(s *Server, now time.Time, took time.Duration, o Outcome) {
	stats, v := s.Stats(), b.view.Load()
	before := stats.trippedUntil(v.policy.Trip)
	stats.End(now, took, o)
	if after := stats.trippedUntil(v.policy.Trip); after != before && max(after, before) > now.UnixNano() {
		stats.noteBlackout(after, now)
		b.stale.Store(true)
	}
	if p := v.policy.Outliers; p != nil && p.ErrorsInARow > 0 && stats.inARow.Load() == int64(p.ErrorsInARow) && o != Neutral {
		b.stale.Store(true)
	}
	if v.observer != nil {
		v.observer.Observe(s, End{At: now, Took: took, Outcome: o})
	}
}
