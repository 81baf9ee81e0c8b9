package ribboncmd_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/ribboncmd"
)

func scenario(t *testing.T, name string, s ribboncmd.Settings, play func(b *bench)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { play(start(t, s, nil)) })
	})
}

func TestTrip(t *testing.T) {
	volume := func(n int) ribboncmd.Settings {
		s := quick()
		s.Breaker.RequestVolumeThreshold = n
		return s
	}
	threshold := func(percent int) ribboncmd.Settings {
		s := volume(100)
		s.Breaker.ErrorThresholdPercentage = percent
		return s
	}
	type step struct {
		n   int
		run ribboncmd.Run
	}
	timeout := slow(600 * time.Millisecond)
	tests := []struct {
		name     string
		settings ribboncmd.Settings
		steps    []step
		want     ribboncmd.State
	}{
		{"hystrix 54 four successes, four failures", volume(8), []step{{4, succeed}, {4, fail}}, ribboncmd.Open},
		{"hystrix 55 one success is slow", volume(8), []step{{3, succeed}, {1, slow(200 * time.Millisecond)}, {4, fail}}, ribboncmd.Open},
		{"hystrix 56 37 percent", volume(8), []step{{5, succeed}, {3, fail}}, ribboncmd.Closed},
		{"hystrix 57 four timeouts", volume(4), []step{{4, timeout}}, ribboncmd.Open},
		{"hystrix 58 55 percent timeouts", volume(9), []step{{4, succeed}, {5, timeout}}, ribboncmd.Open},
		{"hystrix 59 below the volume", volume(5), []step{{4, fail}}, ribboncmd.Closed},
		{"hystrix 70 last one succeeds", volume(3), []step{{2, fail}, {1, succeed}}, ribboncmd.Open},
		{"hystrix 71 fifteen failures, five successes", volume(20), []step{{15, fail}, {5, succeed}}, ribboncmd.Open},
		{"hystrix 78 29 of 100 at threshold 29", threshold(29), []step{{71, succeed}, {29, fail}}, ribboncmd.Open},
		{"hystrix 78 28 of 100 at threshold 29", threshold(29), []step{{72, succeed}, {28, fail}}, ribboncmd.Closed},
		{"hystrix 79 threshold 101", threshold(101), []step{{100, fail}}, ribboncmd.Closed},
	}
	for _, tt := range tests {
		scenario(t, tt.name, tt.settings, func(b *bench) {
			for _, s := range tt.steps {
				b.times(s.n, s.run)
			}
			b.tick()
			b.wantState(tt.want)
		})
	}
}

// trip opens the circuit and tells when.
func (b *bench) trip() {
	b.Helper()
	b.times(b.settings.Breaker.RequestVolumeThreshold, fail)
	b.tick()
	b.wantState(ribboncmd.Open)
	b.calls.Store(0)
}

func (b *bench) wantCalls(want int64) {
	b.Helper()
	if got := b.calls.Load(); got != want {
		b.Fatalf("%d calls reached upstream, want %d", got, want)
	}
}

