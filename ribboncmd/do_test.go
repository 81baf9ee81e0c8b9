package ribboncmd_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/ribboncmd"
)

// desk is a registry with one set of settings for all keys.
type desk struct {
	*testing.T

	commands *ribboncmd.Commands
	settings ribboncmd.Settings
}

// atDesk plays within a bubble, at whose end nothing may be in progress.
func atDesk(t *testing.T, name string, play func(d *desk)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			d := &desk{T: t, commands: ribboncmd.New(nil), settings: ribboncmd.HystrixSettings()}
			d.configure(func(s *ribboncmd.Settings) { s.Breaker.RequestVolumeThreshold = 1000 })
			go d.commands.Run(t.Context())
			play(d)
			synctest.Wait()
			for _, s := range d.commands.Snapshots() {
				if s.Concurrent != 0 || s.Fallbacks != 0 {
					t.Errorf("%s: %d calls and %d fallbacks still counted", s.Service, s.Concurrent, s.Fallbacks)
				}
			}
			for _, p := range d.commands.Pools() {
				if p.Active != 0 || p.Waiting != 0 {
					t.Errorf("pool %s: %d active, %d waiting", p.Key, p.Active, p.Waiting)
				}
			}
		})
	})
}

func (d *desk) configure(change func(*ribboncmd.Settings)) {
	change(&d.settings)
	s := d.settings
	d.commands.Configure(func(ribboncmd.Key) ribboncmd.Settings { return s })
}

func (d *desk) semaphore(permits int) {
	d.configure(func(s *ribboncmd.Settings) { s.Isolation, s.MaxConcurrent = ribboncmd.Semaphore, permits })
}

func (d *desk) pool(workers, queue int) {
	d.configure(func(s *ribboncmd.Settings) {
		s.Isolation, s.Pool.CoreSize, s.Pool.MaxQueueSize = ribboncmd.Thread, workers, queue
	})
}

func (d *desk) context() context.Context { return ribboncmd.NewContext(d.Context(), d.commands) }

var geo = ribboncmd.Key{Command: "geo", Group: "maps"}

// result is what a task came to.
type result struct {
	value  string
	report ribboncmd.Report
	err    error
}

func (d *desk) do(task *ribboncmd.Task[string]) result { return d.doContext(d.context(), task) }

func (d *desk) doContext(ctx context.Context, task *ribboncmd.Task[string]) result {
	if task.Key == (ribboncmd.Key{}) {
		task.Key = geo
	}
	value, report, err := task.Do(ctx)
	return result{value, report, err}
}

// spawn does a task in the background.
func (d *desk) spawn(ctx context.Context, task *ribboncmd.Task[string]) <-chan result {
	done := make(chan result, 1)
	go func() { done <- d.doContext(ctx, task) }()
	synctest.Wait()
	return done
}

func (d *desk) snapshot() ribboncmd.Snapshot {
	d.Helper()
	all := d.commands.Snapshots()
	i := slices.IndexFunc(all, func(s ribboncmd.Snapshot) bool { return s.Service == geo.Command })
	if i < 0 {
		d.Fatal("the command has never executed")
	}
	return all[i]
}

// want checks the value, or the outcome of the error, and the events.
func (r result) want(tb testing.TB, value string, outcome ribboncmd.Outcome, events ...ribboncmd.Event) {
	tb.Helper()
	got := ribboncmd.Success
	if failure, ok := errors.AsType[*ribboncmd.Error](r.err); ok {
		got = failure.Outcome
	} else if r.err != nil {
		tb.Errorf("error is %v", r.err)
	}
	if r.value != value || got != outcome {
		tb.Errorf("got %q, %v (%v), want %q, %v", r.value, got, r.err, value, outcome)
	}
	if diff := cmp.Diff(events, r.report.Events); diff != "" {
		tb.Errorf("events (-want +got):\n%s", diff)
	}
}

func value(v string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return v, nil }
}

func failed(err error) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return "", err }
}

// later heeds the end of its context, deaf does not.
func later(d time.Duration, v string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		select {
		case <-time.After(d):
			return v, nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

func deaf(d time.Duration) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		wait(d)
		return "late", nil
	}
}

func spare(context.Context, *ribboncmd.Error) (string, error) { return "f", nil }

