package lb

// PredicateBased takes the servers that a predicate accepts in turn. If it is a
// Composite, its fallbacks count. Each Balancer needs its own.
type PredicateBased struct {
	Predicate Predicate

	turn rotation
}

var _ Rule = (*PredicateBased)(nil)

// Picker implements Rule.
func (r *PredicateBased) Picker(c *Candidates) Picker {
	p := &predicatePicker{turn: &r.turn, servers: c.Servers}
	if composite, ok := r.Predicate.(*Composite); ok {
		p.stages = composite.stages(c)
		if !composite.anyIsEnough(len(c.Servers)) {
			p.enough = composite.enough
		}
		return p
	}
	p.stages = []Test{r.Predicate.Test(c)}
	return p
}

type predicatePicker struct {
	turn    *rotation
	servers []*Server
	stages  []Test
	enough  func(left, all int) bool // nil: one server is
}

func (p *predicatePicker) Pick(key any) *Server {
	last := len(p.stages) - 1
	for i, pass := range p.stages {
		if i < last && p.enough != nil && !p.enough(p.count(key, pass), len(p.servers)) {
			continue
		}
		if s := p.turn.takeIf(p.servers, key, pass); s != nil {
			return s
		}
	}
	return nil
}

func (p *predicatePicker) count(key any, pass Test) int {
	n := 0
	for _, s := range p.servers {
		if pass(key, s) {
			n++
		}
	}
	return n
}

// always accepts every server.
func always() Predicate { return PredicateFunc(func(any, *Server) bool { return true }) }

// AvailabilityFiltering takes the servers in turn, without those that are full
// (ActiveConnectionsLimit) or in blackout, and with them if no other is left.
type AvailabilityFiltering struct{ turn rotation }

var _ Rule = (*AvailabilityFiltering)(nil)

// Picker implements Rule. Servers in blackout are no candidates unless all are.
func (r *AvailabilityFiltering) Picker(c *Candidates) Picker { return availabilityPicker(&r.turn, c) }

func availabilityPicker(turn *rotation, c *Candidates) Picker {
	if c.Limit <= 0 {
		return &turnPicker{turn: turn, servers: c.Servers}
	}
	roomy := func(_ any, s *Server) bool { return !c.full(s) }
	return &predicatePicker{turn: turn, servers: c.Servers, stages: []Test{roomy, always().Test(c)}}
}