func TestSleepAndTrial(t *testing.T) {
	const sleep, pause = 200 * time.Millisecond, 250 * time.Millisecond
	scenario(t, "hystrix 60 one admission", quick(), func(b *bench) {
		b.trip()
		b.sleep(pause)
		trial := b.spawn(slow(100 * time.Millisecond))
		_, err := b.do(succeed)
		wantOutcome(b, err, ribboncmd.ShortCircuited)
		b.wantCalls(1)
		if !b.snapshot().IsOpen {
			b.Error("not shown as open during the trial")
		}
		wantSuccess(b, trial)
	})
	scenario(t, "hystrix 61 trial succeeds", quick(), func(b *bench) {
		b.trip()
		b.sleep(pause)
		b.times(5, succeed)
		b.wantCalls(5)
		b.wantState(ribboncmd.Closed)
		b.tick()
		b.wantState(ribboncmd.Closed)
		b.wantHealth(5, 0)
	})
	scenario(t, "hystrix 62 trial fails again and again", quick(), func(b *bench) {
		b.trip()
		for range 3 {
			b.sleep(pause)
			b.times(5, fail)
			b.wantState(ribboncmd.Open)
		}
		b.wantCalls(3)
		b.sleep(pause)
		b.times(1, succeed)
		b.wantState(ribboncmd.Closed)
	})
	scenario(t, "hystrix 63 C159 trial is cancelled", quick(), func(b *bench) {
		b.trip()
		b.sleep(pause)
		ctx, cancel := context.WithCancel(b.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		_, err := b.doContext(ctx, hang)
		wantOutcome(b, err, ribboncmd.Cancelled)
		b.wantState(ribboncmd.HalfOpen)
		b.times(1, succeed)
		b.wantState(ribboncmd.Closed)
	})
	scenario(t, "hystrix 74 Q13 bad request as trial", quick(), func(b *bench) {
		b.trip()
		b.sleep(pause)
		_, err := b.do(func(context.Context) (*http.Response, error) { return nil, ribboncmd.AsBadRequest(errBoom) })
		wantOutcome(b, err, ribboncmd.BadRequest)
		b.wantState(ribboncmd.HalfOpen)
		b.times(1, succeed)
		b.wantState(ribboncmd.Closed)
	})
	scenario(t, "C161 a 404 trial closes the circuit", quick(), func(b *bench) {
		b.trip()
		b.sleep(pause)
		b.times(1, func(context.Context) (*http.Response, error) { return response(http.StatusNotFound, ""), nil })
		b.wantState(ribboncmd.Closed)
	})
	scenario(t, "hystrix 72 Q1 short circuit during the trial", quick(), func(b *bench) {
		b.trip()
		b.sleep(pause)
		trial := b.spawn(slow(100 * time.Millisecond))
		_, err := b.do(succeed)
		wantOutcome(b, err, ribboncmd.ShortCircuited)
		wantSuccess(b, trial)
		b.wantState(ribboncmd.Closed)
	})
	scenario(t, "hystrix 73 Q10 late success from before the trip", quick(), func(b *bench) {
		b.reload(func(s *ribboncmd.Settings) { s.TimeoutEnabled = false; s.Breaker.SleepWindow = time.Second })
		old := b.spawn(slow(1300 * time.Millisecond))
		b.trip()
		b.sleep(1100 * time.Millisecond)
		trial := b.spawn(slow(500 * time.Millisecond))
		wantSuccess(b, old)
		b.wantState(ribboncmd.HalfOpen)
		wantSuccess(b, trial)
		b.wantState(ribboncmd.Closed)
	})
	scenario(t, "hystrix 75 trial is rejected", quick(), func(b *bench) {
		b.reload(func(s *ribboncmd.Settings) { s.MaxConcurrent = 1; s.Timeout = 10 * time.Second })
		busy := b.spawn(slow(2 * time.Second))
		b.times(1, fail)
		b.tick()
		b.wantState(ribboncmd.Open)
		b.sleep(pause)
		_, err := b.do(succeed)
		wantOutcome(b, err, ribboncmd.SemaphoreRejected)
		b.wantState(ribboncmd.Open)
		_, err = b.do(succeed)
		wantOutcome(b, err, ribboncmd.ShortCircuited)
		wantSuccess(b, busy)
	})
	scenario(t, "hystrix 76 Q11 trial never reports", quick(), func(b *bench) {
		b.reload(func(s *ribboncmd.Settings) { s.TimeoutEnabled = false })
		b.trip()
		b.sleep(pause)
		stuck := b.spawn(func(ctx context.Context) (*http.Response, error) {
			_, err := stubborn(time.Hour)(ctx)
			return nil, err
		})
		b.sleep(sleep)
		_, err := b.do(succeed)
		wantOutcome(b, err, ribboncmd.ShortCircuited)
		b.sleep(1)
		b.times(1, succeed)
		b.wantState(ribboncmd.Closed)
		wantOutcome(b, <-stuck, ribboncmd.Failure)
		b.wantState(ribboncmd.Closed)
	})
	scenario(t, "a cancelled trial lets the next one in, however long the timeout", quick(), func(b *bench) {
		b.trip()
		b.sleep(pause)
		b.reload(func(s *ribboncmd.Settings) { s.Timeout = math.MaxInt64 })
		ctx, cancel := context.WithCancel(b.Context())
		cancel()
		_, err := b.doContext(ctx, hang)
		wantOutcome(b, err, ribboncmd.Cancelled)
		b.times(1, succeed)
		b.wantState(ribboncmd.Closed)
	})
	scenario(t, "hystrix 77 at the end of the sleep window and a tick later", quick(), func(b *bench) {
		b.trip()
		b.sleep(sleep)
		_, err := b.do(succeed)
		wantOutcome(b, err, ribboncmd.ShortCircuited)
		b.sleep(1)
		if _, err = b.do(succeed); err != nil {
			b.Error(err)
		}
	})
	scenario(t, "hystrix 80 sleep window lowered and raised while open", quick(), func(b *bench) {
		b.reload(func(s *ribboncmd.Settings) { s.Breaker.SleepWindow = time.Hour })
		b.trip()
		b.sleep(time.Second)
		b.reload(func(s *ribboncmd.Settings) { s.Breaker.SleepWindow = 2 * time.Second })
		_, err := b.do(succeed)
		wantOutcome(b, err, ribboncmd.ShortCircuited)
		b.sleep(time.Second + 1)
		b.reload(func(s *ribboncmd.Settings) { s.Breaker.SleepWindow = 3 * time.Second })
		_, err = b.do(succeed)
		wantOutcome(b, err, ribboncmd.ShortCircuited)
		b.sleep(time.Second)
		if _, err = b.do(succeed); err != nil {
			b.Error(err)
		}
	})
	scenario(t, "panicking trial re-opens", quick(), func(b *bench) {
		b.trip()
		b.sleep(pause)
		func() {
			defer func() { _ = recover() }()
			_, _ = b.do(func(context.Context) (*http.Response, error) { panic("trial") })
			b.Error("panic was swallowed")
		}()
		b.wantState(ribboncmd.Open)
	})
}

func TestForceAndDisable(t *testing.T) {
	change := func(f func(*ribboncmd.BreakerSettings)) ribboncmd.Settings {
		s := quick()
		f(&s.Breaker)
		return s
	}
	t.Run("hystrix 64 forceOpen", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, change(func(s *ribboncmd.BreakerSettings) { s.ForceOpen = true }), answer("spare"))
			if got, err := b.do(succeed); got != "spare" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
			b.wantCalls(0)
			b.wantEvents(ribboncmd.EventShortCircuited, ribboncmd.EventFallbackSuccess)
			if !b.snapshot().IsOpen {
				t.Error("not shown as open")
			}
		})
	})
	scenario(t, "hystrix 65 forceClosed", change(func(s *ribboncmd.BreakerSettings) { s.ForceClosed = true }), func(b *bench) {
		b.times(5, fail)
		b.tick()
		b.times(5, fail)
		b.wantCalls(10)
		if b.snapshot().IsOpen {
			b.Error("shown as open")
		}
		b.wantState(ribboncmd.Open)
		b.reload(func(s *ribboncmd.Settings) { s.Breaker.ForceClosed = false })
		_, err := b.do(succeed)
		wantOutcome(b, err, ribboncmd.ShortCircuited)
	})
	scenario(t, "success under forceClosed closes the circuit after the sleep window", change(func(s *ribboncmd.BreakerSettings) { s.ForceClosed = true }), func(b *bench) {
		b.trip()
		b.times(1, succeed)
		b.wantState(ribboncmd.Open)
		b.sleep(250 * time.Millisecond)
		b.times(1, succeed)
		b.wantState(ribboncmd.Closed)
		b.wantCalls(2)
	})
	scenario(t, "hystrix 66 both force flags", change(func(s *ribboncmd.BreakerSettings) { s.ForceOpen, s.ForceClosed = true, true }), func(b *bench) {
		_, err := b.do(succeed)
		wantOutcome(b, err, ribboncmd.ShortCircuited)
		if !b.snapshot().IsOpen {
			b.Error("not shown as open")
		}
	})
	scenario(t, "hystrix 67 breaker disabled", change(func(s *ribboncmd.BreakerSettings) { s.Enabled = false }), func(b *bench) {
		b.times(5, fail)
		b.tick()
		b.times(5, fail)
		b.wantCalls(10)
		b.wantState(ribboncmd.Closed)
	})
}

