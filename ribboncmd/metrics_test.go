package ribboncmd_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/ribboncmd"
)

// roll lets one bucket of the rolling counters close.
func (d *desk) roll() { d.sleep(d.settings.Window / time.Duration(d.settings.Buckets)) }

// sleep lets time pass, and what is due happen.
func (d *desk) sleep(t time.Duration) {
	wait(t)
	synctest.Wait()
}

func (d *desk) wantMost(want int64) {
	d.Helper()
	if got := d.snapshot().MaxConcurrent; got != want {
		d.Errorf("most calls at once: %d, want %d", got, want)
	}
}

func TestMaxConcurrency(t *testing.T) {
	call := func(took time.Duration) *ribboncmd.Task[string] {
		return &ribboncmd.Task[string]{Key: geo, Run: later(took, "v")}
	}
	atDesk(t, "hystrix 90 two overlap in one bucket", func(d *desk) {
		a, b := d.spawn(d.context(), call(100*ms)), d.spawn(d.context(), call(100*ms))
		d.wantMost(0) // the current bucket does not show
		d.roll()
		d.wantMost(2)
		<-a
		<-b
	})
	atDesk(t, "hystrix 91 one lives on into the next bucket", func(d *desk) {
		d.configure(func(s *ribboncmd.Settings) { s.Timeout = time.Minute })
		old := d.spawn(d.context(), call(1500*ms))
		d.roll()
		d.wantMost(1)
		a, b := d.spawn(d.context(), call(100*ms)), d.spawn(d.context(), call(100*ms))
		d.roll()
		d.wantMost(3)
		<-old
		<-a
		<-b
	})
	atDesk(t, "hystrix 92 three overlap, then the window passes", func(d *desk) {
		d.configure(func(s *ribboncmd.Settings) { s.Timeout = time.Minute })
		d.spawn(d.context(), call(3500*ms))
		d.roll()
		d.spawn(d.context(), call(1500*ms))
		d.spawn(d.context(), call(500*ms))
		d.roll()
		d.roll()
		d.roll()
		d.spawn(d.context(), call(100*ms))
		d.roll()
		d.wantMost(3)
		d.sleep(d.settings.Window)
		d.wantMost(0)
	})
	atDesk(t, "hystrix 93 refused calls do not count", func(d *desk) {
		d.semaphore(10)
		for range 20 {
			d.spawn(d.context(), call(100*ms))
		}
		d.roll()
		d.wantMost(10)
		d.configure(func(s *ribboncmd.Settings) { s.Breaker.ForceOpen = true })
		d.sleep(d.settings.Window)
		for range 20 {
			d.do(call(ms))
		}
		d.roll()
		d.wantMost(0)
	})
}

func TestLatencies(t *testing.T) {
	bad := func(took time.Duration, err error) *ribboncmd.Task[string] {
		return &ribboncmd.Task[string]{Run: func(context.Context) (string, error) {
			wait(took)
			return "", err
		}}
	}
	atDesk(t, "hystrix 94 and 96 four calls, then the window passes", func(d *desk) {
		d.configure(func(s *ribboncmd.Settings) { s.Timeout = 600 * ms })
		d.do(&ribboncmd.Task[string]{Run: later(10*ms, "v")})
		d.do(&ribboncmd.Task[string]{Run: later(time.Hour, "v")})
		d.do(bad(30*ms, errBoom))
		d.do(bad(40*ms, ribboncmd.AsBadRequest(errBoom)))
		if n := d.snapshot().Execute.Count; n != 0 {
			d.Errorf("the current bucket shows %d calls", n)
		}
		d.sleep(10 * time.Second)
		for name, l := range map[string]ribboncmd.Latency{"execute": d.snapshot().Execute, "total": d.snapshot().Total} {
			if l.Count != 4 || !about(l.At[0], 10*ms) || !about(l.At[8], 600*ms) || !about(l.Mean, 170*ms) || !about(l.At[2], 30*ms) || !about(l.At[3], 40*ms) {
				d.Errorf("%s: %+v", name, l)
			}
		}
		d.sleep(time.Minute)
		if diff := cmp.Diff(ribboncmd.Latency{}, d.snapshot().Execute); diff != "" {
			d.Error(diff)
		}
	})
	atDesk(t, "hystrix 95 what never ran has no latency", func(d *desk) {
		d.semaphore(0)
		d.do(&ribboncmd.Task[string]{Run: value("v")})
		d.pool(1, -1)
		busy := d.spawn(d.context(), &ribboncmd.Task[string]{Run: later(10*ms, "v")})
		d.do(&ribboncmd.Task[string]{Run: value("v")})
		<-busy
		d.configure(func(s *ribboncmd.Settings) { s.Breaker.ForceOpen = true })
		d.do(&ribboncmd.Task[string]{Run: value("v")})
		d.sleep(10 * time.Second)
		if s := d.snapshot(); s.Execute.Count != 1 || s.Total.Count != 1 {
			d.Errorf("%d and %d latencies", s.Execute.Count, s.Total.Count)
		}
	})
	atDesk(t, "waiting in a queue counts for the caller only", func(d *desk) {
		d.pool(1, 5)
		busy := d.spawn(d.context(), &ribboncmd.Task[string]{Run: later(300*ms, "v")})
		d.do(&ribboncmd.Task[string]{Run: later(100*ms, "v")})
		<-busy
		d.sleep(10 * time.Second)
		if s := d.snapshot(); !about(s.Execute.At[0], 100*ms) || !about(s.Execute.At[8], 300*ms) || !about(s.Total.At[0], 300*ms) || !about(s.Total.At[8], 400*ms) {
			d.Errorf("execute %+v, total %+v", s.Execute, s.Total)
		}
	})
}