func noSpare(err error) func(context.Context, *ribboncmd.Error) (string, error) {
	return func(context.Context, *ribboncmd.Error) (string, error) { return "", err }
}

const ms = time.Millisecond

func TestDoOutcomes(t *testing.T) {
	boom, other := errors.New("boom"), errors.New("other")
	atDesk(t, "hystrix 1 value", func(d *desk) {
		r := d.do(&ribboncmd.Task[string]{Run: later(30*ms, "v"), Fallback: spare})
		r.want(d, "v", ribboncmd.Success, ribboncmd.EventSuccess)
		if r.report.Execution != 30*ms || r.report.Failure != nil {
			d.Errorf("report is %+v", r.report)
		}
	})
	atDesk(t, "hystrix 2 a task may be done again", func(d *desk) {
		task := &ribboncmd.Task[string]{Run: value("v")}
		for range 2 {
			d.do(task).want(d, "v", ribboncmd.Success, ribboncmd.EventSuccess)
		}
	})
	atDesk(t, "hystrix 3 no fallback", func(d *desk) {
		r := d.do(&ribboncmd.Task[string]{Run: failed(boom)})
		r.want(d, "", ribboncmd.Failure, ribboncmd.EventFailure, ribboncmd.EventFallbackMissing)
		if !errors.Is(r.err, boom) || !errors.Is(r.report.Failure.FallbackErr, ribboncmd.ErrNoFallback) {
			d.Errorf("failure is %+v", r.report.Failure)
		}
	})
	atDesk(t, "hystrix 4 fallback", func(d *desk) {
		r := d.do(&ribboncmd.Task[string]{Run: failed(boom), Fallback: spare})
		r.want(d, "f", ribboncmd.Success, ribboncmd.EventFailure, ribboncmd.EventFallbackSuccess)
		if !errors.Is(r.report.Failure, boom) {
			d.Errorf("failure is %v", r.report.Failure)
		}
	})
	atDesk(t, "hystrix 5 fallback fails", func(d *desk) {
		r := d.do(&ribboncmd.Task[string]{Run: failed(boom), Fallback: noSpare(other)})
		r.want(d, "", ribboncmd.Failure, ribboncmd.EventFailure, ribboncmd.EventFallbackFailure)
		if !errors.Is(r.err, boom) || !errors.Is(r.report.Failure.FallbackErr, other) {
			d.Errorf("failure is %+v", r.report.Failure)
		}
	})
	atDesk(t, "fallback is not for this failure", func(d *desk) {
		d.do(&ribboncmd.Task[string]{Run: failed(boom), Fallback: noSpare(ribboncmd.ErrNoFallback)}).
			want(d, "", ribboncmd.Failure, ribboncmd.EventFailure, ribboncmd.EventFallbackMissing)
	})
	atDesk(t, "hystrix 6 and 7 Q5 fallback disabled, and the error counts", func(d *desk) {
		d.configure(func(s *ribboncmd.Settings) { s.Fallback.Enabled = false })
		d.do(&ribboncmd.Task[string]{Run: failed(boom), Fallback: spare}).
			want(d, "", ribboncmd.Failure, ribboncmd.EventFailure, ribboncmd.EventFallbackDisabled)
		if n := d.snapshot().Events[ribboncmd.EventExceptionThrown]; n != 1 {
			d.Errorf("%d errors counted", n)
		}
	})
	atDesk(t, "hystrix 8 error as it is", func(d *desk) {
		r := d.do(&ribboncmd.Task[string]{Run: failed(ribboncmd.AsIs(boom))})
		if r.err != boom { //nolint:errorlint // nothing may be around it
			d.Errorf("error is %v", r.err)
		}
		if diff := cmp.Diff([]ribboncmd.Event{ribboncmd.EventFailure, ribboncmd.EventFallbackMissing}, r.report.Events); diff != "" {
			d.Error(diff)
		}
	})
	atDesk(t, "hystrix 9 error as it is, fallback", func(d *desk) {
		d.do(&ribboncmd.Task[string]{Run: failed(ribboncmd.AsIs(boom)), Fallback: spare}).
			want(d, "f", ribboncmd.Success, ribboncmd.EventFailure, ribboncmd.EventFallbackSuccess)
	})
	atDesk(t, "hystrix 10 and 12 bad request", func(d *desk) {
		d.do(&ribboncmd.Task[string]{Run: failed(ribboncmd.AsBadRequest(boom)), Fallback: spare}).
			want(d, "", ribboncmd.BadRequest, ribboncmd.EventBadRequest)
		d.semaphore(1)
		d.do(&ribboncmd.Task[string]{Run: failed(ribboncmd.AsBadRequest(boom)), Fallback: spare}).
			want(d, "", ribboncmd.BadRequest, ribboncmd.EventBadRequest)
	})
	atDesk(t, "hystrix 11 bad request around an error as it is", func(d *desk) {
		r := d.do(&ribboncmd.Task[string]{Run: failed(ribboncmd.AsBadRequest(ribboncmd.AsIs(boom)))})
		if r.err != boom || r.report.Failure.Outcome != ribboncmd.BadRequest { //nolint:errorlint // nothing may be around it
			d.Errorf("error is %v, failure %v", r.err, r.report.Failure)
		}
	})
	atDesk(t, "hystrix 13 a failure turned into a bad request", func(d *desk) {
		run := func(ctx context.Context) (string, error) {
			v, err := failed(boom)(ctx)
			return v, ribboncmd.AsBadRequest(err)
		}
		d.do(&ribboncmd.Task[string]{Run: run, Fallback: spare}).want(d, "", ribboncmd.BadRequest, ribboncmd.EventBadRequest)
		wait(time.Second)
		if s := d.snapshot(); s.Requests != 0 {
			d.Errorf("health counts %d calls", s.Requests)
		}
	})
	atDesk(t, "hystrix 14 panic, fallback", func(d *desk) {
		for _, inline := range []bool{false, true} {
			d.do(&ribboncmd.Task[string]{Run: func(context.Context) (string, error) { panic("oops") }, Fallback: spare, Inline: inline}).
				want(d, "f", ribboncmd.Success, ribboncmd.EventFailure, ribboncmd.EventFallbackSuccess)
		}
	})
	atDesk(t, "a call that ends its goroutine", func(d *desk) {
		d.do(&ribboncmd.Task[string]{Run: func(context.Context) (string, error) { runtime.Goexit(); return "", nil }}).
			want(d, "", ribboncmd.Failure, ribboncmd.EventFailure, ribboncmd.EventFallbackMissing)
	})
	atDesk(t, "fallback panics", func(d *desk) {
		d.do(&ribboncmd.Task[string]{Run: failed(boom), Fallback: func(context.Context, *ribboncmd.Error) (string, error) { panic("oops") }}).
			want(d, "", ribboncmd.Failure, ribboncmd.EventFailure, ribboncmd.EventFallbackFailure)
	})
	atDesk(t, "hystrix 16 fallback does another command", func(d *desk) {
		inner := func(ctx context.Context, _ *ribboncmd.Error) (string, error) {
			return ribboncmd.Do(ctx, ribboncmd.Key{Command: "inner"}, value("inner"), nil)
		}
		d.do(&ribboncmd.Task[string]{Run: failed(boom), Fallback: inner}).
			want(d, "inner", ribboncmd.Success, ribboncmd.EventFailure, ribboncmd.EventFallbackSuccess)
	})
	atDesk(t, "hystrix 22 Q2 the call returns our rejection", func(d *desk) {
		d.do(&ribboncmd.Task[string]{Run: failed(ribboncmd.ErrThreadPoolRejected)}).
			want(d, "", ribboncmd.Failure, ribboncmd.EventFailure, ribboncmd.EventFallbackMissing)
	})
}

