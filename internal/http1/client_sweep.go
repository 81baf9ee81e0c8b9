package http1

import (
	"slices"
	"time"
)

const (
	// sweepPeriod is how often idle connections are looked at.
	sweepPeriod = time.Second
	// sweepBatch is how many of them while the pool is locked.
	sweepBatch = 16
)

// schedule makes the sweeper come while connections idle. It is called with
// p.mu held.
func (p *pool) schedule() {
	if p.sweeping || p.idle == 0 {
		return
	}
	p.sweeping = true
	period := min(sweepPeriod, p.idleTime)
	if p.sweeper == nil {
		p.sweeper = time.AfterFunc(period, p.sweep)
		return
	}
	p.sweeper.Reset(period)
}

// sweep closes the idle connections that have expired or that the server has
// closed, so that none of them waits half closed for a request.
func (p *pool) sweep() {
	now := time.Now()
	for _, h := range p.idleHosts() {
		for from := 0; from >= 0; {
			from = p.sweepSome(h, from, now)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweeping = false
	p.schedule()
}

func (p *pool) idleHosts() []*poolHost {
	p.mu.Lock()
	defer p.mu.Unlock()
	hosts := make([]*poolHost, 0, len(p.hosts))
	for _, h := range p.hosts {
		if len(h.idle) > 0 {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

// sweepSome looks at some of a host's idle connections and returns where to go
// on, -1 at the end.
func (p *pool) sweepSome(h *poolHost, from int, now time.Time) int {
	var dead []*clientConn
	p.mu.Lock()
	i := min(from, len(h.idle))
	for range min(sweepBatch, len(h.idle)-i) {
		if p.usable(h.idle[i], now) {
			i++
			continue
		}
		dead = append(dead, h.idle[i])
		p.cut(h, i, i+1)
	}
	end := i >= len(h.idle)
	p.tidy(h)
	p.mu.Unlock()
	closeAll(dead)
	if end {
		return -1
	}
	return i
}

// cut takes idle connections out without closing them.
func (p *pool) cut(h *poolHost, from, to int) {
	h.idle = slices.Delete(h.idle, from, to)
	p.idle -= to - from
}

// retire lets connections idle no more.
func (p *pool) retire() {
	p.mu.Lock()
	p.retired = true
	p.mu.Unlock()
	p.closeIdle()
}

// closeIdle closes the connections that no request uses.
func (p *pool) closeIdle() {
	p.mu.Lock()
	var idle []*clientConn
	for _, h := range p.hosts {
		idle = append(idle, h.idle...)
		p.cut(h, 0, len(h.idle))
		p.tidy(h)
	}
	if p.sweeping && p.sweeper.Stop() {
		p.sweeping = false
	}
	p.mu.Unlock()
	closeAll(idle)
}

func closeAll(conns []*clientConn) {
	for _, c := range conns {
		c.close()
	}
}
