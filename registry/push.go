package registry

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// publisher tells subscribers of changes as they happen. Changes that come together
// travel together, and each is encoded once for all.
type publisher struct {
	limits Limits
	wake   chan struct{} // one slot

	mu          sync.Mutex // guards the fields below
	pending     map[instanceKey]pendingChange
	order       []instanceKey
	subscribers map[*subscriber]struct{}
	ended       bool // there are no subscribers any more
}

type pendingChange struct {
	lease *lease
	cause cause
}

// subscriber is one open stream. Its channel is closed when it lags too far behind,
// and when the registry ends.
type subscriber struct {
	events chan []byte
}

func newPublisher(l Limits) *publisher {
	return &publisher{limits: l, wake: make(chan struct{}, 1), pending: map[instanceKey]pendingChange{}, subscribers: map[*subscriber]struct{}{}}
}

// add notes a change for whoever listens. The registry's mutex is held.
func (p *publisher) add(l *lease, c cause) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.subscribers) == 0 {
		return
	}
	if _, known := p.pending[l.key()]; !known {
		p.order = append(p.order, l.key())
	}
	p.pending[l.key()] = pendingChange{l, c}
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// subscribe returns nil when there are too many already, or shall be no more.
func (p *publisher) subscribe() *subscriber {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || len(p.subscribers) >= p.limits.Subscribers {
		return nil
	}
	s := &subscriber{events: make(chan []byte, p.limits.PushBacklog)}
	p.subscribers[s] = struct{}{}
	return s
}

func (p *publisher) unsubscribe(s *subscriber) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(s)
}

// drop ends a subscription; p.mu is held.
func (p *publisher) drop(s *subscriber) {
	if _, ok := p.subscribers[s]; ok {
		delete(p.subscribers, s)
		close(s.events)
	}
}

func (p *publisher) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.subscribers)
}

// run sends what has changed until ctx ends.
func (p *publisher) run(ctx context.Context, r *Registry) {
	defer p.end()
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
			for _, event := range r.events() {
				p.send(event)
			}
		}
	}
}

func (p *publisher) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	for s := range p.subscribers {
		p.drop(s)
	}
}

// take returns the pending changes in their order.
func (p *publisher) take() []pendingChange {
	p.mu.Lock()
	defer p.mu.Unlock()
	changes := make([]pendingChange, 0, len(p.order))
	for _, key := range p.order {
		changes = append(changes, p.pending[key])
	}
	p.order = nil
	clear(p.pending)
	return changes
}

// send gives an event to all; who has no room for it is cut off and starts over.
func (p *publisher) send(event []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for s := range p.subscribers {
		select {
		case s.events <- event:
		default:
			p.drop(s)
		}
	}
}

// subscribe opens a stream; first is what it begins with. Nil means that there are
// too many.
func (r *Registry) subscribe() (s *subscriber, first []byte) {
	r.mu.RLock() // no change comes between
	defer r.mu.RUnlock()
	version := r.version.Load()
	marker := &eureka.Applications{VersionsDelta: int64(version), HashCode: r.visibleHash(), HasHash: true}
	return r.push.subscribe(), event("sync", version, eureka.Encoder{Format: eureka.JSON}.AppendApplications(nil, marker))
}

// events encodes what has changed since the last time: a delta with the hash of the
// list after it and, if instances have gone, why.
func (r *Registry) events() [][]byte {
	r.mu.RLock() // no change comes between
	changes, version, hash := r.push.take(), r.version.Load(), r.visibleHash()
	leases := make([]*lease, 0, len(changes))
	gone := map[cause][]string{}
	for _, c := range changes {
		leases = append(leases, c.lease)
		if !c.lease.evicted.IsZero() {
			gone[c.cause] = append(gone[c.cause], c.lease.key().String())
		}
	}
	apps := r.group(leases)
	r.mu.RUnlock()
	if len(changes) == 0 {
		return nil
	}
	delta := &eureka.Applications{VersionsDelta: int64(version), HashCode: hash, HasHash: true, Applications: apps}
	all := [][]byte{event("delta", version, eureka.Encoder{Format: eureka.JSON}.AppendApplications(nil, delta))}
	if reasons, err := json.Marshal(gone); err == nil && len(gone) > 0 {
		all = append(all, event("gone", version, reasons))
	}
	return all
}

// visibleHash is the hash of what a client without special wishes is shown. r.mu is
// held, for reading at least.
func (r *Registry) visibleHash() string {
	counts := r.counts
	for _, g := range r.regions.named("") {
		addCounts(&counts, g.state().counts)
	}
	return counts.Hash()
}

// event is a server-sent event with one line of data.
func event(name string, id uint64, data []byte) []byte {
	b := append([]byte("event: "), name...)
	b = append(b, "\nid: "...)
	b = strconv.AppendUint(b, id, 10)
	b = append(b, "\ndata: "...)
	b = append(b, data...)
	return append(b, "\n\n"...)
}
