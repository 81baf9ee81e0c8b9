package lb

import (
	"fmt"
	"sync/atomic"
	"time"
)

// everyday is the number of active requests up to which a server is never passed over:
// below it, requests that overlap say nothing about its load.
const everyday = 8

// DefaultBoundFactor is how far above the average a server's active requests may be
// before ConsistentHash passes it over.
const DefaultBoundFactor = 1.25

// probes is how many points a key has on the ring: with 21 the busiest server gets 5 %
// above the average (Appleton and O'Reilly, "Multi-Probe Consistent Hashing", 2015).
// points is how many a server has; a few keep the least busy one from having too little.
const (
	probes = 21
	points = 4
)

// ConsistentHash sends requests with the same key to the same server as long as that is
// there: a server that comes or goes moves only its own share of the keys. A server that
// has more than BoundFactor times the average of active requests, and 8 at least, is
// passed over for the next on the ring (Mirrokni, Thorup and Zadimoghaddam, "Consistent Hashing with Bounded
// Loads", 2017). Requests without a key, nil or empty, go to the servers in turn.
type ConsistentHash struct {
	// BoundFactor is at least 1; 0 means DefaultBoundFactor, a negative number no bound.
	BoundFactor float64

	turn rotation
}

var _ Rule = (*ConsistentHash)(nil)

// Picker implements Rule.
func (r *ConsistentHash) Picker(c *Candidates) Picker {
	p := &hashPicker{turn: &r.turn, servers: c.Servers, factor: r.BoundFactor, load: newLoad(c.Servers)}
	if p.factor == 0 {
		p.factor = DefaultBoundFactor
	}
	p.ring = newRing(c.Servers)
	return p
}

type hashPicker struct {
	turn    *rotation
	servers []*Server
	ring    *ring
	factor  float64
	load    *load
}

var _ PickerPast = (*hashPicker)(nil)

func (p *hashPicker) Pick(key any) *Server { return p.PickPast(key, nil) }

// PickPast follows the ring from the key's server.
func (p *hashPicker) PickPast(key any, tried []*Server) *Server {
	hash, ok := hashKey(key)
	if !ok {
		if len(tried) > 0 {
			return nil
		}
		return p.turn.take(p.servers)
	}
	start, most := p.ring.find(hash), p.most()
	var full *Server // the first that is passed over for its load
	for i := range p.ring.points {
		s := p.ring.points[(start+i)%len(p.ring.points)].server
		switch {
		case met(tried, s):
		case most > 0 && s.active() >= most:
			if full == nil {
				full = s
			}
		default:
			return s
		}
	}
	return full
}

// most is the number of active requests at which a server is passed over, 0 for none.
func (p *hashPicker) most() int64 {
	if p.factor < 0 {
		return 0
	}
	average := float64(p.load.total()+1) / float64(len(p.servers))
	return max(int64(average*max(p.factor, 1))+1, everyday)
}

// Hasher is a key that knows its hash.
type Hasher interface{ Hash() uint64 }

// hashKey hashes what a caller passes as a key.
func hashKey(key any) (uint64, bool) {
	switch k := key.(type) {
	case string:
		return hashText(k), k != ""
	case Hasher:
		return k.Hash(), true
	case nil:
		return 0, false
	}
	return hashText(fmt.Sprint(key)), true
}

// hashText is FNV-1a, mixed. It must be the same in every gateway, so that they agree.
func hashText(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h ^= uint64(text[i])
		h *= 1099511628211
	}
	return mix(h)
}

// mix spreads the bits of a number (Stafford's variant 13, as in SplitMix64).
func mix(h uint64) uint64 {
	h += 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// load is the sum of the active requests of servers. For a long list it is counted anew
// only when it is older than loadAge.
type load struct {
	servers []*Server
	counted atomic.Int64 // unix nanoseconds
	sum     atomic.Int64
}

const (
	shortList = 64
	loadAge   = 10 * time.Millisecond
)

func newLoad(servers []*Server) *load { return &load{servers: servers} }

func (l *load) total() int64 {
	if len(l.servers) <= shortList {
		return l.count()
	}
	now, then := time.Now().UnixNano(), l.counted.Load()
	if now-then >= int64(loadAge) && l.counted.CompareAndSwap(then, now) {
		l.sum.Store(l.count())
	}
	return l.sum.Load()
}

func (l *load) count() (n int64) {
	for _, s := range l.servers {
		n += s.active()
	}
	return n
}
