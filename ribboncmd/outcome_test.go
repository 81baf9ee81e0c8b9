package ribboncmd_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/fallback"
	"github.com/gozer-gateway/gozer/ribboncmd"
)

// execution is one call under a set of conditions.
type execution struct {
	outcome  ribboncmd.Outcome
	event    ribboncmd.Event
	cause    error // found in the error
	health   [2]int64
	upstream int64
	arrange  func(b *bench) // conditions before the call
	run      ribboncmd.Run
	ctx      func(ctx context.Context) context.Context
}

func executions() map[string]execution {
	exhaust := func(b *bench) {
		for range b.settings.MaxConcurrent {
			b.spawn(slow(400 * time.Millisecond))
		}
		b.calls.Store(0)
	}
	asThread := func(b *bench) {
		b.reload(func(s *ribboncmd.Settings) { s.Isolation = ribboncmd.Thread; s.Pool.CoreSize = 1 })
		b.spawn(slow(400 * time.Millisecond))
		b.calls.Store(0)
	}
	return map[string]execution{
		"failure": {
			outcome: ribboncmd.Failure, event: ribboncmd.EventFailure, cause: errBoom, health: [2]int64{1, 1}, upstream: 1, run: fail,
		},
		"timeout": {
			outcome: ribboncmd.Timeout, event: ribboncmd.EventTimeout, cause: ribboncmd.ErrTimeout, health: [2]int64{1, 1}, upstream: 1, run: hang,
		},
		"caller's own deadline": {
			outcome: ribboncmd.Timeout, event: ribboncmd.EventTimeout, cause: ribboncmd.ErrTimeout, health: [2]int64{1, 1}, upstream: 1, run: hang,
			ctx: func(ctx context.Context) context.Context {
				ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
				time.AfterFunc(time.Second, cancel)
				return ctx
			},
		},
		"short circuit": {
			outcome: ribboncmd.ShortCircuited, event: ribboncmd.EventShortCircuited, cause: ribboncmd.ErrShortCircuited, run: succeed,
			arrange: func(b *bench) { b.reload(func(s *ribboncmd.Settings) { s.Breaker.ForceOpen = true }) },
		},
		"semaphore rejection": {
			outcome: ribboncmd.SemaphoreRejected, event: ribboncmd.EventSemaphoreRejected, cause: ribboncmd.ErrSemaphoreRejected,
			health: [2]int64{1, 1}, run: succeed, arrange: exhaust,
		},
		"pool rejection": {
			outcome: ribboncmd.ThreadPoolRejected, event: ribboncmd.EventThreadPoolRejected, cause: ribboncmd.ErrThreadPoolRejected,
			health: [2]int64{1, 1}, run: succeed, arrange: asThread,
		},
	}
}

// TestOutcomeByFallback is the table of hystrix 1.3: each failure with each
// fate of its fallback.
func TestOutcomeByFallback(t *testing.T) {
	errSpare := errors.New("spare is broken")
	fates := map[string]struct {
		provider fallback.Provider
		change   func(*ribboncmd.Settings)
		event    ribboncmd.Event
		err      error // in FallbackErr; nil: the fallback answers
	}{
		"answers": {provider: answer("spare"), event: ribboncmd.EventFallbackSuccess},
		"is missing": {
			event: ribboncmd.EventFallbackMissing, err: ribboncmd.ErrNoFallback,
		},
		"fails": {provider: failing(errSpare), event: ribboncmd.EventFallbackFailure, err: errSpare},
		"is disabled": {
			provider: answer("spare"), change: func(s *ribboncmd.Settings) { s.Fallback.Enabled = false },
			event: ribboncmd.EventFallbackDisabled, err: ribboncmd.ErrFallbackDisabled,
		},
		"is busy": {
			provider: answer("spare"), change: func(s *ribboncmd.Settings) { s.Fallback.MaxConcurrent = 0 },
			event: ribboncmd.EventFallbackRejection, err: ribboncmd.ErrFallbackRejected,
		},
	}
	numbers := map[string]string{ // of the cells that the original's tests cover
		"failure, fallback is missing":  "hystrix 3 ",
		"failure, fallback answers":     "hystrix 4 ",
		"failure, fallback fails":       "hystrix 5 ",
		"failure, fallback is disabled": "hystrix 6 and 7 ",
		"timeout, fallback is missing":  "hystrix 24 ",
		"timeout, fallback answers":     "hystrix 26 ",
		"timeout, fallback fails":       "hystrix 26 ",
	}
	for name, x := range executions() {
		for fate, f := range fates {
			cell := name + ", fallback " + fate
			t.Run(numbers[cell]+cell, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := lenient()
					s.MaxConcurrent = 2
					if f.change != nil {
						f.change(&s)
					}
					b := start(t, s, f.provider)
					got, err := x.play(b)
					if f.err == nil {
						if got != "spare" || err != nil {
							t.Errorf("got %q, %v", got, err)
						}
					} else {
						wantFailure(t, err, x, f.err)
					}
					if n := b.snapshot().Events[f.event]; n != 1 {
						t.Errorf("%v counted %d times", f.event, n)
					}
					if n := b.snapshot().Events[ribboncmd.EventExceptionThrown]; (n == 1) != (f.err != nil) {
						t.Errorf("%d errors counted as returned", n)
					}
				})
			})
		}
	}
}

