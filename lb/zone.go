package lb

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// ZonePolicy says when requests stay away from a zone. Zero fields mean Ribbon's
// defaults: load 0.2, blackout 0.99999; negative ones mean 0, which everything reaches.
type ZonePolicy struct {
	// Off makes all zones the same.
	Off bool
	// Load is the number of active requests per server from which on the zone with the
	// highest one is left (triggeringLoadPerServerThreshold).
	Load float64
	// Blackout is the share of tripped servers from which on a zone is left, 0 to 1
	// (avoidZoneWithBlackoutPercetage).
	Blackout float64
	// Original brings back Ribbon's own way, in which one zone more is left whenever one
	// is empty or in blackout, even if that leaves none.
	Original bool
}

func (p ZonePolicy) withDefaults() ZonePolicy {
	if p.Load == 0 {
		p.Load = 0.2
	}
	if p.Blackout == 0 {
		p.Blackout = 0.99999
	}
	return p
}

// ZoneSnapshot is how a zone was at one moment.
type ZoneSnapshot struct {
	Zone      string // in lower case
	Instances int    // servers alive
	Tripped   int    // of them in blackout or ejected
	Active    int64  // active requests of all
	// Load is the number of active requests per server that is not tripped, -1 if all are.
	Load float64
}

// zoneAge is how long a judgement about zones holds.
const zoneAge = 10 * time.Millisecond

// maxZones is how many zones are told apart; with more, none is avoided.
const maxZones = 64

// Zones groups the candidates by zone and judges which zones take requests.
type Zones struct {
	policy ZonePolicy
	zones  []zone // by name
	all    uint64 // a bit for each

	judged atomic.Int64  // unix nanoseconds of the last judgement
	open   atomic.Uint64 // the zones that it left
}

type zone struct {
	name    string
	alive   []*Server
	servers []*Server // that may be chosen
	tripped int
}

// newZones groups the servers alive by zone. eligible are those that may be chosen.
func newZones(alive, eligible []*Server, p ZonePolicy) *Zones {
	z := &Zones{policy: p.withDefaults()}
	switch one, same := commonZone(alive); {
	case len(alive) == 0:
	case same:
		z.zones = []zone{{name: one, alive: alive, servers: eligible, tripped: len(alive) - len(eligible)}}
	default:
		z.group(alive, eligible)
	}
	z.all = ^uint64(0) >> (maxZones - min(max(len(z.zones), 1), maxZones))
	z.open.Store(z.all)
	return z
}

// commonZone avoids the grouping in the common case.
func commonZone(servers []*Server) (string, bool) {
	if len(servers) == 0 {
		return "", true
	}
	one := servers[0].zone
	return one, !slices.ContainsFunc(servers, func(s *Server) bool { return s.zone != one })
}

func (z *Zones) group(alive, eligible []*Server) {
	index := map[string]int{}
	for _, s := range alive {
		index[s.zone] = 0
	}
	names := make([]string, 0, len(index))
	for name := range index {
		names = append(names, name)
	}
	slices.Sort(names)
	z.zones = make([]zone, len(names))
	for i, name := range names {
		index[name], z.zones[i].name = i, name
	}
	for _, s := range alive {
		of := &z.zones[index[s.zone]]
		of.alive = append(of.alive, s)
	}
	for _, s := range eligible {
		of := &z.zones[index[s.zone]]
		of.servers = append(of.servers, s)
	}
	for i := range z.zones {
		of := &z.zones[i]
		of.tripped = len(of.alive) - len(of.servers)
	}
}

func (z *Zones) single() bool {
	return len(z.zones) <= 1 || len(z.zones) > maxZones || z.policy.Off
}

// available is the set of zones that take requests, never none.
func (z *Zones) available() uint64 {
	if z.single() {
		return z.all
	}
	now := time.Now()
	then := z.judged.Load()
	if now.UnixNano()-then >= int64(zoneAge) && z.judged.CompareAndSwap(then, now.UnixNano()) {
		z.open.Store(z.judge(now))
	}
	return z.open.Load()
}

