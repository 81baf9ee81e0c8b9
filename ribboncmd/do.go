package ribboncmd

import (
	"context"
	"errors"
	"time"
)

// Do runs a call of any kind under the command of a key, as Hystrix would: unless
// circuit or bulkhead refuse it, within the deadline, and with the fallback's
// result if there is no other. A nil fallback means none.
//
// The command comes from the registry in ctx, see NewContext; filters have it in
// the context of their request. Its settings are hystrix.command.<key>.
//
// run gets a goroutine of its own, so that the caller is free at the deadline even
// if run does not heed the end of its context; its permit is held until it returns.
// The context also ends when Do returns.
//
// Errors are *Error, except for one marked by AsIs, and for ErrNoKey and
// ErrNoCommands. A panic of run is a failure, one of fallback a failed fallback.
func Do[T any](ctx context.Context, key Key, run func(context.Context) (T, error), fallback func(context.Context, *Error) (T, error)) (T, error) {
	task := Task[T]{Key: key, Run: run, Fallback: fallback}
	value, _, err := task.Do(ctx)
	return value, err
}

// Task is a call for those who need more than Do offers. It may be done any
// number of times, from any number of goroutines.
type Task[T any] struct {
	Key Key
	Run func(context.Context) (T, error)

	// Fallback answers for a failed call and is told why it failed. It has the
	// caller's context and no deadline. ErrNoFallback means that it cannot help
	// with this one. Nil means that there is none.
	Fallback func(context.Context, *Error) (T, error)

	// Discard is given a value that came after the deadline; nil drops it.
	Discard func(T)

	// Inline runs the call on the caller's goroutine, which is cheaper. It must
	// then heed the end of its context, since its caller waits for it.
	Inline bool
}

// Report is what became of one execution of a Task.
type Report struct {
	Events    []Event       // in Hystrix's order
	Execution time.Duration // of Run, until the deadline at most; -1 if it never began
	Pooled    bool          // a place in a pool was taken for it
	Failure   *Error        // of the call, also when the fallback helped; nil after a success
}

// Do executes the task as the function Do does.
func (t *Task[T]) Do(ctx context.Context) (value T, report Report, err error) {
	report.Execution = -1
	cmd, err := commandOf(ctx, t.Key)
	if err != nil {
		return value, report, err
	}
	a := cmd.attach()
	x := execution{start: time.Now()}
	value = t.execute(ctx, cmd, a, &x)
	report.fill(&x, a)
	if x.err == nil {
		return value, report, nil
	}
	report.Failure = x.failure(cmd.service)
	value, err = t.fallBack(ctx, cmd, a.state, &report)
	a.state.answered(&x)
	cmd.policy.tell(ctx, report.Failure, err == nil)
	return value, report, err
}

func (r *Report) fill(x *execution, a *attachment) {
	r.Events = append(make([]Event, 0, 2), x.outcome.event())
	if x.ran() {
		r.Execution, r.Pooled = x.took, a.pool != nil
	}
}

// execute is everything but the fallback.
func (t *Task[T]) execute(ctx context.Context, c *Command, a *attachment, x *execution) (value T) {
	s := a.state
	trialID, ok := s.breaker.admit(&c.policy.Breaker, x.start, c.policy.guard())
	if !ok {
		s.count(EventShortCircuited)
		x.outcome, x.err = ShortCircuited, ErrShortCircuited
		return value
	}
	x.outcome = Failure
	defer func() { s.finish(&c.policy, trialID, x, time.Now()) }()

	patience, release := c.patience(ctx, x.start)
	defer release()
	if x.waited, x.err = a.enter(patience, &c.policy.Settings); x.err != nil {
		x.outcome = refusalOf(x.err)
		return value
	}
	x.begin()
	if t.Inline {
		defer a.leave()
		value, err := protect(patience, t.Run)
		return t.judge(patience, x, delivery[T]{value, err})
	}
	return t.judge(patience, x, t.apart(ctx, patience, c, a))
}

// patience is the context of a caller that waits until the deadline.
func (c *Command) patience(ctx context.Context, start time.Time) (context.Context, context.CancelFunc) {
	if limit := c.policy.deadline(); limit > 0 {
		return context.WithDeadlineCause(ctx, start.Add(limit), ErrTimeout)
	}
	return context.WithCancel(ctx)
}

// judge names the outcome of a call that has returned or been given up.
func (t *Task[T]) judge(patience context.Context, x *execution, d delivery[T]) (value T) {
	cause := endOf(patience)
	if d.err == nil && !errors.Is(cause, ErrTimeout) {
		x.outcome = Success
		return d.value
	}
	if d.err == nil {
		t.discard(d.value)
	}
	x.outcome, x.err = failureOf(cause, d.err)
	return value
}

func (t *Task[T]) discard(value T) {
	if t.Discard != nil {
		t.Discard(value)
	}
}

// fallBack turns the failure into the fallback's value, or else completes the
// failure with the reason why there is none.
func (t *Task[T]) fallBack(ctx context.Context, c *Command, s *state, r *Report) (value T, err error) {
	event := numEvents
	defer func() {
		if event != numEvents {
			r.Events = append(r.Events, event)
		}
		if err != nil {
			s.count(EventExceptionThrown)
			err = unwrapped(err)
		}
	}()
	if event = c.refuseFallback(s, r.Failure, t.Fallback != nil); event != EventFallbackSuccess {
		return value, r.Failure
	}
	defer s.fallbacks.giveBack()
	cause := r.Failure.asCause()
	value, failed := protect(ctx, func(ctx context.Context) (T, error) { return t.Fallback(ctx, cause) })
	if event = s.fellBack(r.Failure, failed); failed != nil {
		var none T
		return none, r.Failure
	}
	return value, nil
}
