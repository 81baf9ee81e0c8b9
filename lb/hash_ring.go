package lb

import "math/bits"

// point is a place of a server on the ring of all hash values.
type point struct {
	hash   uint64
	server *Server
}

// ring is the points in order, with an index. Hashes are spread evenly, so the index
// divides the ring into as many equal arcs as there are points: a look-up begins at the
// first point of its arc and is there after a step or two, and building takes no sorting
// of far-away points.
type ring struct {
	points []point
	arcs   []int32 // the first point of each arc
}

func newRing(servers []*Server) *ring {
	n := len(servers) * points
	r := &ring{points: make([]point, n), arcs: make([]int32, n+1)}
	for _, s := range servers {
		eachPoint(s, func(hash uint64) { r.arcs[r.arc(hash)+1]++ })
	}
	for i := range n {
		r.arcs[i+1] += r.arcs[i]
	}
	next := make([]int32, n)
	copy(next, r.arcs)
	for _, s := range servers {
		eachPoint(s, func(hash uint64) {
			arc := r.arc(hash)
			r.points[next[arc]] = point{hash, s}
			next[arc]++
		})
	}
	r.sort()
	return r
}

func eachPoint(s *Server, do func(hash uint64)) {
	hash := hashText(s.id())
	for range points {
		do(hash)
		hash = mix(hash)
	}
}

// arc is the number of a hash's arc.
func (r *ring) arc(hash uint64) uint64 {
	arc, _ := bits.Mul64(hash, uint64(len(r.points)))
	return arc
}

// sort puts the points of each arc in order; those of different arcs are.
func (r *ring) sort() {
	for i := range r.points {
		for j := i; j > 0 && r.points[j].hash < r.points[j-1].hash; j-- {
			r.points[j], r.points[j-1] = r.points[j-1], r.points[j]
		}
	}
}

// find is the place on the ring that one of a key's points is closest to.
func (r *ring) find(hash uint64) int {
	best, nearest := 0, ^uint64(0)
	for range probes {
		hash = mix(hash)
		i := r.after(hash)
		if d := r.points[i].hash - hash; d <= nearest {
			best, nearest = i, d
		}
	}
	return best
}

// after is the first place at or behind hash, around the ring.
func (r *ring) after(hash uint64) int {
	i := int(r.arcs[r.arc(hash)])
	for i < len(r.points) && r.points[i].hash < hash {
		i++
	}
	if i == len(r.points) {
		return 0
	}
	return i
}
