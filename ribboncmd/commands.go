package ribboncmd

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gozer-gateway/gozer/fallback"
)

const (
	// forgetAfter is how long a command may be idle until its state goes.
	forgetAfter = 10 * time.Minute
	// lastCalls is how often it is seen whether those of a retired command have ended.
	lastCalls = time.Second
	// crowded is how many states there may be before idle ones go at once:
	// service ids that come from requests must not fill the memory.
	crowded = 10_000
)

// Transition is a change of a circuit's state.
type Transition struct {
	Service  string
	From, To State
	At       time.Time
}

// Commands keeps the state of all commands by service id. It is safe for
// concurrent use. Without Run the health windows stand still, and no circuit
// ever opens.
type Commands struct {
	start    time.Time
	listener func(Transition)
	changed  chan struct{} // one slot: Run has to look for what is due before wake
	named    atomic.Pointer[named]

	generations atomic.Uint64 // of policies

	mu     sync.Mutex
	states map[string]*state // guarded by mu
	pools  map[string]*pool  // guarded by mu
	wake   time.Duration     // guarded by mu; when Run looks again
}

// New returns an empty registry. The listener, which may be nil, hears of each
// change of a circuit with no lock held, on the goroutine that caused it,
// which may be a request's: it should be quick.
func New(listener func(Transition)) *Commands {
	if listener == nil {
		listener = func(Transition) {}
	}
	c := &Commands{
		start:    time.Now(),
		listener: listener,
		changed:  make(chan struct{}, 1),
		states:   make(map[string]*state),
		pools:    make(map[string]*pool),
	}
	c.Configure(func(Key) Settings { return HystrixSettings() })
	return c
}

// Command couples settings with the state of a service, which is shared with
// every other command of that service id. Making one changes nothing; its
// settings are in force from its first execution on, see PutInForce, until a command
// that was made later executes. A nil provider means that there is no fallback.
func (c *Commands) Command(service string, s Settings, provider fallback.Provider) *Command {
	if s.Pool.Key == "" {
		s.Pool.Key = DefaultPoolKey
	}
	return &Command{
		service: service, commands: c,
		policy: policy{Settings: s, provider: provider, generation: c.generations.Add(1)},
	}
}

// Run rolls the health windows of all commands, judges them and forgets idle
// ones, until ctx ends. It is the only goroutine of the package.
func (c *Commands) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-c.changed:
		}
		timer.Reset(c.tick())
	}
}

// tick rolls the windows that are due and returns the time until the next one.
func (c *Commands) tick() time.Duration {
	all, next := c.due(time.Since(c.start))
	for _, d := range all {
		d.roll()
	}
	return next - time.Since(c.start)
}

// due collects the windows to be rolled, and the time of the next one.
func (c *Commands) due(now time.Duration) (all []due, next time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	next = now + forgetAfter
	stale := false
	for _, s := range c.states {
		if d := s.advance(now); d.health+d.counts+d.latency > 0 {
			all = append(all, d)
		}
		next = min(next, s.nextEnd())
		stale = stale || s.stale()
		if s.retired.Load() {
			next = min(next, now+lastCalls)
		}
	}
	if stale {
		c.forget((*state).stale)
	}
	for _, p := range c.pools {
		next = min(next, p.advance(now))
	}
	c.wake = next
	return all, next
}

// attach finds the state of a service, or makes one with the given policy, and
// the policy's pool.
func (c *Commands) attach(service string, p *policy) *attachment {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.states[service]; ok {
		return &attachment{s, c.poolOf(p)}
	}
	if len(c.states) >= crowded {
		c.forget((*state).quiet)
	}
	shared := c.poolOf(p)
	s := c.newState(service, p, shared)
	c.states[service] = s
	if s.nextEnd() < c.wake {
		c.look()
	}
	return &attachment{s, shared}
}

// look has Run find out anew what is due when.
func (c *Commands) look() {
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// newState makes a state that rolls together with all others of its interval.
func (c *Commands) newState(service string, p *policy, shared *pool) *state {
	s := &state{service: service}
	s.breaker = newBreaker(s, func(from, to State) {
		c.listener(Transition{Service: service, From: from, To: to, At: time.Now()})
	})
	s.adopt(p, shared)
	s.begin(time.Since(c.start), p)
	return s
}

// forget drops states, then the pools that nobody uses any more; c.mu is held.
// A command whose state has gone gets a new one when it executes again.
func (c *Commands) forget(which func(*state) bool) {
	before := len(c.states)
	inUse := make(map[*pool]bool, len(c.pools))
	for service, s := range c.states {
		if which(s) {
			s.forgotten.Store(true)
			delete(c.states, service)
			continue
		}
		inUse[s.pool.Load()] = true
	}
	if len(c.states) == before {
		return
	}
	for key, p := range c.pools {
		if !inUse[p] && p.idle() {
			delete(c.pools, key)
		}
	}
}

// poolOf returns the pool of a Thread policy, nil for others; c.mu is held.
func (c *Commands) poolOf(p *policy) *pool {
	if p.Isolation != Thread {
		return nil
	}
	shared, ok := c.pools[p.Pool.Key]
	if !ok {
		shared = newPool(p.Pool, time.Since(c.start))
		c.pools[p.Pool.Key] = shared
	}
	return shared
}