// play runs the execution and checks what does not depend on its fallback.
func (x execution) play(b *bench) (string, error) {
	b.Helper()
	if x.arrange != nil {
		x.arrange(b)
	}
	ctx := b.Context()
	if x.ctx != nil {
		ctx = x.ctx(ctx)
	}
	got, err := b.doContext(ctx, x.run)
	if n := b.calls.Load(); n != x.upstream {
		b.Errorf("%d calls reached upstream, want %d", n, x.upstream)
	}
	if n := b.snapshot().Events[x.event]; n != 1 {
		b.Errorf("%v counted %d times", x.event, n)
	}
	b.tick()
	b.wantHealth(x.health[0], x.health[1])
	b.sleep(time.Second)
	return got, err
}

func wantFailure(t *testing.T, err error, x execution, fallbackErr error) {
	t.Helper()
	outcome := x.outcome
	if errors.Is(fallbackErr, ribboncmd.ErrFallbackRejected) {
		outcome = ribboncmd.FallbackRejected
	}
	e := wantError(t, err, outcome)
	if e.Execution != x.outcome || !errors.Is(err, x.cause) || !errors.Is(e.FallbackErr, fallbackErr) {
		t.Errorf("execution %v, error %v, fallback's %v", e.Execution, err, e.FallbackErr)
	}
}

func TestOutcomes(t *testing.T) {
	t.Run("hystrix 1 success", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, lenient(), nil)
			if got, err := b.do(succeed); got != "ok" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
			b.wantEvents(ribboncmd.EventSuccess)
		})
	})
	t.Run("hystrix 4 the provider learns the cause", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, lenient(), causeTeller)
			if got, _ := b.do(fail); got != "users COMMAND_EXCEPTION boom=true" {
				t.Errorf("got %q", got)
			}
			b.wantEvents(ribboncmd.EventFailure, ribboncmd.EventFallbackSuccess)
		})
	})
	t.Run("hystrix 10 bad request gets no fallback", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, lenient(), answer("spare"))
			_, err := b.do(func(context.Context) (*http.Response, error) {
				return nil, fmt.Errorf("reading body: %w", ribboncmd.AsBadRequest(errBoom))
			})
			wantOutcome(t, err, ribboncmd.BadRequest)
			if !errors.Is(err, errBoom) {
				t.Errorf("error is %v", err)
			}
			b.wantEvents(ribboncmd.EventBadRequest)
			b.tick()
			b.wantHealth(0, 0)
		})
	})
	t.Run("hystrix 16 fallback executes another command", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, lenient(), nil)
			inner := b.commands.Command("orders", lenient(), nil)
			b.provider = fallback.Func(func(ctx context.Context, _ string, _ error) (*http.Response, error) {
				return inner.Execute(ctx, succeed)
			})
			b.reload(func(*ribboncmd.Settings) {})
			if got, err := b.do(fail); got != "ok" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
		})
	})
	t.Run("hystrix 22 the call returns our rejection", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			for _, own := range []error{
				ribboncmd.ErrThreadPoolRejected, ribboncmd.ErrSemaphoreRejected, ribboncmd.ErrTimeout,
				ribboncmd.ErrShortCircuited, context.Canceled, context.DeadlineExceeded,
			} {
				b := start(t, lenient(), nil)
				_, err := b.do(func(context.Context) (*http.Response, error) { return nil, own })
				wantOutcome(t, err, ribboncmd.Failure)
				b.wantEvents(ribboncmd.EventFailure, ribboncmd.EventFallbackMissing)
			}
		})
	})
	t.Run("neither response nor error", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, lenient(), nil)
			_, err := b.do(func(context.Context) (*http.Response, error) { return nil, nil })
			wantOutcome(t, err, ribboncmd.Failure)
		})
	})
}