func TestDoFallbacks(t *testing.T) {
	boom := errors.New("boom")
	slowly := func(d time.Duration) func(context.Context, *ribboncmd.Error) (string, error) {
		return func(context.Context, *ribboncmd.Error) (string, error) {
			wait(d)
			return "f", nil
		}
	}
	atDesk(t, "hystrix 17 fallback has no deadline", func(d *desk) {
		begin := time.Now()
		d.do(&ribboncmd.Task[string]{Run: failed(boom), Fallback: slowly(1500 * ms)}).
			want(d, "f", ribboncmd.Success, ribboncmd.EventFailure, ribboncmd.EventFallbackSuccess)
		if took := time.Since(begin); took != 1500*ms {
			d.Errorf("took %v", took)
		}
	})
	atDesk(t, "hystrix 18 Q4 execution time without the fallback, total time with it", func(d *desk) {
		r := d.do(&ribboncmd.Task[string]{Run: func(context.Context) (string, error) {
			wait(10 * ms)
			return "", boom
		}, Fallback: slowly(200 * ms)})
		wait(10 * time.Second)
		s := d.snapshot()
		if r.report.Execution != 10*ms || !about(s.Execute.Mean, 10*ms) || !about(s.Total.Mean, 210*ms) {
			d.Errorf("execution %v, mean %v, total %v", r.report.Execution, s.Execute.Mean, s.Total.Mean)
		}
	})
	atDesk(t, "hystrix 19 Q3 fallback busy keeps the error", func(d *desk) {
		d.configure(func(s *ribboncmd.Settings) { s.Fallback.MaxConcurrent = 1 })
		task := &ribboncmd.Task[string]{Key: geo, Run: failed(boom), Fallback: slowly(100 * ms)}
		first := d.spawn(d.context(), task)
		r := d.do(task)
		r.want(d, "", ribboncmd.FallbackRejected, ribboncmd.EventFailure, ribboncmd.EventFallbackRejection)
		if !errors.Is(r.err, boom) {
			d.Errorf("error is %v", r.err)
		}
		(<-first).want(d, "f", ribboncmd.Success, ribboncmd.EventFailure, ribboncmd.EventFallbackSuccess)
	})
	atDesk(t, "hystrix 20 five fallbacks of seven", func(d *desk) {
		d.configure(func(s *ribboncmd.Settings) { s.Fallback.MaxConcurrent = 5 })
		var all []<-chan result
		for range 7 {
			all = append(all, d.spawn(d.context(), &ribboncmd.Task[string]{Key: geo, Run: failed(boom), Fallback: slowly(100 * ms)}))
		}
		helped := 0
		for _, r := range all {
			if (<-r).err == nil {
				helped++
			}
		}
		wait(time.Second)
		if s := d.snapshot(); helped != 5 || s.Rolling[ribboncmd.EventFallbackRejection] != 2 || s.Requests != 7 || s.Errors != 7 {
			d.Errorf("%d helped, %+v", helped, s)
		}
	})
	atDesk(t, "hystrix 21 Q21 the fallback knows, and the outcome is counted already", func(d *desk) {
		for want, run := range map[string]func(context.Context) (string, error){"COMMAND_EXCEPTION": failed(boom), "TIMEOUT": later(time.Hour, "")} {
			r := d.do(&ribboncmd.Task[string]{Key: ribboncmd.Key{Command: want}, Run: run, Fallback: func(_ context.Context, cause *ribboncmd.Error) (string, error) {
				return cause.Outcome.String(), nil
			}})
			if r.value != want {
				d.Errorf("the fallback saw %q, want %q", r.value, want)
			}
		}
		counted := func(_ context.Context, _ *ribboncmd.Error) (string, error) {
			if n := d.snapshot().Events[ribboncmd.EventFailure]; n != 1 {
				t.Errorf("%d failures counted before the fallback", n)
			}
			return "f", nil
		}
		d.do(&ribboncmd.Task[string]{Run: failed(boom), Fallback: counted}).
			want(d, "f", ribboncmd.Success, ribboncmd.EventFailure, ribboncmd.EventFallbackSuccess)
	})
	atDesk(t, "hystrix 35 cancelled during the fallback", func(d *desk) {
		ctx, cancel := context.WithCancel(d.context())
		done := d.spawn(ctx, &ribboncmd.Task[string]{Run: failed(boom), Fallback: func(ctx context.Context, _ *ribboncmd.Error) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}})
		cancel()
		(<-done).want(d, "", ribboncmd.Failure, ribboncmd.EventFailure, ribboncmd.EventFallbackFailure)
	})
}

