package lb

import "sync/atomic"

// RoundRobin takes the servers in turn, beginning with the first. The zero value is
// ready; each Balancer needs its own.
type RoundRobin struct {
	turn rotation
}

var _ Rule = (*RoundRobin)(nil)

// Picker implements Rule. The rotation goes on where it was.
func (r *RoundRobin) Picker(c *Candidates) Picker {
	return &turnPicker{turn: &r.turn, servers: c.Servers}
}

type turnPicker struct {
	turn    *rotation
	servers []*Server
}

func (p *turnPicker) Pick(any) *Server { return p.turn.take(p.servers) }

// rotation is a position that only moves forward, so that it fits lists of any length.
type rotation struct {
	_    [cacheLine]byte // the position is written by every pick, what lies around it is read
	next atomic.Uint64
	_    [cacheLine - 8]byte
}

const cacheLine = 64

// step moves on and returns the old position modulo n.
func (r *rotation) step(n int) int {
	return int((r.next.Add(1) - 1) % uint64(n)) //nolint:gosec // below n
}

func (r *rotation) take(servers []*Server) *Server { return servers[r.step(len(servers))] }

// tries is how many servers a rotation looks at with a step for each, which keeps the shares
// of the others even, before it looks for any that passes.
const tries = 10

// takeIf takes the next server that pass accepts, nil if there is none.
func (r *rotation) takeIf(servers []*Server, key any, pass Test) *Server {
	n := len(servers)
	if n == 0 {
		return nil
	}
	at := 0
	for range min(tries, n) {
		at = r.step(n)
		if s := servers[at]; pass(key, s) {
			return s
		}
	}
	for i := 1; i <= n-tries; i++ {
		if s := servers[(at+i)%n]; pass(key, s) {
			return s
		}
	}
	return nil
}
