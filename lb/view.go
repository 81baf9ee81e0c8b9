package lb

import (
	"slices"
	"time"
)

// view is all that Choose reads: who may be chosen, how, and until when that holds. It never changes.
type view struct {
	servers  []*Server // as listed
	alive    []*Server
	eligible []*Server // the alive ones out of blackout; all alive ones if every one is in it
	expires  int64     // unix nanoseconds at which the first blackout ends; 0: none is on
	rule     Rule
	trip     TripPolicy
}

// newView sorts out who may be chosen at now.
func newView(servers []*Server, rule Rule, trip TripPolicy, now time.Time) *view {
	v := &view{servers: servers, rule: rule, trip: trip}
	v.alive = only(servers, (*Server).Alive)
	v.eligible = only(v.alive, func(s *Server) bool { return !v.noteBlackout(s, now.UnixNano()) })
	if len(v.eligible) == 0 {
		v.eligible = v.alive
	}
	return v
}

// noteBlackout reports a blackout of s and remembers the first to end.
func (v *view) noteBlackout(s *Server, now int64) bool {
	until := s.Stats().trippedUntil(v.trip)
	if until <= now {
		return false
	}
	if v.expires == 0 || until < v.expires {
		v.expires = until
	}
	return true
}

// expired reports that a blackout has ended since the view was built.
func (v *view) expired() bool {
	return v.expires != 0 && time.Now().UnixNano() >= v.expires
}

// another chooses for a request that has met tried before, the last of which has just
// failed: one not met yet if there is any, the last one only if it is all there is.
func (v *view) another(key any, tried []*Server) *Server {
	last := tried[len(tried)-1:]
	for _, group := range [...]struct{ among, except []*Server }{
		{v.eligible, tried},
		{v.alive, tried},
		{v.eligible, last},
		{v.alive, last},
	} {
		rest := only(group.among, func(s *Server) bool { return !met(group.except, s) })
		if len(rest) > 0 {
			return v.rule.Choose(key, rest)
		}
	}
	return v.rule.Choose(key, v.eligible)
}

func met(servers []*Server, s *Server) bool {
	return slices.ContainsFunc(servers, s.Same)
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
