package lb

import (
	"math/bits"
	"math/rand/v2"
)

// ZoneAvoidance takes the servers of all zones that are neither overloaded nor in
// blackout in turn, without those that are full (ActiveConnectionsLimit). If none is
// left it takes those of the other zones, then full ones. Each Balancer needs its own.
type ZoneAvoidance struct{ turn rotation }

var _ Rule = (*ZoneAvoidance)(nil)

// Picker implements Rule.
func (r *ZoneAvoidance) Picker(c *Candidates) Picker {
	if c.Zones.single() {
		return availabilityPicker(&r.turn, c)
	}
	return &zonePicker{turn: &r.turn, c: c, rest: availabilityPicker(&r.turn, c)}
}

type zonePicker struct {
	turn *rotation
	c    *Candidates
	rest Picker // when no zone will do, or every one
}

func (p *zonePicker) Pick(any) *Server {
	if open := p.c.Zones.available(); open != p.c.Zones.all {
		if s := p.in(open); s != nil {
			return s
		}
	}
	return p.rest.Pick(nil)
}

// in takes the next server of a set of zones that is not full, if it finds one soon.
func (p *zonePicker) in(open uint64) *Server {
	total := 0
	for set := open; set != 0; set &= set - 1 {
		total += len(p.c.Zones.zones[bits.TrailingZeros64(set)].servers)
	}
	if total == 0 {
		return nil
	}
	for range min(total, 10*tries) {
		if s := p.place(open, p.turn.step(total)); !p.c.full(s) {
			return s
		}
	}
	return nil
}

// place is the i-th server of a set of zones.
func (p *zonePicker) place(open uint64, i int) *Server {
	for set := open; ; set &= set - 1 {
		servers := p.c.Zones.zones[bits.TrailingZeros64(set)].servers
		if i < len(servers) {
			return servers[i]
		}
		i -= len(servers)
	}
}

// zoneAware is ZoneAwareLoadBalancer around any rule: when a zone is to be avoided it
// draws one of the others, in proportion to its servers, and asks the rule for that zone.
type zoneAware struct {
	whole Picker
	zones *Zones
	each  []Picker // by zone; nil for one without servers
}

func (p *zoneAware) Pick(key any) *Server {
	open := p.zones.available()
	if open == p.zones.all {
		return p.whole.Pick(key)
	}
	if i, ok := p.draw(open); ok {
		if s := p.each[i].Pick(key); s != nil {
			return s
		}
	}
	return p.whole.Pick(key)
}

// draw draws a zone with servers out of a set.
func (p *zoneAware) draw(open uint64) (int, bool) {
	total := 0
	for set := open; set != 0; set &= set - 1 {
		total += len(p.zones.zones[bits.TrailingZeros64(set)].servers)
	}
	if total == 0 {
		return 0, false
	}
	k := rand.IntN(total)
	for set := open; ; set &= set - 1 {
		i := bits.TrailingZeros64(set)
		if k -= len(p.zones.zones[i].servers); k < 0 {
			return i, true
		}
	}
}