// about allows for the width of a bucket.
func about(got, want time.Duration) bool {
	return got >= want-want/100 && got <= want+want/100
}

func TestDoDeadline(t *testing.T) {
	timeout := func(d *desk, limit time.Duration) {
		d.configure(func(s *ribboncmd.Settings) { s.Timeout = limit })
	}
	atDesk(t, "hystrix 23 and 37 Q6 Q7 the caller is free at the deadline, the permit when the call returns", func(d *desk) {
		d.semaphore(1)
		timeout(d, 100*ms)
		begin := time.Now()
		r := d.do(&ribboncmd.Task[string]{Run: deaf(600 * ms), Fallback: spare})
		r.want(d, "f", ribboncmd.Success, ribboncmd.EventTimeout, ribboncmd.EventFallbackSuccess)
		if took := time.Since(begin); took != 100*ms {
			d.Errorf("took %v", took)
		}
		wait(499 * ms)
		d.do(&ribboncmd.Task[string]{Run: value("v")}).want(d, "", ribboncmd.SemaphoreRejected, ribboncmd.EventSemaphoreRejected, ribboncmd.EventFallbackMissing)
		wait(2 * ms)
		d.do(&ribboncmd.Task[string]{Run: value("v")}).want(d, "v", ribboncmd.Success, ribboncmd.EventSuccess)
	})
	atDesk(t, "hystrix 24 and 25 timeout, no fallback", func(d *desk) {
		r := d.do(&ribboncmd.Task[string]{Run: later(3*time.Second, "v")})
		r.want(d, "", ribboncmd.Timeout, ribboncmd.EventTimeout, ribboncmd.EventFallbackMissing)
		if !errors.Is(r.err, ribboncmd.ErrTimeout) || r.report.Execution < time.Second {
			d.Errorf("error %v after %v", r.err, r.report.Execution)
		}
	})
	atDesk(t, "hystrix 26 timeout, fallback fails", func(d *desk) {
		d.do(&ribboncmd.Task[string]{Run: later(3*time.Second, "v"), Fallback: noSpare(errBoom)}).
			want(d, "", ribboncmd.Timeout, ribboncmd.EventTimeout, ribboncmd.EventFallbackFailure)
	})
	atDesk(t, "hystrix 27 late value is discarded", func(d *desk) {
		var discarded atomic.Value
		r := d.do(&ribboncmd.Task[string]{Run: deaf(1500 * ms), Discard: func(v string) { discarded.Store(v) }})
		r.want(d, "", ribboncmd.Timeout, ribboncmd.EventTimeout, ribboncmd.EventFallbackMissing)
		wait(time.Second)
		if discarded.Load() != "late" || d.snapshot().Events[ribboncmd.EventSuccess] != 0 {
			d.Errorf("discarded %v, events %v", discarded.Load(), d.snapshot().Events)
		}
	})
	atDesk(t, "late value of an inline call", func(d *desk) {
		discarded := ""
		r := d.do(&ribboncmd.Task[string]{Run: deaf(1500 * ms), Discard: func(v string) { discarded = v }, Inline: true})
		r.want(d, "", ribboncmd.Timeout, ribboncmd.EventTimeout, ribboncmd.EventFallbackMissing)
		if discarded != "late" {
			d.Errorf("discarded %q", discarded)
		}
	})
	atDesk(t, "hystrix 28 no deadline", func(d *desk) {
		d.configure(func(s *ribboncmd.Settings) { s.Timeout, s.TimeoutEnabled = 100*ms, false })
		r := d.do(&ribboncmd.Task[string]{Run: later(900*ms, "v")})
		r.want(d, "v", ribboncmd.Success, ribboncmd.EventSuccess)
		if r.report.Execution < 900*ms {
			d.Errorf("took %v", r.report.Execution)
		}
	})
	atDesk(t, "hystrix 29 the deadline covers the queue", func(d *desk) {
		d.pool(1, 5)
		timeout(d, 600*ms)
		first := d.spawn(d.context(), &ribboncmd.Task[string]{Run: later(500*ms, "v")})
		begin := time.Now()
		r := d.do(&ribboncmd.Task[string]{Run: later(500*ms, "v")})
		r.want(d, "", ribboncmd.Timeout, ribboncmd.EventTimeout, ribboncmd.EventFallbackMissing)
		if took := time.Since(begin); took != 600*ms || r.report.Execution != 100*ms {
			d.Errorf("took %v, ran %v", took, r.report.Execution)
		}
		(<-first).want(d, "v", ribboncmd.Success, ribboncmd.EventSuccess)
	})
	for name, interrupt := range map[string]bool{"hystrix 30 interruptOnTimeout": true, "hystrix 30 without": false} {
		atDesk(t, name, func(d *desk) {
			d.configure(func(s *ribboncmd.Settings) { s.InterruptOnTimeout = interrupt })
			d.wantInterrupt(d.context(), interrupt, ribboncmd.Timeout, ribboncmd.EventTimeout, ribboncmd.EventFallbackMissing)
		})
	}
	for name, interrupt := range map[string]bool{"hystrix 31 interruptOnFutureCancel": true, "hystrix 31 and 32 without": false} {
		atDesk(t, name, func(d *desk) {
			d.configure(func(s *ribboncmd.Settings) { s.InterruptOnCancel, s.Timeout = interrupt, 5*time.Second })
			ctx, cancel := context.WithCancel(d.context())
			time.AfterFunc(50*ms, cancel)
			d.wantInterrupt(ctx, interrupt, ribboncmd.Cancelled, ribboncmd.EventCancelled)
		})
	}
	atDesk(t, "neither interrupt", func(d *desk) {
		d.configure(func(s *ribboncmd.Settings) { s.InterruptOnCancel, s.InterruptOnTimeout = false, false })
		d.wantInterrupt(d.context(), false, ribboncmd.Timeout, ribboncmd.EventTimeout, ribboncmd.EventFallbackMissing)
	})
	atDesk(t, "hystrix 33 cancelled in the queue", func(d *desk) {
		d.pool(1, 5)
		first := d.spawn(d.context(), &ribboncmd.Task[string]{Run: later(500*ms, "v")})
		ctx, cancel := context.WithCancel(d.context())
		queued := d.spawn(ctx, &ribboncmd.Task[string]{Run: value("never")})
		cancel()
		r := <-queued
		r.want(d, "", ribboncmd.Cancelled, ribboncmd.EventCancelled)
		if r.report.Execution >= 0 || d.commands.Pools()[0].Waiting != 0 {
			d.Errorf("ran %v, %d waiting", r.report.Execution, d.commands.Pools()[0].Waiting)
		}
		(<-first).want(d, "v", ribboncmd.Success, ribboncmd.EventSuccess)
	})
	atDesk(t, "hystrix 34 cancelled while running", func(d *desk) {
		ctx, cancel := context.WithCancel(d.context())
		done := d.spawn(ctx, &ribboncmd.Task[string]{Run: later(500*ms, "v"), Fallback: spare})
		cancel()
		(<-done).want(d, "", ribboncmd.Cancelled, ribboncmd.EventCancelled)
	})
	atDesk(t, "hystrix 36 cancelled with the value in hand", func(d *desk) {
		ctx, cancel := context.WithCancel(d.context())
		run := func(context.Context) (string, error) {
			cancel()
			return "v", nil
		}
		d.doContext(ctx, &ribboncmd.Task[string]{Run: run, Inline: true}).want(d, "v", ribboncmd.Success, ribboncmd.EventSuccess)
	})
	atDesk(t, "hystrix 38 a deaf call keeps its worker", func(d *desk) {
		d.pool(1, -1)
		timeout(d, 100*ms)
		d.do(&ribboncmd.Task[string]{Run: deaf(600 * ms)}).want(d, "", ribboncmd.Timeout, ribboncmd.EventTimeout, ribboncmd.EventFallbackMissing)
		wait(100 * ms)
		d.do(&ribboncmd.Task[string]{Run: value("v")}).want(d, "", ribboncmd.ThreadPoolRejected, ribboncmd.EventThreadPoolRejected, ribboncmd.EventFallbackMissing)
		wait(time.Second)
	})
}

// wantInterrupt does a call whose context is watched for two seconds.
func (d *desk) wantInterrupt(ctx context.Context, want bool, outcome ribboncmd.Outcome, events ...ribboncmd.Event) {
	d.Helper()
	saw := make(chan bool, 1)
	run := func(ctx context.Context) (string, error) {
		select {
		case <-ctx.Done():
			saw <- true
			return "", context.Cause(ctx)
		case <-time.After(2 * time.Second):
			saw <- false
			return "", nil
		}
	}
	d.doContext(ctx, &ribboncmd.Task[string]{Run: run}).want(d, "", outcome, events...)
	if got := <-saw; got != want {
		d.Errorf("the call was interrupted: %v, want %v", got, want)
	}
}
