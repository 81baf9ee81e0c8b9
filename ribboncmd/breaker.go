package ribboncmd

import (
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/gozer-gateway/gozer/internal/window"
)

// State of a circuit.
type State int32

// The states. A circuit starts closed.
const (
	Closed   State = iota // calls pass
	Open                  // calls are refused until the sleep window is over
	HalfOpen              // one trial call decides
)

// String returns CLOSED, OPEN or HALF_OPEN.
func (s State) String() string {
	switch s {
	case Closed:
		return "CLOSED"
	case Open:
		return "OPEN"
	case HalfOpen:
		return "HALF_OPEN"
	}
	return "UNKNOWN"
}

// MarshalText gives the state's name in JSON.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// breaker couples gobreaker's state machine with the health window of a
// command.
//
// While the circuit is closed a call costs one atomic load: gobreaker's own
// counts are unused, so it need not hear of calls that cannot move the state.
// That also keeps results of calls admitted before a trip from meddling with
// the trial. Only the trip, the trial and its verdict go to gobreaker, one at
// a time under mu.
//
// gobreaker fixes its open timeout for life while the sleep window may change
// under an open circuit, so its timeout is minimal and the sleep window is
// checked here. Checking and asking happen in one hold of mu: nobody can carry
// an old answer past a trip and slip in as a second trial.
type breaker struct {
	start time.Time    // since is relative to it, hence monotonic
	state atomic.Int32 // a State; written under mu
	since atomic.Int64 // when the circuit opened or the pending trial began

	mu        sync.Mutex
	machine   *gobreaker.TwoStepCircuitBreaker[struct{}] // guarded by mu
	trial     trial                                      // guarded by mu
	trials    uint64                                     // guarded by mu; ids given out
	changes   []change                                   // guarded by mu; not yet told to changed
	health    judged
	onChanged func(from, to State)

	override atomic.Int32 // an Override
}

// judged is the health that a breaker judges. Its methods are called with the
// breaker's lock held.
type judged interface {
	Counts() window.Counts  // of the closed buckets
	Current() window.Counts // those and the current one
	Reset()
}

// trial is the pending call of a half-open circuit; id 0 is none.
type trial struct {
	id   uint64
	done func(error)
}

type change struct{ from, to State }

// What gobreaker is told; their text reaches nobody.
var (
	errFaulty    = errors.New("ribboncmd: faulty")
	errNoVerdict = errors.New("ribboncmd: no verdict")
)

// longAgo is a since that every wait has passed.
const longAgo = math.MinInt64 / 2

// newBreaker returns a closed breaker. Settled changes are told to onChanged
// with no lock held.
func newBreaker(health judged, onChanged func(from, to State)) *breaker {
	b := &breaker{start: time.Now(), health: health, onChanged: onChanged}
	b.machine = b.newMachine()
	return b
}

func (b *breaker) newMachine() *gobreaker.TwoStepCircuitBreaker[struct{}] {
	return gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		MaxRequests:   1,
		Timeout:       1,
		ReadyToTrip:   func(gobreaker.Counts) bool { return true },
		IsExcluded:    func(err error) bool { return errors.Is(err, errNoVerdict) },
		OnStateChange: func(_ string, from, to gobreaker.State) { b.move(stateOf(from), stateOf(to)) },
	})
}

func stateOf(s gobreaker.State) State {
	switch s {
	case gobreaker.StateClosed:
		return Closed
	case gobreaker.StateHalfOpen:
		return HalfOpen
	case gobreaker.StateOpen:
	}
	return Open
}

func (b *breaker) current() State { return State(b.state.Load()) }

// admit decides about one call. The id of a trial has to be handed back to
// report; 0 says that the call is none. A trial that has not reported after
// guard no longer keeps others out.
func (b *breaker) admit(s *BreakerSettings, now time.Time, guard time.Duration) (trialID uint64, ok bool) {
	force := b.force(s)
	switch {
	case !s.Enabled && force == NotForced:
		return 0, true
	case force == ForcedOpen:
		return 0, false
	case b.current() == Closed:
		return 0, true
	}
	trialID, ok = b.admitTrial(now.Sub(b.start), s.SleepWindow, guard)
	return trialID, ok || force == ForcedClosed
}

func (b *breaker) admitTrial(now, sleep, guard time.Duration) (uint64, bool) {
	if b.early(now, sleep, guard) {
		return 0, false
	}
	b.mu.Lock()
	defer b.unlock()
	if b.current() == Closed {
		return 0, true
	}
	if b.early(now, sleep, guard) {
		return 0, false
	}
	b.settleTrial(errNoVerdict)
	done, err := b.machine.Allow()
	if err != nil {
		return 0, false
	}
	b.trials++
	b.trial = trial{id: b.trials, done: done}
	b.since.Store(int64(now))
	return b.trials, true
}

// early is true while an open circuit sleeps and while a trial is pending.
func (b *breaker) early(now, sleep, guard time.Duration) bool {
	wait := sleep
	if b.current() == HalfOpen {
		wait = min(guard, -longAgo-1)
	}
	return now-time.Duration(b.since.Load()) <= wait
}

// report gives the verdict of a trial. Verdicts of other calls, and of a trial
// that has been given up, move nothing.
func (b *breaker) report(trialID uint64, v verdict) {
	if trialID == 0 {
		return
	}
	b.mu.Lock()
	defer b.unlock()
	if b.trial.id != trialID {
		return
	}
	switch v {
	case healthy:
		b.settleTrial(nil)
	case faulty:
		b.settleTrial(errFaulty)
	case noVerdict:
		b.settleTrial(errNoVerdict)
		b.since.Store(longAgo)
	}
}

// settleTrial ends the pending trial, if any; b.mu is held.
func (b *breaker) settleTrial(err error) {
	if b.trial.id == 0 {
		return
	}
	done := b.trial.done
	b.trial = trial{}
	done(err)
}

// judge opens a closed circuit if the window says so.
func (b *breaker) judge(p *policy) { b.judgeBy(p, b.health.Counts) }

// judgeNow is judge for an eager circuit that has just seen an error.
func (b *breaker) judgeNow(p *policy) { b.judgeBy(p, b.health.Current) }

// judgeBy asks the window again under mu, where it cannot be emptied by a trial
// that closes the circuit.
func (b *breaker) judgeBy(p *policy, counts func() window.Counts) {
	if !p.Breaker.Enabled || b.current() != Closed || !p.trips(counts()) {
		return
	}
	b.mu.Lock()
	defer b.unlock()
	if b.current() != Closed || !p.trips(counts()) {
		return
	}
	if done, err := b.machine.Allow(); err == nil {
		done(errFaulty)
	}
}

// move follows gobreaker, which calls it with its own lock and b.mu held.
func (b *breaker) move(from, to State) {
	switch to {
	case Closed:
		b.health.Reset()
	case Open:
		b.since.Store(int64(time.Since(b.start)))
	case HalfOpen:
	}
	b.state.Store(int32(to))
	b.changes = append(b.changes, change{from, to})
}

// unlock releases mu and then tells what has changed.
func (b *breaker) unlock() {
	changes := b.changes
	b.changes = nil
	b.mu.Unlock()
	for _, c := range changes {
		b.onChanged(c.from, c.to)
	}
}
