package ribboncmd_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/ribboncmd"
)

func TestSlowCalls(t *testing.T) {
	sluggish := quick()
	sluggish.Breaker.RequestVolumeThreshold = 4
	sluggish.SlowCall = ribboncmd.SlowCallSettings{Duration: 100 * ms, Percentage: 50}
	scenario(t, "half of the calls are slow", sluggish, func(b *bench) {
		b.times(2, succeed)
		b.times(2, slow(101*ms))
		b.tick()
		b.wantState(ribboncmd.Open)
		if s := b.snapshot(); s.Slow != 2 || s.Errors != 0 {
			b.Errorf("%d slow, %d errors", s.Slow, s.Errors)
		}
	})
	scenario(t, "just not slow", sluggish, func(b *bench) {
		b.times(4, slow(100*ms))
		b.tick()
		b.wantState(ribboncmd.Closed)
	})
	scenario(t, "a slow trial opens the circuit again, a quick one closes it", sluggish, func(b *bench) {
		b.times(4, slow(101*ms))
		b.tick()
		b.wantState(ribboncmd.Open)
		b.sleep(250 * ms)
		b.times(1, slow(101*ms))
		b.wantState(ribboncmd.Open)
		b.sleep(250 * ms)
		b.times(1, succeed)
		b.wantState(ribboncmd.Closed)
	})
	scenario(t, "cancelled and refused calls are not slow", sluggish, func(b *bench) {
		for range 4 {
			ctx, cancel := context.WithTimeout(b.Context(), time.Hour)
			time.AfterFunc(200*ms, cancel)
			_, _ = b.doContext(ctx, hang)
		}
		b.tick()
		b.wantHealth(0, 0)
		if n := b.snapshot().Slow; n != 0 {
			b.Errorf("%d slow", n)
		}
	})
	scenario(t, "off", quick(), func(b *bench) {
		b.times(4, slow(400*ms))
		b.tick()
		b.wantState(ribboncmd.Closed)
		if n := b.snapshot().Slow; n != 0 {
			b.Errorf("%d slow", n)
		}
	})
}

func TestEager(t *testing.T) {
	eager := quick()
	eager.Breaker.Eager, eager.Breaker.RequestVolumeThreshold = true, 3
	scenario(t, "Q19 opens at the failure that is one too many", eager, func(b *bench) {
		b.times(1, succeed)
		b.times(1, fail)
		b.wantState(ribboncmd.Closed)
		b.times(1, fail)
		b.wantState(ribboncmd.Open)
	})
	scenario(t, "closed buckets count too", eager, func(b *bench) {
		b.times(2, fail)
		b.tick()
		b.times(1, fail)
		b.wantState(ribboncmd.Open)
	})
	lazy := eager
	lazy.Breaker.Eager = false
	scenario(t, "Q19 without, at the next snapshot", lazy, func(b *bench) {
		b.times(3, fail)
		b.wantState(ribboncmd.Closed)
		b.tick()
		b.wantState(ribboncmd.Open)
	})
}

func TestFailureStatus(t *testing.T) {
	strict := quick()
	strict.FailureStatus = func(status int) bool { return status >= http.StatusInternalServerError }
	answers := func(status int) ribboncmd.Run {
		return func(context.Context) (*http.Response, error) { return response(status, "theirs"), nil }
	}
	scenario(t, "Q20 counts if it is asked to, and is passed on without a fallback", strict, func(b *bench) {
		b.provider = answer("spare")
		b.reload(func(*ribboncmd.Settings) {})
		if got, err := b.do(answers(503)); got != "theirs" || err != nil {
			b.Errorf("got %q, %v", got, err)
		}
		b.tick()
		b.wantHealth(1, 1)
		b.wantState(ribboncmd.Open)
	})
	scenario(t, "as the result of a trial", strict, func(b *bench) {
		b.trip()
		b.sleep(250 * ms)
		b.times(1, answers(500))
		b.wantState(ribboncmd.Open)
		b.sleep(250 * ms)
		b.times(1, answers(404))
		b.wantState(ribboncmd.Closed)
	})
}

// load is a crowd that calls a service of limited capacity over and over.
type load struct {
	base     atomic.Int64 // latency of a call that is alone
	capacity int64
	inFlight atomic.Int64
}

// call takes longer the more calls there are beyond the capacity.
func (l *load) call(context.Context) (string, error) {
	n := l.inFlight.Add(1)
	defer l.inFlight.Add(-1)
	took := l.base.Load()
	if n > l.capacity {
		took = took * n / l.capacity
	}
	wait(time.Duration(took))
	return "v", nil
}

