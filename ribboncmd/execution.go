package ribboncmd

import "time"

// execution is the account of one execution of a command.
type execution struct {
	start   time.Time
	began   time.Time     // of the call itself; zero if it never ran
	waited  bool          // in the queue of a pool
	took    time.Duration // by the call, until the deadline at most
	outcome Outcome
	err     error // nil if there is a result
}

// begin notes that the call runs now.
func (x *execution) begin() {
	x.began = x.start
	if x.waited {
		x.began = time.Now()
	}
}

func (x *execution) ran() bool { return !x.began.IsZero() }

func (x *execution) failure(service string) *Error {
	return &Error{Service: service, Outcome: x.outcome, Execution: x.outcome, Err: x.err}
}

// finish records the outcome of an execution that the breaker let pass, which
// ended at a time. The breaker hears it first: the success that closes the circuit
// is the first call of the new window.
func (s *state) finish(p *policy, trialID uint64, x *execution, end time.Time) {
	stripe, verdict := stripeOf(end), x.outcome.verdict()
	x.took = end.Sub(x.began)
	slow := verdict != noVerdict && x.ran() && p.slow(x.took)
	if slow {
		verdict = faulty
	}
	s.breaker.report(trialID, verdict)
	s.counters.add(stripe, x.outcome.event())
	if slow {
		s.counters.add(stripe, slowCalls)
	}
	if verdict == faulty && p.Breaker.Eager {
		s.breaker.judgeNow(p)
	}
	if x.ran() {
		s.time(p, x, stripe, end)
	}
}

// time records how long the call ran, and how long its caller waited unless a
// fallback goes on.
func (s *state) time(p *policy, x *execution, stripe int, end time.Time) {
	switch {
	case x.err == nil && !x.waited:
		s.timings.plain.add(stripe, x.took)
	case x.err == nil:
		s.timings.run.add(stripe, x.took)
		s.timings.total.add(stripe, end.Sub(x.start))
	default: // answered completes it
		s.timings.run.add(stripe, x.took)
	}
	if p.Adaptive.Enabled && x.outcome != Cancelled {
		s.limiter.note(x.took, s.running.held.Load()+1) // this one has just left
	}
}

// answered records how long the caller of a failed call waited, its fallback
// included.
func (s *state) answered(x *execution) {
	if x.ran() {
		s.timings.total.add(stripeOf(x.start), time.Since(x.start))
	}
}