func TestCommandsShareOneCircuit(t *testing.T) {
	t.Run("hystrix 68 two commands of one key", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := quick()
			s.Breaker.RequestVolumeThreshold = 3
			b := start(t, s, answer("spare"))
			b.times(2, fail)
			b.reload(func(*ribboncmd.Settings) {})
			b.times(1, fail)
			b.tick()
			b.reload(func(*ribboncmd.Settings) {})
			if got, err := b.do(succeed); got != "spare" || err != nil {
				t.Errorf("got %q, %v", got, err)
			}
			b.wantCalls(3)
		})
	})
	scenario(t, "hystrix 69 short circuit without fallback", quick(), func(b *bench) {
		b.trip()
		_, err := b.do(succeed)
		e := wantError(b, err, ribboncmd.ShortCircuited)
		if !errors.Is(err, ribboncmd.ErrShortCircuited) || !errors.Is(e.FallbackErr, ribboncmd.ErrNoFallback) {
			b.Errorf("error is %v, fallback's %v", err, e.FallbackErr)
		}
	})
	scenario(t, "C167 another service is not affected", quick(), func(b *bench) {
		b.trip()
		other := &bench{T: b.T, cmd: b.commands.Command("orders", b.settings, nil)}
		if _, err := other.do(succeed); err != nil {
			b.Error(err)
		}
		if n := len(b.commands.Snapshots()); n != 2 {
			b.Errorf("%d circuits for two services", n)
		}
	})
}