// causeTeller answers with what it was called with.
var causeTeller = fallback.Func(func(_ context.Context, service string, cause error) (*http.Response, error) {
	var e *ribboncmd.Error
	if !errors.As(cause, &e) {
		return nil, cause
	}
	return response(http.StatusOK, fmt.Sprintf("%s %v boom=%v", service, e.Outcome, errors.Is(cause, errBoom))), nil
})

func TestStatusesAreSuccesses(t *testing.T) {
	status := func(code int) ribboncmd.Run {
		return func(context.Context) (*http.Response, error) { return response(code, "theirs"), nil }
	}
	for _, code := range []int{http.StatusNotFound, http.StatusInternalServerError, http.StatusServiceUnavailable} {
		t.Run(fmt.Sprintf("C169 upstream %d is relayed", code), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := start(t, quick(), answer("spare"))
				if got, err := b.do(status(code)); got != "theirs" || err != nil {
					t.Errorf("got %q, %v", got, err)
				}
				b.tick()
				b.wantHealth(1, 0)
				b.wantState(ribboncmd.Closed)
			})
		})
	}
	t.Run("failure status counts and is relayed", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := quick()
			s.FailureStatus = func(code int) bool { return code >= http.StatusInternalServerError }
			b := start(t, s, answer("spare"))
			if got, err := b.do(status(http.StatusBadGateway)); got != "theirs" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
			b.wantEvents(ribboncmd.EventFailure)
			b.tick()
			b.wantState(ribboncmd.Open)
		})
	})
}

func TestAbnormalEndsOfTheCall(t *testing.T) {
	ends := map[string]func(){
		"panic":  func() { panic(errBoom) },
		"goexit": runtime.Goexit,
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := start(t, lenient(), answer("spare"))
				var ctx context.Context
				recovered := make(chan any)
				go func() {
					defer func() { recovered <- recover() }()
					_, _ = b.do(func(c context.Context) (*http.Response, error) {
						remember(c, &ctx)
						_ = c.Done()
						end()
						return nil, nil
					})
				}()
				got := <-recovered
				if (got != nil) != (name == "panic") {
					t.Errorf("recovered %v", got)
				}
				if ctx.Err() == nil {
					t.Error("the context goes on")
				}
				b.wantEvents(ribboncmd.EventFailure)
				b.tick()
				b.wantHealth(1, 1)
			})
		})
	}
}

func TestErrorTexts(t *testing.T) {
	spare := errors.New("no spare")
	text := func(o ribboncmd.Outcome, fallbackErr error) string {
		return (&ribboncmd.Error{Service: "users", Outcome: o, Err: errBoom, FallbackErr: fallbackErr}).Error()
	}
	tests := []struct{ got, want string }{
		{text(ribboncmd.Failure, ribboncmd.ErrNoFallback), "ribboncmd: users failed and no fallback available: boom"},
		{text(ribboncmd.Timeout, spare), "ribboncmd: users timed-out and fallback failed: boom; fallback: no spare"},
		{text(ribboncmd.ShortCircuited, ribboncmd.ErrFallbackDisabled), "ribboncmd: users short-circuited and fallback disabled: boom"},
		{text(ribboncmd.SemaphoreRejected, ribboncmd.ErrNoFallback), "ribboncmd: users could not acquire a semaphore for execution and no fallback available: boom"},
		{text(ribboncmd.ThreadPoolRejected, nil), "ribboncmd: users could not be queued for execution: boom"},
		{text(ribboncmd.FallbackRejected, ribboncmd.ErrFallbackRejected), "ribboncmd: users fallback execution rejected: boom"},
		{text(ribboncmd.Cancelled, nil), "ribboncmd: users cancelled: boom"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("got  %s\nwant %s", tt.got, tt.want)
		}
	}
}

func TestFailureTypes(t *testing.T) {
	var names []string
	for o := ribboncmd.Success; o <= ribboncmd.Cancelled; o++ {
		names = append(names, o.String())
	}
	want := "SUCCESS COMMAND_EXCEPTION TIMEOUT SHORTCIRCUIT REJECTED_SEMAPHORE_EXECUTION REJECTED_THREAD_EXECUTION " +
		"REJECTED_SEMAPHORE_FALLBACK BAD_REQUEST_EXCEPTION CANCELLED"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got %s", got)
	}
}