// TestAccuracy puts single values of all sizes through the histogram.
func TestAccuracy(t *testing.T) {
	atDesk(t, "one percent, up to an hour", func(d *desk) {
		d.configure(func(s *ribboncmd.Settings) {
			s.TimeoutEnabled = false
			s.Percentile = ribboncmd.PercentileSettings{Window: time.Minute, Buckets: 1}
		})
		for took := time.Microsecond; took < time.Hour; took = took*3/2 + 1 {
			exact := took.Truncate(time.Microsecond)
			d.do(&ribboncmd.Task[string]{Run: later(exact, "v")})
			d.sleep(time.Minute)
			l := d.snapshot().Execute
			if off := (l.At[4] - exact).Abs(); l.Count != 1 || off > exact/100 || l.Mean != l.At[4] {
				d.Errorf("%v: %+v", exact, l)
			}
		}
	})
}

func TestPercentilesByRank(t *testing.T) {
	atDesk(t, "one to a hundred milliseconds", func(d *desk) {
		for i := 1; i <= 100; i++ {
			d.do(&ribboncmd.Task[string]{Run: later(time.Duration(i)*ms, "v")})
		}
		d.sleep(10 * time.Second)
		l := d.snapshot().Execute
		for i, want := range []int{1, 25, 50, 75, 90, 95, 99, 100, 100} {
			if !about(l.At[i], time.Duration(want)*ms) {
				d.Errorf("%v %%: %v, want %dms", ribboncmd.Percentiles()[i], l.At[i], want)
			}
		}
	})
}

func TestPoolCounters(t *testing.T) {
	pool := func(d *desk) ribboncmd.PoolSnapshot {
		d.Helper()
		all := d.commands.Pools()
		if len(all) != 1 {
			d.Fatalf("%d pools", len(all))
		}
		return all[0]
	}
	atDesk(t, "hystrix 51 Q14 ten workers busy, two more", func(d *desk) {
		for range 6 {
			d.spawn(d.context(), &ribboncmd.Task[string]{Run: later(100*ms, "v")})
			d.spawn(d.context(), &ribboncmd.Task[string]{Key: ribboncmd.Key{Command: "other", Group: "maps"}, Run: later(100*ms, "v")})
		}
		d.roll()
		p := pool(d)
		if p.RollingExecuted != 10 || p.RollingRejected != 2 || p.RollingMostActive != 10 || p.Largest != 10 || p.Completed != 10 {
			d.Errorf("%+v", p)
		}
		if n := d.snapshot().MaxConcurrent; n != 5 {
			d.Errorf("the command had %d at once", n)
		}
		d.sleep(d.settings.Window)
		if p = pool(d); p.RollingExecuted != 0 || p.RollingRejected != 0 || p.RollingMostActive != 0 || p.Completed != 10 {
			d.Errorf("after the window: %+v", p)
		}
	})
	atDesk(t, "hystrix 52 neither semaphore nor short circuit", func(d *desk) {
		d.do(&ribboncmd.Task[string]{Run: value("v")})
		d.semaphore(10)
		d.do(&ribboncmd.Task[string]{Run: value("v")})
		d.pool(10, -1)
		d.configure(func(s *ribboncmd.Settings) { s.Breaker.ForceOpen = true })
		d.do(&ribboncmd.Task[string]{Run: value("v")})
		d.roll()
		if p := pool(d); p.RollingExecuted != 1 {
			d.Errorf("%+v", p)
		}
	})
	atDesk(t, "hystrix 53 failure, timeout, bad request", func(d *desk) {
		d.do(&ribboncmd.Task[string]{Run: failed(errBoom)})
		d.do(&ribboncmd.Task[string]{Run: failed(ribboncmd.AsBadRequest(errBoom))})
		d.do(&ribboncmd.Task[string]{Run: later(time.Hour, "v")})
		d.roll()
		d.roll()
		if p := pool(d); p.RollingExecuted != 3 {
			d.Errorf("%+v", p)
		}
	})
	atDesk(t, "hystrix 45 which calls take a place in a pool", func(d *desk) {
		if r := d.do(&ribboncmd.Task[string]{Run: value("v")}); !r.report.Pooled {
			d.Error("THREAD did not")
		}
		d.semaphore(1)
		if r := d.do(&ribboncmd.Task[string]{Run: value("v")}); r.report.Pooled {
			d.Error("SEMAPHORE did")
		}
	})
}