func TestDefaultSettingsTripWithinTheSnapshot(t *testing.T) {
	scenario(t, "twenty failures, then one trial per sleep window", ribboncmd.DefaultSettings(), func(b *bench) {
		b.times(19, fail)
		b.tick()
		b.wantState(ribboncmd.Closed)
		b.times(1, fail)
		b.tick()
		b.wantState(ribboncmd.Open)
		b.calls.Store(0)
		b.times(10, succeed)
		b.wantCalls(0)
		b.sleep(5*time.Second + 1)
		if _, err := b.do(succeed); err != nil {
			b.Error(err)
		}
		b.wantState(ribboncmd.Closed)
	})
}

func TestTransitionsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var heard []string
		b := &bench{T: t, settings: quick()}
		b.commands = ribboncmd.New(func(c ribboncmd.Transition) {
			heard = append(heard, fmt.Sprintf("%s %v>%v", c.Service, c.From, c.To))
			if c.To == ribboncmd.Open {
				wait(250 * time.Millisecond)
				b.times(1, succeed) // the trial: no lock is held
			}
		})
		go b.commands.Run(t.Context())
		b.reload(func(*ribboncmd.Settings) {})
		b.times(1, fail)
		b.tick()
		b.sleep(time.Second)
		want := "[users CLOSED>OPEN users OPEN>HALF_OPEN users HALF_OPEN>CLOSED]"
		if got := fmt.Sprint(heard); got != want {
			t.Errorf("heard %v, want %v", got, want)
		}
	})
}
