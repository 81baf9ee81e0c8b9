package lb

import "strings"

// Predicate says which servers a rule may take.
type Predicate interface {
	// Test prepares the predicate for the candidates, as Rule.Picker does.
	Test(c *Candidates) Test
}

// Test is the fast side of a Predicate, with the same duties as Picker.Pick.
type Test func(key any, s *Server) bool

// PredicateFunc makes a Predicate of a test that needs no preparation.
type PredicateFunc func(key any, s *Server) bool

// Test implements Predicate.
func (f PredicateFunc) Test(*Candidates) Test { return Test(f) }

// AvailabilityPredicate accepts servers that are neither in blackout nor full
// (ActiveConnectionsLimit).
type AvailabilityPredicate struct{}

// Test implements Predicate. Who is in blackout is known from the preparation: the
// balancer prepares anew when a blackout begins or ends.
func (AvailabilityPredicate) Test(c *Candidates) Test {
	tripped := map[*Server]bool{}
	for _, s := range c.Servers {
		if c.Health.Tripped(s) {
			tripped[s] = true
		}
	}
	if len(tripped) == 0 {
		return func(_ any, s *Server) bool { return !c.full(s) }
	}
	return func(_ any, s *Server) bool { return !c.full(s) && !tripped[s] }
}

// ZoneAffinityPredicate accepts the servers of one zone; letter case does not count.
type ZoneAffinityPredicate struct{ Zone string }

// Test implements Predicate.
func (p ZoneAffinityPredicate) Test(*Candidates) Test {
	zone := strings.ToLower(p.Zone)
	return func(_ any, s *Server) bool { return zone != "" && s.zone == zone }
}

// ZoneAvoidancePredicate accepts the servers of zones that are neither overloaded nor in
// blackout (see ZonePolicy).
type ZoneAvoidancePredicate struct{}

// Test implements Predicate.
func (ZoneAvoidancePredicate) Test(c *Candidates) Test {
	if c.Zones.single() {
		return func(any, *Server) bool { return true }
	}
	return func(_ any, s *Server) bool { return c.Zones.accepts(s.zone) }
}

// All accepts what every one of the predicates accepts.
type All []Predicate

// Test implements Predicate.
func (a All) Test(c *Candidates) Test {
	if len(a) == 1 {
		return a[0].Test(c)
	}
	tests := make([]Test, len(a))
	for i, p := range a {
		tests[i] = p.Test(c)
	}
	return func(key any, s *Server) bool {
		for _, pass := range tests {
			if !pass(key, s) {
				return false
			}
		}
		return true
	}
}

// Composite is a predicate with others to fall back on when it accepts too few servers.
// Each fallback starts from the whole list again; the last one counts whatever it leaves.
type Composite struct {
	Primary   Predicate
	Fallbacks []Predicate
	// MinServers is how many servers are enough; 0 means 1.
	MinServers int
	// MinShare is the share of the servers that must be exceeded too, 0 to 1.
	MinShare float64
}

var _ Predicate = (*Composite)(nil)

// Test implements Predicate: it is that of Primary.
func (p *Composite) Test(c *Candidates) Test { return p.Primary.Test(c) }

// Eligible lists the servers that are left, in order.
func (p *Composite) Eligible(c *Candidates, key any) []*Server {
	var left []*Server
	for _, pass := range p.stages(c) {
		left = only(c.Servers, func(s *Server) bool { return pass(key, s) })
		if p.enough(len(left), len(c.Servers)) {
			return left
		}
	}
	return left
}

func (p *Composite) stages(c *Candidates) []Test {
	stages := []Test{p.Primary.Test(c)}
	for _, f := range p.Fallbacks {
		stages = append(stages, f.Test(c))
	}
	return stages
}

func (p *Composite) enough(left, all int) bool {
	return left >= max(p.MinServers, 1) && left > int(float64(all)*p.MinShare)
}

// anyIsEnough reports that a single server is enough, so that nobody needs to count.
func (p *Composite) anyIsEnough(all int) bool { return p.enough(1, all) }
