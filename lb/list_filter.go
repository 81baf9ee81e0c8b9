package lb

import (
	"slices"
	"strings"
	"time"
)

// ListFilter narrows the list of servers before the rule sees it.
type ListFilter interface {
	// Filter returns which of servers, of which there is one at least, are to be used, in order. The balancer calls it, one call at a
	// time, when the list is read (refresh) and when the health of a server has changed. It
	// must not change servers nor call the balancer.
	Filter(servers []*Server, h Health, refresh bool) []*Server
}

// Adopter is a ListFilter with a memory, which takes over that of the filter that it
// replaces when the policy changes.
type Adopter interface{ Adopt(previous ListFilter) }

// Spare is a ListFilter that leaves servers out that may be used all the same by a
// request that has failed on another one.
type Spare interface{ SparesOthers() bool }

// Strict is a ListFilter whose choice may stand even if no server of it is alive. With
// any other filter all servers are used then.
type Strict interface{ Strict() bool }

// ZoneAffinityFilter keeps to the servers of one zone as long as that is healthy. It is
// also Ribbon's DefaultNIWSServerListFilter. Zero limits mean Ribbon's.
type ZoneAffinityFilter struct {
	// Zone is the client's own; letter case does not count. Empty switches the filter off.
	Zone string
	// Affinity prefers the zone (EnableZoneAffinity).
	Affinity bool
	// Exclusive uses no other zone, even if this one has no server (EnableZoneExclusivity).
	Exclusive bool
	// MaxLoad is the number of active requests per server from which on all zones are used
	// (zoneAffinity.maxLoadPerServer), 0.6 by default; negative means in any case.
	MaxLoad float64
	// MaxBlackout is the share of servers in blackout from which on all zones are used
	// (zoneAffinity.maxBlackOutServesrPercentage), 0.8 by default; negative means in any case.
	MaxBlackout float64
	// MinAvailable is the number of servers out of blackout below which all zones are used
	// (zoneAffinity.minAvailableServers), 2 by default; negative means none are needed.
	MinAvailable int
}

var _ ListFilter = (*ZoneAffinityFilter)(nil)

// Filter implements ListFilter.
func (f *ZoneAffinityFilter) Filter(servers []*Server, h Health, _ bool) []*Server {
	return f.narrow(servers, h)
}

// SparesOthers implements Spare.
func (f *ZoneAffinityFilter) SparesOthers() bool { return !f.Exclusive }

// Strict implements Strict.
func (f *ZoneAffinityFilter) Strict() bool { return f.Exclusive }

func (f *ZoneAffinityFilter) narrow(servers []*Server, h Health) []*Server {
	if f.Zone == "" || !f.Affinity && !f.Exclusive {
		return servers
	}
	local := f.local(servers)
	if f.Exclusive || !f.overridden(local, h) {
		return local
	}
	return servers
}

func (f *ZoneAffinityFilter) local(servers []*Server) []*Server {
	zone := strings.ToLower(f.Zone)
	return only(servers, func(s *Server) bool { return s.zone == zone })
}

func (f *ZoneAffinityFilter) overridden(local []*Server, h Health) bool {
	maxLoad, maxBlackout, least := f.MaxLoad, f.MaxBlackout, f.MinAvailable
	if maxLoad == 0 {
		maxLoad = 0.6
	}
	if maxBlackout == 0 {
		maxBlackout = 0.8
	}
	if least == 0 {
		least = 2
	}
	live := only(local, (*Server).Alive)
	z := h.Snapshot(live)
	tripped := z.Tripped + len(local) - len(live)
	return len(local)-tripped < max(least, 1) ||
		float64(tripped)/float64(len(local)) >= maxBlackout || z.Load >= maxLoad
}

// ZonePreferenceFilter is the affinity filter that also keeps to the client's zone, if
// it has a usable server, when neither affinity nor exclusivity is asked for. It is what
// Spring uses.
type ZonePreferenceFilter struct{ ZoneAffinityFilter }

var _ ListFilter = (*ZonePreferenceFilter)(nil)

// Filter implements ListFilter.
func (f *ZonePreferenceFilter) Filter(servers []*Server, h Health, _ bool) []*Server {
	if f.Affinity || f.Exclusive || f.Zone == "" {
		return f.narrow(servers, h)
	}
	if local := f.local(servers); slices.ContainsFunc(local, h.Usable) {
		return local
	}
	return servers
}

// SubsetFilter uses a part of a long list only. At every refresh it lets go the members
// that fail or are busy, and a few more to keep the part moving, and draws others in
// their place. Zone affinity applies first. It remembers its members: each Balancer
// needs its own.
type SubsetFilter struct {
	ZoneAffinityFilter
	// Size of the part (ServerListSubsetFilter.size), 20 by default.
	Size int
	// Eliminate is the share of Size that goes at every refresh at least
	// (forceEliminatePercent), 0.1 by default; negative means none.
	Eliminate float64
	// MaxFailures in the current second and MaxActive requests are what a member may have
	// (eliminationFailureThresold, eliminationConnectionThresold).
	MaxFailures, MaxActive int64

	// Interval is the least time between two eliminations; a refresh that comes sooner only
	// fills the gaps that servers have left which are no longer listed. 0 means none.
	Interval time.Duration

	members []string // ids, in the order of their joining
	renewed time.Time
}

var (
	_ ListFilter = (*SubsetFilter)(nil)
	_ Adopter    = (*SubsetFilter)(nil)
)
