package lb

import (
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// PowerOfTwoChoices draws two servers and takes the one with fewer active requests
// (Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing", 2001).
type PowerOfTwoChoices struct{}

var _ Rule = PowerOfTwoChoices{}

// Picker implements Rule.
func (PowerOfTwoChoices) Picker(c *Candidates) Picker {
	p := &twoPicker{servers: c.Servers, active: make([]*atomic.Int64, len(c.Servers))}
	for i, s := range c.Servers {
		p.active[i] = &s.state.stats.active
	}
	return p
}

// twoPicker has the counters at hand: on a long list each step to them is a cache miss.
type twoPicker struct {
	servers []*Server
	active  []*atomic.Int64
}

func (p *twoPicker) Pick(any) *Server {
	i, j := drawTwo(len(p.servers))
	if p.active[j].Load() < p.active[i].Load() {
		return p.servers[j]
	}
	return p.servers[i]
}

// drawTwo draws two places of a list, different ones if there are two.
func drawTwo(n int) (first, second uint32) {
	if n == 1 {
		return 0, 0
	}
	r := rand.Uint64()
	i := uint32(uint64(uint32(r)) * uint64(n) >> 32) // scaled to n
	j := uint32((r >> 32) * (uint64(n) - 1) >> 32)   // scaled to n-1
	if j >= i {
		j++
	}
	return i, j
}

// DefaultDecay is the time after which PeakEwma has forgotten 63 % of what it knew.
const DefaultDecay = 10 * time.Second

// PeakEwma draws two servers and takes the one with the lower expected delay: its moving
// average of response times, which jumps to every peak at once and decays with time,
// multiplied by its active requests plus one (Finagle's Peak EWMA). Each Balancer needs its own.
type PeakEwma struct {
	// Decay is the time constant of the average; 0 means DefaultDecay.
	Decay time.Duration
}

var _ Rule = (*PeakEwma)(nil)

// Picker implements Rule.
func (r *PeakEwma) Picker(c *Candidates) Picker {
	decay := r.Decay
	if decay <= 0 {
		decay = DefaultDecay
	}
	return &ewmaPicker{servers: c.Servers, decay: float64(decay)}
}

type ewmaPicker struct {
	servers []*Server
	decay   float64 // nanoseconds
}

var _ Observer = (*ewmaPicker)(nil)

func (p *ewmaPicker) Pick(any) *Server {
	i, j := drawTwo(len(p.servers))
	a, b := p.servers[i], p.servers[j]
	if a == b {
		return a
	}
	now := time.Now().UnixNano()
	if p.cost(b, now) < p.cost(a, now) {
		return b
	}
	return a
}

// unknownDelay is the cost of a server about which nothing is known but that it has
// requests which it has not answered yet: worse than any that is known.
const unknownDelay = 1e15

func (p *ewmaPicker) cost(s *Server, now int64) float64 {
	active := float64(s.active())
	delay := s.state.delay.faded(now, p.decay)
	if delay == 0 && active > 0 {
		return unknownDelay + active
	}
	return delay * (active + 1)
}

// Observe notes how long an attempt took. One that failed within no time counts as
// slow as the slowest answer, so that failing is no way to look fast.
func (p *ewmaPicker) Observe(s *Server, e End) {
	took := float64(e.Took)
	if e.Outcome == Unhealthy || e.Outcome == Failing {
		took = max(took, float64(s.Stats().longest.Load()), float64(time.Millisecond))
	}
	if e.Outcome != Neutral {
		s.state.delay.observe(e.At.UnixNano(), took, p.decay)
	}
}

// ewma is a moving average in which old values fade with time.
type ewma struct {
	value atomic.Uint64 // bits of a float64
	at    atomic.Int64  // unix nanoseconds of the last value
}

// faded is the average as it has faded until now: without requests a server that was
// slow gets another chance.
func (e *ewma) faded(now int64, decay float64) float64 {
	value := math.Float64frombits(e.value.Load())
	if value == 0 {
		return 0
	}
	if idle := now - e.at.Load(); idle > 0 {
		value *= math.Exp(-float64(idle) / decay)
	}
	return value
}

func (e *ewma) observe(now int64, took, decay float64) {
	for {
		bits := e.value.Load()
		old := math.Float64frombits(bits)
		next := took
		if took < old {
			w := math.Exp(-float64(max(now-e.at.Load(), 0)) / decay)
			next = old*w + took*(1-w)
		}
		if e.value.CompareAndSwap(bits, math.Float64bits(next)) {
			e.at.Store(now)
			return
		}
	}
}
