package ribboncmd

import (
	"sync"
	"sync/atomic"

	"github.com/gozer-gateway/gozer/internal/window"
)

// state is what a command keeps across reloads.
type state struct {
	service   string
	breaker   *breaker
	policy    atomic.Pointer[policy] // in force: the newest that has executed
	window    atomic.Pointer[window.Window]
	rolling   atomic.Pointer[rolling]
	pool      atomic.Pointer[pool] // of the policy in force, to be shown; nil unless Thread
	forgotten atomic.Bool          // the registry has let go of it
	retired   atomic.Bool          // to be let go of when nothing is in progress

	adopting sync.Mutex // one change of policy at a time

	schedule // guarded by Commands.mu

	// What every call reads stands above, what every call writes below, each in
	// cache lines of its own.
	_        cacheLine
	running  permits
	_        cacheLine
	counters counters
	_        cacheLine
	timings  timings
	limiter  limiter

	fallbacks permits
}

// cacheLine keeps its neighbours apart.
type cacheLine [128]byte

// adopt puts a policy and its pool in force. Health is lost if the shape of
// the window changes.
func (s *state) adopt(p *policy, shared *pool) {
	s.adopting.Lock()
	defer s.adopting.Unlock()
	old := s.policy.Load()
	if !p.newer(old) {
		return
	}
	if old == nil || old.buckets() != p.buckets() || old.interval() != p.interval() {
		sums := s.counters.sums()
		s.window.Store(window.New(p.buckets(), health(&sums)))
	}
	if old == nil || old.counterBuckets() != p.counterBuckets() || old.counterInterval() != p.counterInterval() {
		s.rolling.Store(newRolling(p.counterBuckets(), s.counters.sums()))
	}
	s.timings.reshape(p.latencyBuckets())
	s.pool.Store(shared)
	s.policy.Store(p)
	s.retired.Store(false)
	if shared != nil {
		shared.resize(p.Pool)
	}
}

// Counts, Current and Reset make a state what its breaker judges.
func (s *state) Counts() window.Counts { return s.window.Load().Counts() }

// Current includes what has been counted since the last snapshot.
func (s *state) Current() window.Counts {
	sums := s.counters.sums()
	return s.window.Load().Current(health(&sums))
}

// Reset lets the window begin anew.
func (s *state) Reset() {
	sums := s.counters.sums()
	s.window.Load().Reset(health(&sums))
}

// count is for what happens seldom; calls use the stripe of their clock.
func (s *state) count(e Event) { s.counters.add(0, e) }

// quiet is true of a state that nobody would miss: nothing in progress, no
// health on record, circuit closed, nothing forced.
func (s *state) quiet() bool {
	return s.unused() && s.breaker.current() == Closed && s.breaker.override.Load() == int32(NotForced) && s.Counts().Total == 0
}

// unused is true while no call and no fallback is in progress.
func (s *state) unused() bool { return s.running.held.Load() == 0 && s.fallbacks.held.Load() == 0 }

func (s *state) total() (sum int64) {
	for _, n := range s.counters.sums() {
		sum += n
	}
	return sum
}
