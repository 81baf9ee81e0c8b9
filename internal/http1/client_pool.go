package http1

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// pool keeps the connections that no request uses and bounds how many are in
// use, each by one request. The connection used last is used first.
type pool struct {
	total, perHost     int
	patience           time.Duration // of a request that waits for a place
	idleTime, lifetime time.Duration // lifetime 0: for ever

	mu       sync.Mutex // guards all that follows, hosts included
	hosts    map[origin]*poolHost
	busy     int
	idle     int
	waiting  list.List // of waiters that have a place at their host
	sweeper  *time.Timer
	sweeping bool // the sweeper is about to come
	retired  bool // nothing is kept for later
}

// poolHost is the part of a pool that leads to one origin. It exists while
// something of it is in use, waits or idles.
type poolHost struct {
	origin  origin
	busy    int
	idle    []*clientConn // used last: last
	waiting list.List     // of waiters
}

func newPool(s TransportSettings) *pool {
	return &pool{
		total:    s.MaxTotal,
		perHost:  s.MaxPerHost,
		patience: s.AcquireTimeout,
		idleTime: s.IdleTimeout,
		lifetime: s.MaxLifetime,
		hosts:    map[origin]*poolHost{},
	}
}

// acquire takes a place for an origin, and an idle connection if there is one
// that has not expired; whether it is alive shows when it is used. Both go back
// by release. at is the end of the wait for them that began at now.
func (p *pool) acquire(ctx context.Context, o origin, now time.Time) (h *poolHost, c *clientConn, at time.Time, err error) {
	p.mu.Lock()
	h = p.hostOf(o)
	w := p.admit(h)
	if w != nil {
		p.mu.Unlock()
		if err := p.await(ctx, w); err != nil {
			return nil, nil, now, err
		}
		now = time.Now()
		p.mu.Lock()
	}
	c = p.pop(h)
	p.mu.Unlock()
	for c != nil && p.expired(c, now) {
		c.close()
		c = p.reuse(h)
	}
	return h, c, now, nil
}

// reuse takes one more idle connection for a place at h; nil if there is none.
func (p *pool) reuse(h *poolHost) *clientConn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pop(h)
}

func (p *pool) pop(h *poolHost) *clientConn {
	last := len(h.idle) - 1
	if last < 0 {
		return nil
	}
	c := h.idle[last]
	h.idle[last] = nil
	h.idle = h.idle[:last]
	p.idle--
	return c
}

func (p *pool) usable(c *clientConn, now time.Time) bool {
	return !p.expired(c, now) && c.alive()
}

func (p *pool) expired(c *clientConn, now time.Time) bool {
	return now.Sub(c.idleSince) >= p.idleTime || p.lifetime > 0 && now.Sub(c.born) >= p.lifetime
}

// release gives the place at h back and keeps c, if it is not nil, for later.
func (p *pool) release(h *poolHost, c *clientConn) {
	var surplus *clientConn
	p.mu.Lock()
	if c != nil {
		surplus = p.push(h, c)
	}
	p.busy--
	h.busy--
	p.grant(h)
	p.mu.Unlock()
	if surplus != nil {
		surplus.close()
	}
}

// push keeps c and returns the connection that is one too many, if there is one.
func (p *pool) push(h *poolHost, c *clientConn) (surplus *clientConn) {
	switch {
	case p.retired, len(h.idle) >= p.perHost:
		return c
	case p.idle >= p.total:
		surplus = p.shed()
	}
	h.idle = append(h.idle, c)
	p.idle++
	p.schedule()
	return surplus
}

// shed takes the connection out that has idled longest at some host.
func (p *pool) shed() *clientConn {
	for _, h := range p.hosts {
		if len(h.idle) > 0 {
			c := h.idle[0]
			p.cut(h, 0, 1)
			p.tidy(h)
			return c
		}
	}
	return nil
}

func (p *pool) hostOf(o origin) *poolHost {
	h := p.hosts[o]
	if h == nil {
		h = &poolHost{origin: o}
		p.hosts[o] = h
	}
	return h
}

// tidy forgets h when nothing is left of it.
func (p *pool) tidy(h *poolHost) {
	if h.busy == 0 && len(h.idle) == 0 && h.waiting.Len() == 0 && p.hosts[h.origin] == h {
		delete(p.hosts, h.origin)
	}
}
