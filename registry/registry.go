package registry

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// Registry keeps leases. Its methods may be called from any goroutine.
type Registry struct {
	settings Settings
	id       string // of this process, by which it knows itself among its peers
	log      *slog.Logger
	start    time.Time
	renewals *minute
	counters counters
	cache    *cache
	push     *publisher
	limiter  *limiter
	refusals *bucket // of log lines about them
	unsent   unsent
	guard    *guard
	peers    *peers
	regions  *regions

	// version counts visible changes; it is raised under mu.
	version atomic.Uint64
	// changed is closed and replaced at every visible change, guarded by mu.
	changed chan struct{}

	mu        sync.RWMutex // guards the fields below; renewals only read-lock it
	apps      map[string]*application
	size      int // leases in apps
	counts    eureka.StatusCounts
	overrides *overrides
	changes   *changes
	expected  int // clients that send renewals
	threshold int
	delay     delay

	registered, canceled *ring[pastLease]

	opened atomic.Bool // no longer filling up from peers
	gated  atomic.Bool // reads are refused: the list may be partial
	ready  chan struct{}

	imported bool // before Run
}

// pastLease is a line of the list of the last leases.
type pastLease struct {
	at     time.Time
	lease  string // APP(id)
	reason string
}

// rememberedLeases is how many past leases the status page shows.
const rememberedLeases = 1000

// New makes a registry that knows nothing and does nothing until Run.
func New(s Settings) (*Registry, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if s.Logger == nil {
		s.Logger = slog.Default()
	}
	if s.Transport == nil {
		s.Transport = newTransport(s.Replication, s.TLS)
	}
	r := &Registry{
		settings:   s,
		id:         rand.Text(),
		log:        s.Logger,
		start:      time.Now(),
		changed:    make(chan struct{}),
		apps:       map[string]*application{},
		overrides:  newOverrides(s.Leases.OverrideLifetime),
		changes:    newChanges(s.Limits.Instances),
		registered: newRing[pastLease](rememberedLeases),
		canceled:   newRing[pastLease](rememberedLeases),
		ready:      make(chan struct{}),
	}
	r.renewals = newMinute(r.start)
	r.cache = newCache(s.Cache)
	r.push = newPublisher(s.Limits)
	r.limiter = newLimiter(s.RateLimit)
	r.refusals = newBucket(10, 1, time.Second)
	r.unsent.most = s.Limits.Unsent
	r.guard = newGuard(s.Auth)
	r.regions = newRegions(r)
	r.peers = newPeers(r)
	r.gated.Store(len(r.peers.current()) > 0)
	return r, nil
}

// Run fills the registry from its peers, then expires leases, tells peers and
// refreshes what is cached until ctx ends. It returns when all its goroutines have.
func (r *Registry) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { r.peers.run(ctx) })
	running.Go(func() { r.regions.run(ctx) })
	running.Go(func() { r.push.run(ctx, r) })
	running.Go(func() { r.every(ctx, r.settings.Cache.DeltaSweepInterval, r.sweep) })
	if r.settings.Cache.ReadOnly {
		running.Go(func() { r.refreshCache(ctx) })
	}
	r.fill(ctx, &running)
	running.Go(func() { r.every(ctx, r.settings.Leases.ThresholdUpdateInterval, r.recount) })
	r.every(ctx, r.settings.Leases.EvictionInterval, r.evict)
}

// every calls f at an interval until ctx ends.
func (r *Registry) every(ctx context.Context, interval time.Duration, f func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			f()
		}
	}
}

// since is the registry's own clock, which no step of the wall clock moves.
func (r *Registry) since() time.Duration { return time.Since(r.start) }

// sweep forgets old changes and overrides.
func (r *Registry) sweep() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes.sweep(r.since(), r.settings.Cache.DeltaRetention)
	r.overrides.sweep(r.since())
	if !r.settings.Cache.ReadOnly {
		r.cache.trim()
	}
}

// note makes a change visible: to deltas, caches and subscribers. r.mu is held.
func (r *Registry) note(l *lease, c cause) {
	version := r.version.Add(1)
	if app := r.apps[l.app]; app != nil {
		app.version = version
	}
	r.changes.add(l, r.since())
	r.push.add(l, c)
	close(r.changed)
	r.changed = make(chan struct{})
}

// noteRegion makes a change in a remote region visible.
func (r *Registry) noteRegion() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.version.Add(1)
	close(r.changed)
	r.changed = make(chan struct{})
}

// change returns a channel that is closed at the next visible change.
func (r *Registry) change() <-chan struct{} {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.changed
}

// expect changes the number of clients that should renew. r.mu is held.
func (r *Registry) expect(clients int) {
	l := r.settings.Leases
	r.expected = max(0, clients)
	r.threshold = threshold(r.expected, l.ClientRenewalInterval, l.RenewalPercentThreshold)
}

// recount brings the expected number of clients in line with the leases that there
// are, unless too many have gone at once (spec 4.6).
func (r *Registry) recount() {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.settings.Leases
	if float64(r.size) > l.RenewalPercentThreshold*float64(r.expected) || !l.SelfPreservation {
		r.expect(r.size)
	}
}

// expires reports whether leases may be expired now.
func (r *Registry) expires() bool {
	if !r.settings.Leases.SelfPreservation {
		return true
	}
	renewed := r.renewals.lastMinute(time.Now())
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.threshold > 0 && renewed > r.threshold
}
