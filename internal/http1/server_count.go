package http1

import (
	"maps"
	"sync"
	"sync/atomic"
)

// ServerCount counts what servers do besides calling their handlers. The zero value
// is ready; several servers may share it, one after the other or at once.
type ServerCount struct {
	// Accepted are all connections, Open those that are served now, hijacked ones
	// included until their handlers return.
	Accepted, Open atomic.Int64

	// TurnedAway are connections that MaxConnections stood against, TurnedAwayOfClient those
	// that MaxConnectionsPerClient did.
	TurnedAway, TurnedAwayOfClient atomic.Int64

	// HandshakesFailed are TLS connections that never came about.
	HandshakesFailed atomic.Int64

	answered Refusals
}

// Answered tells how many requests the server has answered by itself, mostly refused, by
// status and reason. The reasons are out of a fixed list.
func (c *ServerCount) Answered() map[Error]int64 { return c.answered.All() }

func (c *ServerCount) answer(e Error) {
	if c != nil {
		c.answered.Add(e)
	}
}

func (c *ServerCount) accept() {
	if c != nil {
		c.Accepted.Add(1)
	}
}

func (c *ServerCount) open(n int64) {
	if c != nil {
		c.Open.Add(n)
	}
}

func (c *ServerCount) turnAway() {
	if c != nil {
		c.TurnedAway.Add(1)
	}
}

func (c *ServerCount) turnAwayOfClient() {
	if c != nil {
		c.TurnedAwayOfClient.Add(1)
	}
}

func (c *ServerCount) failHandshake() {
	if c != nil {
		c.HandshakesFailed.Add(1)
	}
}

// Refusals counts answers by status and reason. The zero value is ready, and any number of
// goroutines may use it.
type Refusals struct {
	mu  sync.Mutex
	all map[Error]int64 // guarded by mu
}

// maxAnswered is more than there are reasons.
const maxAnswered = 128

// Add counts one. Its reason is to be out of a fixed list; what is too much for any counts
// as "other".
func (r *Refusals) Add(e Error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[Error]int64{}
	}
	if _, known := r.all[e]; !known && len(r.all) >= maxAnswered {
		e.Reason = "other"
	}
	r.all[e]++
}

// All is a copy.
func (r *Refusals) All() map[Error]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.all)
}
