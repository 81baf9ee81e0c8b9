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

	// TurnedAway are connections that there was no room for.
	TurnedAway atomic.Int64

	// HandshakesFailed are TLS connections that never came about.
	HandshakesFailed atomic.Int64

	mu       sync.Mutex
	answered map[Error]int64 // guarded by mu
}

// maxAnswered is more than there are reasons.
const maxAnswered = 128

// Answered tells how many requests the server has answered by itself, mostly refused, by
// status and reason. The reasons are out of a fixed list.
func (c *ServerCount) Answered() map[Error]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.answered)
}

func (c *ServerCount) answer(e Error) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answered == nil {
		c.answered = map[Error]int64{}
	}
	if _, known := c.answered[e]; !known && len(c.answered) >= maxAnswered {
		e.Reason = "other"
	}
	c.answered[e]++
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

func (c *ServerCount) failHandshake() {
	if c != nil {
		c.HandshakesFailed.Add(1)
	}
}