// accepts reports that a zone takes requests, by its name in lower case.
func (z *Zones) accepts(name string) bool {
	i, found := z.find(name)
	return !found || z.available()&(1<<i) != 0
}

func (z *Zones) find(name string) (int, bool) {
	return slices.BinarySearchFunc(z.zones, name, func(of zone, name string) int { return strings.Compare(of.name, name) })
}

// snapshot is a zone as it is now.
func (of *zone) snapshot(now time.Time) ZoneSnapshot {
	s := ZoneSnapshot{Zone: of.name, Instances: len(of.alive), Tripped: of.tripped}
	for _, server := range of.servers {
		s.Active += server.Stats().Active(now)
	}
	switch {
	case len(of.servers) > 0:
		s.Load = float64(s.Active) / float64(len(of.servers))
	case len(of.alive) > 0:
		s.Load = -1
	}
	return s
}

func (z *Zones) judge(now time.Time) uint64 {
	var room [maxZones]ZoneSnapshot
	snapshots := room[:len(z.zones)]
	for i := range z.zones {
		snapshots[i] = z.zones[i].snapshot(now)
	}
	if z.policy.Original {
		return originalZones(snapshots, z.policy)
	}
	return availableZones(snapshots, z.policy)
}

// availableZones drops the zones that are empty or in blackout, then the one with the
// highest load if that reaches the threshold, but never the last one. Of several with
// the same load one is drawn, the larger ones more often. If no zone is healthy, all stay.
func availableZones(snapshots []ZoneSnapshot, p ZonePolicy) uint64 {
	open := healthyZones(snapshots, p)
	worst, load := worstZones(snapshots, open)
	if bits.OnesCount64(open) > 1 && load >= p.Load {
		open &^= 1 << drawZone(snapshots, worst, rand.IntN)
	}
	if open == 0 {
		return 1<<len(snapshots) - 1
	}
	return open
}

func healthyZones(snapshots []ZoneSnapshot, p ZonePolicy) (open uint64) {
	for i, s := range snapshots {
		if s.Instances > 0 && s.Load >= 0 && float64(s.Tripped)/float64(s.Instances) < p.Blackout {
			open |= 1 << i
		}
	}
	return open
}

// worstZones are those of the set with the highest load.
func worstZones(snapshots []ZoneSnapshot, of uint64) (worst uint64, load float64) {
	for i, s := range snapshots {
		switch {
		case of&(1<<i) == 0:
		case s.Load > load+sameLoad:
			worst, load = 1<<i, s.Load
		case s.Load >= load-sameLoad:
			worst |= 1 << i
		}
	}
	return worst, load
}

// sameLoad is a difference that does not count.
const sameLoad = 0.000001

// originalZones is Ribbon's ZoneAvoidanceRule.getAvailableZones, which may leave none;
// then all stay, as its callers fall back to all servers.
func originalZones(snapshots []ZoneSnapshot, p ZonePolicy) uint64 {
	open := healthyZones(snapshots, p)
	limited := open != 1<<len(snapshots)-1
	worst, load := worstZones(snapshots, open)
	if worst != 0 && (limited || load >= p.Load) {
		open &^= 1 << drawZone(snapshots, worst, rand.IntN)
	}
	if open == 0 {
		return 1<<len(snapshots) - 1
	}
	return open
}

// drawZone draws one of a set of zones, in proportion to their servers. draw gives a
// number below its argument.
func drawZone(snapshots []ZoneSnapshot, of uint64, draw func(int) int) int {
	total := 0
	for set := of; set != 0; set &= set - 1 {
		total += snapshots[bits.TrailingZeros64(set)].Instances
	}
	if total == 0 {
		return bits.TrailingZeros64(of)
	}
	k, last := draw(total)+1, 0
	for set := of; set != 0; set &= set - 1 {
		last = bits.TrailingZeros64(set)
		if k -= snapshots[last].Instances; k <= 0 {
			break
		}
	}
	return last
}
