package lb

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// WeightedResponseTime gives a server a share that shrinks with its mean response time:
// its weight is the sum of all servers' means less its own (ribbon.md 3.4). The weights
// are those of the last preparation; Balancer.Run renews them every WeightInterval. As
// long as nothing is known they are all the same. Each Balancer needs its own.
type WeightedResponseTime struct{ turn rotation }

var _ Rule = (*WeightedResponseTime)(nil)

// Picker implements Rule.
func (r *WeightedResponseTime) Picker(c *Candidates) Picker {
	means := make([]float64, len(c.Servers))
	total := 0.0
	for i, s := range c.Servers {
		means[i] = float64(s.Stats().ResponseTimes().Mean()) / float64(time.Millisecond)
		total += means[i]
	}
	sums := make([]float64, len(means))
	sum := 0.0
	for i, mean := range means {
		sum += total - mean
		sums[i] = sum
	}
	if sum < 0.001 {
		return &turnPicker{turn: &r.turn, servers: c.Servers}
	}
	return &sumsPicker{servers: c.Servers, sums: sums}
}

// renews tells the balancer that the weights become old.
func (r *WeightedResponseTime) renews() bool { return true }

// sumsPicker draws a server by cumulative weights.
type sumsPicker struct {
	servers []*Server
	sums    []float64
}

func (p *sumsPicker) Pick(any) *Server {
	return p.at(rand.Float64() * p.sums[len(p.sums)-1])
}

// at is the first server whose sum reaches r.
func (p *sumsPicker) at(r float64) *Server {
	i, _ := slices.BinarySearch(p.sums, r)
	return p.servers[min(i, len(p.servers)-1)]
}

// DefaultWeight is the weight of a server whose metadata names none.
const DefaultWeight = 1

// Weighted gives a server a share by the number that its metadata has under Key. Servers
// without a readable one have the weight DefaultWeight; 0 means no requests, unless
// every server has 0. Each Balancer needs its own.
type Weighted struct {
	// Key is the name of the metadata entry; empty means "weight".
	Key string

	turn rotation
}

var _ Rule = (*Weighted)(nil)

// Picker implements Rule.
func (r *Weighted) Picker(c *Candidates) Picker {
	key := r.Key
	if key == "" {
		key = "weight"
	}
	weights := make([]float64, len(c.Servers))
	equal, total := true, 0.0
	for i, s := range c.Servers {
		weights[i] = weightOf(s.Metadata[key])
		equal = equal && weights[i] == weights[0]
		total += weights[i]
	}
	if equal || math.IsInf(total, 1) {
		return &turnPicker{turn: &r.turn, servers: c.Servers}
	}
	return newAliasPicker(c.Servers, weights, total)
}

func weightOf(text string) float64 {
	w, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || w < 0 || math.IsNaN(w) || math.IsInf(w, 0) {
		return DefaultWeight
	}
	return w
}

// aliasPicker draws by weight in constant time (Vose's alias method): each server has a
// column that it shares with at most one other.
type aliasPicker struct {
	servers []*Server
	columns []aliasColumn
}

type aliasColumn struct {
	own   uint32 // share of the column's own server, of 2^32
	other uint32 // who has the rest
}

func newAliasPicker(servers []*Server, weights []float64, total float64) *aliasPicker {
	n := len(servers)
	columns := make([]aliasColumn, n)
	scaled := make([]float64, n)
	var small, large []int
	for i, w := range weights {
		scaled[i] = w / total * float64(n)
		columns[i] = aliasColumn{own: math.MaxUint32, other: uint32(i)} //nolint:gosec // a list is shorter
		if scaled[i] < 1 {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		columns[s] = aliasColumn{own: uint32(scaled[s] * math.MaxUint32), other: uint32(l)} //nolint:gosec // a list is shorter
		if scaled[l] -= 1 - scaled[s]; scaled[l] < 1 {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	return &aliasPicker{servers, columns}
}

func (p *aliasPicker) Pick(any) *Server {
	r := rand.Uint64()
	i := uint32(uint64(uint32(r)) * uint64(len(p.columns)) >> 32) //nolint:gosec // scaled to the length
	if c := p.columns[i]; uint32(r>>32) >= c.own {                //nolint:gosec // the other half
		i = c.other
	}
	return p.servers[i]
}
