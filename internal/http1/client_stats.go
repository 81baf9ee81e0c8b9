package http1

// PoolStats are the connections of a Transport at one moment.
type PoolStats struct {
	Busy    int // places in use, each by a request
	Idle    int
	Waiting int // requests without a place
}

// Stats tells what the pool holds now.
func (t *Transport) Stats() PoolStats {
	p := t.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	s := PoolStats{Busy: p.busy, Idle: p.idle, Waiting: p.waiting.Len()}
	for _, h := range p.hosts {
		s.Waiting += h.waiting.Len()
	}
	return s
}
