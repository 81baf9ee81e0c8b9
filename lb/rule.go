package lb

import "sync/atomic"

// Rule is a way to choose among servers.
type Rule interface {
	// Choose picks one of servers, which are in list order, alive, out of blackout unless
	// all are in it, and never none. A server may stand there more than once to get a larger
	// share. The slice is shared: a rule must neither change nor keep it. key is what the
	// caller of Balancer.Choose passed, usually nil. Called from any number of goroutines,
	// for every attempt; it must not block.
	Choose(key any, servers []*Server) *Server
}

// RoundRobin takes the servers in turn, beginning with the first. The zero value is
// ready; each Balancer needs its own.
type RoundRobin struct {
	next atomic.Uint64
}

var _ Rule = (*RoundRobin)(nil)

// Choose takes the next server.
func (r *RoundRobin) Choose(_ any, servers []*Server) *Server {
	return servers[(r.next.Add(1)-1)%uint64(len(servers))]
}
