package ribboncmd

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/gozer-gateway/gozer/internal/window"
)

// state is what a command keeps across reloads.
type state struct {
	service   string
	breaker   *breaker
	running   permits
	fallbacks permits
	events    [numEvents]atomic.Int64
	policy    atomic.Pointer[policy] // in force: that of the latest execution
	window    atomic.Pointer[window.Window]
	pool      atomic.Pointer[pool] // of the policy in force, to be shown; nil unless Thread
	forgotten atomic.Bool          // the registry has let go of it

	adopting sync.Mutex // one change of policy at a time

	schedule // guarded by Commands.mu
}

// schedule is the registry's view of a state; times count from its start.
type schedule struct {
	nextRoll time.Duration
	seen     int64 // events at the last roll
	idle     time.Duration
}

// adopt puts a policy and its pool in force. Health is lost if the shape of
// the window changes.
func (s *state) adopt(p *policy, shared *pool) {
	s.adopting.Lock()
	defer s.adopting.Unlock()
	old := s.policy.Load()
	if old == nil || old.buckets() != p.buckets() || old.interval() != p.interval() {
		s.window.Store(window.New(p.buckets()))
	}
	s.pool.Store(shared)
	s.policy.Store(p)
}

func (s *state) count(e Event) { s.events[e].Add(1) }

// finish records the outcome of an execution that the breaker let pass. The
// breaker hears it first: the success that closes the circuit is the first
// call of the new window.
func (s *state) finish(trialID uint64, o Outcome) {
	v := o.verdict()
	s.breaker.report(trialID, v)
	switch v {
	case healthy:
		s.window.Load().Success()
	case faulty:
		s.window.Load().Error()
	case noVerdict:
	}
	s.count(o.event())
}

// roll closes buckets and lets the breaker judge each new sum.
func (s *state) roll(times int) {
	for range times {
		s.window.Load().Roll()
		s.breaker.judge(&s.policy.Load().Breaker)
	}
}

// quiet is true of a state that nobody would miss: nothing in progress, no
// health on record, circuit closed.
func (s *state) quiet() bool {
	return s.running.held.Load() == 0 && s.fallbacks.held.Load() == 0 &&
		s.breaker.current() == Closed && s.window.Load().Counts().Total == 0
}

func (s *state) total() (sum int64) {
	for e := range s.events {
		sum += s.events[e].Load()
	}
	return sum
}
