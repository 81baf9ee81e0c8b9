package lb

import (
	"math/rand/v2"
	"slices"
	"time"
)

// view is all that Choose reads: who may be chosen, how, and until when that holds. It never changes.
type view struct {
	listed   []*Server // all
	alive    []*Server // of those that the filter left
	eligible []*Server // the alive ones in good standing; all alive ones if there are none
	sound    []*Server // those in good standing if they are too few, for requests that have failed
	spare    []*Server // usable ones that the filter left out, for requests that have failed
	zones    *Zones
	expires  int64 // unix nanoseconds at which the first blackout, ejection or slow start ends; 0: none is on
	full     func(*Server) bool

	picker    Picker
	settled   Picker     // of the eligible ones that are not new; nil if all are, or none is
	past      PickerPast // nil without an order of its own
	observer  Observer   // nil if the rule does not care
	slowStart time.Duration
	policy    *policy
}

// newView sorts out who may be chosen at now.
func newView(listed, filtered []*Server, p *policy, now time.Time) *view {
	v := &view{listed: listed, policy: p, slowStart: p.SlowStart}
	v.alive = only(filtered, (*Server).Alive)
	ready := only(v.alive, (*Server).Ready)
	if len(ready) == 0 {
		ready = v.alive
	}
	nanos := now.UnixNano()
	v.eligible = only(ready, func(s *Server) bool { return !v.notePause(s, nanos) })
	panicking := len(v.eligible) == 0 || p.panics(len(v.eligible), len(v.alive))
	if panicking {
		v.sound, v.eligible = v.eligible, v.alive
	}
	if p.spares && len(filtered) < len(listed) {
		v.noteSpare(filtered, nanos)
	}
	v.zones = newZones(v.alive, v.eligible, p.Zones)
	h := Health{Now: now, Trip: p.Trip}
	v.prepare(h)
	v.prepareSettled(h)
	return v
}

// notePause reports a blackout or an ejection of s and remembers when it ends.
func (v *view) notePause(s *Server, now int64) bool {
	until := s.state.outlier.until.Load()
	if !v.policy.KeepTripped {
		until = max(until, s.Stats().trippedUntil(v.policy.Trip))
	}
	if until <= now {
		return false
	}
	v.noteEnd(until)
	return true
}

func (v *view) noteEnd(until int64) {
	if v.expires == 0 || until < v.expires {
		v.expires = until
	}
}

func (v *view) noteSpare(filtered []*Server, now int64) {
	left := make(map[*Server]bool, len(filtered))
	for _, s := range filtered {
		left[s] = true
	}
	v.spare = only(v.listed, func(s *Server) bool {
		return !left[s] && s.Alive() && s.Ready() && !v.notePause(s, now)
	})
}

// prepareSettled makes the picker of the servers whose slow start is over, unless none is
// going on.
func (v *view) prepareSettled(h Health) {
	if v.slowStart <= 0 {
		return
	}
	settled := only(v.eligible, func(s *Server) bool {
		until, is := s.warming(h.Now.UnixNano(), v.slowStart)
		if is {
			v.noteEnd(until)
		}
		return !is
	})
	if 0 < len(settled) && len(settled) < len(v.eligible) {
		zones := newZones(settled, settled, v.policy.Zones)
		v.settled = v.policy.settled.Picker(&Candidates{Servers: settled, Zones: zones, Limit: v.policy.ActiveLimit, Health: h})
	}
}

// prepare makes the picker.
func (v *view) prepare(h Health) {
	p := v.policy
	c := &Candidates{Servers: v.eligible, Zones: v.zones, Limit: p.ActiveLimit, Health: h}
	v.full = c.full
	if len(v.eligible) == 0 {
		return
	}
	v.picker = p.rule.Picker(c)
	v.past, _ = v.picker.(PickerPast)
	v.observer, _ = v.picker.(Observer)
	if p.Class != ZoneAware || v.zones.single() || v.past != nil {
		return // an order of servers is worth more than the load of a zone
	}
	aware := &zoneAware{whole: v.picker, zones: v.zones, each: make([]Picker, len(v.zones.zones))}
	for i, z := range v.zones.zones {
		if len(z.servers) > 0 {
			one := newZones(z.alive, z.servers, p.Zones)
			aware.each[i] = p.zoneRule(z.name).Picker(&Candidates{Servers: z.servers, Zones: one, Limit: p.ActiveLimit, Health: h})
		}
	}
	v.picker = aware
}

// expired reports that a blackout has ended since the view was built.
func (v *view) expired() bool {
	return v.expires != 0 && time.Now().UnixNano() >= v.expires
}

// choose picks a server, nil if there is none.
func (v *view) choose(key any, tried []*Server) *Server {
	if len(v.eligible) == 0 {
		return nil
	}
	if len(tried) > 0 {
		return v.another(key, tried)
	}
	s := v.picker.Pick(key)
	if v.settled != nil {
		s = v.admit(key, s)
	}
	return s
}

// picks is how often another server is asked of the rule before any will do.
const picks = 4

// another chooses for a request that has met tried before, the last of which has just
// failed: one not met yet if there is any, the last one only if it is all there is.
// Servers that a zone filter holds back come first, since what ails one server of a zone
// may ail them all, and then the few in good standing when bad ones are used too.
func (v *view) another(key any, tried []*Server) *Server {
	for _, among := range [...][]*Server{v.spare, v.sound} {
		if s := otherThan(among, tried); s != nil {
			return s
		}
	}
	if v.past != nil {
		if s := v.past.PickPast(key, tried); s != nil && !met(tried, s) {
			return s
		}
	}
	for range picks {
		if s := v.picker.Pick(key); s != nil && !met(tried, s) {
			return s
		}
	}
	for _, among := range [...][]*Server{v.eligible, v.alive} {
		if s := otherThan(among, tried); s != nil {
			return s
		}
	}
	if s := v.longestAgo(tried); s != nil {
		return s
	}
	return v.picker.Pick(key)
}

// longestAgo is the first of the servers that the request has met, other than the last.
func (v *view) longestAgo(tried []*Server) *Server {
	last := tried[len(tried)-1]
	for _, among := range [...][]*Server{v.eligible, v.alive} {
		for _, t := range tried {
			if i := slices.IndexFunc(among, t.Same); i >= 0 && !t.Same(last) {
				return among[i]
			}
		}
	}
	return nil
}

// otherThan takes any of the servers but those, nil if there is none.
func otherThan(servers, except []*Server) *Server {
	n := len(servers)
	if n == 0 {
		return nil
	}
	start := rand.IntN(n)
	for i := range n {
		if s := servers[(start+i)%n]; !met(except, s) {
			return s
		}
	}
	return nil
}

func met(servers []*Server, s *Server) bool {
	for _, o := range servers {
		if o.Same(s) {
			return true
		}
	}
	return false
}

// only filters; it returns servers itself when all of them pass.
func only(servers []*Server, pass func(*Server) bool) []*Server {
	kept := make([]*Server, 0, len(servers))
	for _, s := range servers {
		if pass(s) {
			kept = append(kept, s)
		}
	}
	if len(kept) == len(servers) {
		return servers
	}
	return kept
}