// crowd calls from n goroutines until stop is called.
func (d *desk) crowd(n int, l *load) (stop func()) {
	d.Helper()
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(d.Context())
	for i := range n {
		wg.Go(func() {
			wait(time.Duration(i) * ms)
			for ctx.Err() == nil {
				if r := d.do(&ribboncmd.Task[string]{Key: geo, Run: l.call, Inline: true}); r.err != nil {
					wait(50 * ms)
				}
			}
		})
	}
	return func() {
		cancel()
		wg.Wait()
	}
}

func TestAdaptiveLimit(t *testing.T) {
	adapt := func(d *desk) {
		d.configure(func(s *ribboncmd.Settings) {
			s.Isolation, s.MaxConcurrent, s.Adaptive = ribboncmd.Semaphore, 1, ribboncmd.DefaultAdaptiveSettings()
			s.Adaptive.Enabled, s.TimeoutEnabled, s.Breaker.Enabled = true, false, false
		})
	}
	atDesk(t, "grows while the latency is steady, shrinks when it is not", func(d *desk) {
		adapt(d)
		l := &load{capacity: 60}
		l.base.Store(int64(100 * ms))
		defer d.crowd(150, l)()
		d.sleep(2 * time.Second)
		if n := d.snapshot().Limit; n < 20 || n > 40 {
			d.Errorf("limit %d in the beginning", n)
		}
		d.sleep(time.Minute)
		good := d.snapshot().Limit
		if good < 60 || good > 130 {
			d.Errorf("limit %d for a capacity of 60", good)
		}
		l.base.Store(int64(2 * time.Second))
		d.sleep(time.Minute)
		if bad := d.snapshot().Limit; bad > good/2 {
			d.Errorf("limit %d when slow, %d before", bad, good)
		}
		if most := d.snapshot().MaxConcurrent; most > 200 {
			d.Errorf("%d calls at once", most)
		}
	})
	atDesk(t, "stays when less than half is in use", func(d *desk) {
		adapt(d)
		l := &load{capacity: 100}
		l.base.Store(int64(10 * ms))
		defer d.crowd(5, l)()
		d.sleep(time.Minute)
		if n := d.snapshot().Limit; n != 20 {
			d.Errorf("limit %d", n)
		}
	})
	atDesk(t, "never beyond its bounds", func(d *desk) {
		adapt(d)
		d.configure(func(s *ribboncmd.Settings) { s.Adaptive.Max = 30 })
		l := &load{capacity: 1000}
		l.base.Store(int64(10 * ms))
		defer d.crowd(100, l)()
		d.sleep(time.Minute)
		if n := d.snapshot().Limit; n != 30 {
			d.Errorf("limit %d", n)
		}
		l.base.Store(int64(10 * time.Second))
		d.sleep(5 * time.Minute)
		if n := d.snapshot().Limit; n < 20 || n > 30 {
			d.Errorf("limit %d", n)
		}
	})
	atDesk(t, "off: the permits of the settings", func(d *desk) {
		d.semaphore(7)
		d.do(&ribboncmd.Task[string]{Run: value("v")})
		if n := d.snapshot().Limit; n != 7 {
			d.Errorf("limit %d", n)
		}
	})
}

func TestResilienceIsValidated(t *testing.T) {
	for name, change := range map[string]func(*ribboncmd.Settings){
		"slow share without duration": func(s *ribboncmd.Settings) { s.SlowCall.Percentage = 50 },
		"negative slow share":         func(s *ribboncmd.Settings) { s.SlowCall = ribboncmd.SlowCallSettings{Percentage: -1} },
		"limits out of order": func(s *ribboncmd.Settings) {
			s.Adaptive = ribboncmd.AdaptiveSettings{Enabled: true, Min: 5, Max: 4, Initial: 5, Tolerance: 2}
		},
		"no limits": func(s *ribboncmd.Settings) { s.Adaptive = ribboncmd.AdaptiveSettings{Enabled: true, Tolerance: 2} },
		"no tolerance": func(s *ribboncmd.Settings) {
			s.Adaptive = ribboncmd.DefaultAdaptiveSettings()
			s.Adaptive.Enabled, s.Adaptive.Tolerance = true, 0.5
		},
		"buckets that do not divide": func(s *ribboncmd.Settings) { s.Buckets = 7 },
	} {
		t.Run(name, func(t *testing.T) {
			s := ribboncmd.DefaultSettings()
			if change(&s); s.Validate() == nil {
				t.Error("valid")
			}
		})
	}
	s := ribboncmd.DefaultSettings()
	s.Adaptive = ribboncmd.DefaultAdaptiveSettings()
	s.Adaptive.Enabled = true
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
}
