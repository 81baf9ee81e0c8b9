package lb

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// SetServers replaces the list. Servers whose id was listed within the last half hour
// keep their statistics and, if the balancer pings, their liveness; others are alive.
// list is not kept.
func (b *Balancer) SetServers(list []Server) {
	p, before, after, revived := b.replace(list)
	p.tell(before, after, revived)
}

func (b *Balancer) replace(list []Server) (p *policy, before, after, revived []*Server) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before, now := b.listed, time.Now()
	servers := make([]*Server, len(list))
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
	return b.policy, before, servers, revived
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
		own.Metadata = maps.Clone(own.Metadata)
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

// rebuild makes the view of this moment, or leaves the one there is if filter or rule panic;
// mu is held. The flag is cleared first, so that a change during the building leads to
// another. refresh says that the list has been read.
func (b *Balancer) rebuild(now time.Time, refresh bool) *view {
	b.stale.Store(false)
	b.guard(b.policy, choicePrepared, func() { b.view.Store(b.see(now, refresh)) })
	return b.view.Load()
}

// see is rebuild's work with the parts of others.
func (b *Balancer) see(now time.Time, refresh bool) *view {
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
	return v
}

// SetAlive takes the servers with that id, or that host:port, out of rotation or puts
// them back. It reports whether there was one to change.
func (b *Balancer) SetAlive(id string, alive bool) bool {
	return b.revise(func(s *Server) (is, known bool) { return alive, s.ID == id || s.addr == id })
}

// revise sets the liveness of servers and reports a change.
func (b *Balancer) revise(alive func(s *Server) (is, known bool)) bool {
	p, changed := b.turnAll(alive)
	p.tell(nil, nil, changed)
	return len(changed) > 0
}

func (b *Balancer) turnAll(alive func(s *Server) (is, known bool)) (p *policy, changed []*Server) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	for _, s := range b.listed {
		if is, known := alive(s); known && b.turn(s, is, now) {
			changed = append(changed, s)
		}
	}
	if len(changed) > 0 {
		b.rebuild(now, false)
	}
	return b.policy, changed
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
