package lb

import (
	"context"
	"slices"
	"strings"
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
	complaint  string     // of the last reading; guarded by refreshing

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

// Configure replaces the policy. Servers, liveness and statistics stay.
func (b *Balancer) Configure(s BalancerSettings) {
	b.mu.Lock()
	defer b.mu.Unlock()
	old := b.policy
	b.policy = newPolicy(s)
	if heir, ok := s.Filter.(Adopter); ok {
		heir.Adopt(old.Filter)
	}
	for _, k := range b.known {
		b.tune(&k.state)
	}
	b.rebuild(time.Now(), false)
	close(old.changed)
}

// tune gives a server's state what of the policy it needs.
func (b *Balancer) tune(s *serverState) {
	s.stats.window.Store(int64(b.policy.ActiveWindow))
}

// SetServers replaces the list. Servers whose id was listed within the last half hour
// keep their statistics and, if the balancer pings, their liveness; others are alive.
// list is not kept.
func (b *Balancer) SetServers(list []Server) {
	b.mu.Lock()
	before, now := b.listed, time.Now()
	p := b.policy
	servers := make([]*Server, len(list))
	var revived []*Server
	for i := range list {
		s, up := b.enlist(list[i], len(before) > 0, now)
		servers[i] = s
		if up {
			revived = append(revived, s)
		}
	}
	for id, k := range b.known {
		if now.Sub(k.listed) > statsKept {
			delete(b.known, id)
		}
	}
	b.listed = servers
	b.rebuild(now, true)
	b.mu.Unlock()
	p.tell(before, servers, revived)
}

// tell calls the listeners.
func (p *policy) tell(before, after, changed []*Server) {
	if len(p.OnList) > 0 && !sameIDs(before, after) {
		for _, listener := range p.OnList {
			listener(before, after)
		}
	}
	if len(changed) > 0 {
		for _, listener := range p.OnStatus {
			listener(changed)
		}
	}
}

func sameIDs(a, b []*Server) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].Same(b[i]) {
			return false
		}
	}
	return true
}

// enlist finds or makes the balancer's own object for a server. running is false for the
// first list: its servers have nobody to be newer than. up reports that the server was
// down and is alive by being listed again.
func (b *Balancer) enlist(s Server, running bool, now time.Time) (listed *Server, up bool) {
	s.addr = ""
	if s.ID == "" {
		s.addr = s.HostPort()
		s.ID = s.addr
	}
	k := b.known[s.ID]
	fresh := k == nil
	if fresh {
		k = &knownServer{}
		k.state.alive.Store(true)
		b.tune(&k.state)
		b.known[s.ID] = k
		signal(b.fresh)
	} else if !b.policy.pings {
		up = !k.state.alive.Swap(true)
	}
	k.listed = now
	if k.server == nil || !k.server.describedAs(&s) {
		own := s
		own.addr = own.HostPort()
		own.zone = strings.ToLower(own.Zone)
		own.state = &k.state
		k.server = &own
	}
	if running && (fresh || up) {
		b.begin(k.server, fresh, now)
	}
	return k.server, up
}

// begin starts the slow start of a server, and its priming if it is new.
func (b *Balancer) begin(s *Server, fresh bool, now time.Time) {
	if b.policy.SlowStart > 0 {
		s.state.since.Store(now.UnixNano())
	}
	if fresh && b.policy.Prime != nil && b.running.Load() {
		s.state.unready.Store(true)
		b.prime = append(b.prime, s)
		signal(b.primed)
	}
}

// signal wakes whoever waits for the channel; one signal stands for any number.
func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// rebuild makes the view of this moment; mu is held. The flag is cleared first, so that a
// change during the building leads to another. refresh says that the list has been read.
func (b *Balancer) rebuild(now time.Time, refresh bool) *view {
	b.stale.Store(false)
	p := b.policy
	if p.Outliers != nil {
		p.Outliers.judge(b.listed, now, false)
	}
	filtered := b.listed
	if p.Filter != nil && len(b.listed) > 0 {
		filtered = p.Filter.Filter(b.listed, Health{Now: now, Trip: p.Trip}, refresh)
		if !p.strict && !slices.ContainsFunc(filtered, (*Server).Alive) {
			filtered = b.listed
		}
	}
	if p.Class == NoOp {
		filtered = nil
	}
	v := newView(b.listed, filtered, p, now)
	p.forget(v.zones)
	b.view.Store(v)
	return v
}

// SetAlive takes the servers with that id, or that host:port, out of rotation or puts
// them back. It reports whether there was one to change.
func (b *Balancer) SetAlive(id string, alive bool) bool {
	var changed []*Server
	b.mu.Lock()
	for _, s := range b.listed {
		if (s.ID == id || s.addr == id) && b.turn(s, alive, time.Now()) {
			changed = append(changed, s)
		}
	}
	if len(changed) > 0 {
		b.rebuild(time.Now(), false)
	}
	p := b.policy
	b.mu.Unlock()
	p.tell(nil, nil, changed)
	return len(changed) > 0
}

// turn sets the liveness of a server and reports a change; mu is held.
func (b *Balancer) turn(s *Server, alive bool, now time.Time) bool {
	if s.state.alive.Swap(alive) == alive {
		return false
	}
	if alive {
		b.begin(s, false, now)
	}
	return true
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
