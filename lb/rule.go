package lb

import "math/rand/v2"

// Rule is a way to choose among the servers of one balancer. It holds what must outlive
// a change of the list, such as the position of a rotation; what it needs per list it
// prepares in a Picker. An algorithm that needs no preparation can be a RuleFunc.
type Rule interface {
	// Picker prepares the choice among the candidates. The balancer calls it, one call at a
	// time, whenever the list, the health of a server or the policy has changed. It must not
	// block, call the balancer or change what it is given.
	Picker(c *Candidates) Picker
}

// Picker is the fast side of a Rule.
type Picker interface {
	// Pick chooses one of the candidates, nil if none suits the request. key is what the
	// caller of Balancer.Choose passed, usually nil. It is called from any number of goroutines,
	// for every attempt; it must not block and should not allocate.
	Pick(key any) *Server
}

// PickerPast is a Picker with an order of its own in which the servers follow each other
// for one key. Without it, a request that has failed is sent to a server picked anew. A
// ZoneAware balancer lets such a rule choose among all zones.
type PickerPast interface {
	Picker
	// PickPast is Pick for a request that has met tried before; nil leaves it to the balancer.
	PickPast(key any, tried []*Server) *Server
}

// Observer is a Picker that learns from every attempt, such as PeakEwma's.
type Observer interface {
	// Observe is called at the end of an attempt with the values of Balancer.End.
	Observe(s *Server, e End)
}

// Candidates are what a Picker chooses among.
type Candidates struct {
	// Servers are in list order, alive and in good standing, and never none. One that is
	// listed twice stands there twice, for a larger share. The slice is shared.
	Servers []*Server
	// Zones groups the servers by zone.
	Zones *Zones
	// Limit is the number of active requests at which a server is full
	// (ActiveConnectionsLimit); 0 means none.
	Limit int
	// Health judges servers as of the moment of the preparation.
	Health Health
}

// full reports that a server has as many active requests as it may have.
func (c *Candidates) full(s *Server) bool {
	return c.Limit > 0 && s.active() >= int64(c.Limit)
}

// RuleFunc makes a Rule of a function that is given the servers at every pick.
type RuleFunc func(key any, servers []*Server) *Server

var _ Rule = RuleFunc(nil)

// Picker binds f to the servers.
func (f RuleFunc) Picker(c *Candidates) Picker { return funcPicker{f, c.Servers} }

type funcPicker struct {
	choose  RuleFunc
	servers []*Server
}

func (p funcPicker) Pick(key any) *Server { return p.choose(key, p.servers) }

// Random takes any of the servers, each with the same probability.
type Random struct{}

var _ Rule = Random{}

// Picker implements Rule.
func (Random) Picker(c *Candidates) Picker { return randomPicker{c.Servers} }

type randomPicker struct{ servers []*Server }

func (p randomPicker) Pick(any) *Server { return anyOf(p.servers) }

func anyOf(servers []*Server) *Server { return servers[rand.IntN(len(servers))] }
