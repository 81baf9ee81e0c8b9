package ribboncmd_test

import (
	"context"
	"math/rand/v2"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/ribboncmd"
)

// TestExactlyOneTrial lets a crowd in at the end of each sleep window.
func TestExactlyOneTrial(t *testing.T) {
	scenario(t, "C162 hundred requests, failing and then successful trials", quick(), func(b *bench) {
		for round := range 200 {
			b.times(1, fail)
			b.tick()
			b.sleep(250 * time.Millisecond)
			b.wantState(ribboncmd.Open)
			healthy := round%2 == 1
			b.calls.Store(0)
			b.crowd(100, func(ctx context.Context) (*http.Response, error) {
				wait(50 * time.Millisecond)
				if healthy {
					return succeed(ctx)
				}
				return fail(ctx)
			})
			b.wantCalls(1)
			want := ribboncmd.Open
			if healthy {
				want = ribboncmd.Closed
			}
			b.wantState(want)
		}
	})
}

func (b *bench) crowd(n int, run ribboncmd.Run) {
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { _, _ = b.do(run) })
	}
	wg.Wait()
}

// TestTrialsNeverOverlap lets callers on all processors race for the end of
// short sleep windows. All calls fail, so that each one that runs is a trial.
func TestTrialsNeverOverlap(t *testing.T) {
	s := ribboncmd.DefaultSettings()
	s.Window, s.SnapshotInterval = time.Millisecond, time.Millisecond
	s.Breaker.RequestVolumeThreshold = 1
	s.Breaker.SleepWindow = 20 * time.Microsecond

	opened := make(chan struct{})
	var once sync.Once
	commands := ribboncmd.New(func(ribboncmd.Transition) { once.Do(func() { close(opened) }) })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var background, wg sync.WaitGroup
	background.Go(func() { commands.Run(ctx) })
	b := &bench{T: t, commands: commands, settings: s}
	b.reload(func(*ribboncmd.Settings) {})
	for open := false; !open; { // a failure may have left the window before anybody has looked
		b.times(1, fail)
		select {
		case <-opened:
			open = true
		case <-time.After(time.Millisecond):
		}
	}

	var trials, running, overlaps atomic.Int64
	for range 8 {
		wg.Go(func() {
			for trials.Load() < 1000 {
				_, _ = b.do(func(ctx context.Context) (*http.Response, error) {
					if running.Add(1) > 1 {
						overlaps.Add(1)
					}
					defer running.Add(-1)
					trials.Add(1)
					runtime.Gosched()
					return fail(ctx)
				})
				runtime.Gosched()
			}
		})
	}
	wg.Wait()
	cancel()
	background.Wait()
	if n := overlaps.Load(); n > 0 {
		t.Errorf("%d of %d trials overlapped", n, trials.Load())
	}
}

// TestTransitionsUnderLoad runs calls of all kinds over many changes of state
// and settings, with the real scheduler and clock; nothing may be lost, and no
// two trials may overlap.
func TestTransitionsUnderLoad(t *testing.T) {
	s := ribboncmd.DefaultSettings()
	s.Timeout = 2 * time.Millisecond
	s.Window, s.SnapshotInterval = 4*time.Millisecond, time.Millisecond
	s.Breaker.SleepWindow = time.Millisecond
	s.Breaker.RequestVolumeThreshold = 5
	s.MaxConcurrent = 6
	pooled := s
	pooled.Isolation = ribboncmd.Thread
	pooled.Pool.CoreSize, pooled.Pool.MaxQueueSize = 3, 4

	var opened atomic.Int64
	commands := ribboncmd.New(func(c ribboncmd.Transition) {
		if c.To == ribboncmd.Open {
			opened.Add(1)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	var background sync.WaitGroup
	background.Go(func() { commands.Run(ctx) })

	var executions atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			generations := []*ribboncmd.Command{commands.Command(service, s, answer("spare")), commands.Command(service, pooled, nil)}
			for i := 0; i < 1500 || opened.Load() == 0; i++ {
				b := &bench{T: t, cmd: generations[i/100%2]}
				_, _ = b.doContext(ctx, chaos)
				executions.Add(1)
			}
		})
	}
	wg.Wait()
	cancel()
	background.Wait()

	got := commands.Snapshots()[0]
	if got.Concurrent != 0 || got.Fallbacks != 0 || got.Waiting != 0 {
		t.Errorf("%d running, %d in fallback, %d waiting at the end", got.Concurrent, got.Fallbacks, got.Waiting)
	}
	var ended int64
	for e := ribboncmd.EventSuccess; e <= ribboncmd.EventCancelled; e++ {
		ended += got.Events[e]
	}
	if ended != executions.Load() {
		t.Errorf("%d outcomes of %d executions", ended, executions.Load())
	}
}

// chaos ends in one of the ways in which calls end.
func chaos(ctx context.Context) (*http.Response, error) {
	switch rand.IntN(6) {
	case 0:
		return slow(time.Hour)(ctx)
	case 1:
		return badRequest(ctx)
	case 2, 3:
		return fail(ctx)
	}
	return succeed(ctx)
}

// TestStaleObserversGetNoTrial trips the circuit under callers that are about
// to be admitted: while it sleeps, nobody may pass who was not admitted before.
func TestStaleObserversGetNoTrial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := quick()
		s.Breaker.SleepWindow = time.Hour
		s.Breaker.ErrorThresholdPercentage = 1
		for range 300 {
			var tripped, slipped atomic.Bool
			commands := ribboncmd.New(func(c ribboncmd.Transition) {
				switch c.To {
				case ribboncmd.Open:
					tripped.Store(true)
				case ribboncmd.HalfOpen:
					slipped.Store(true)
				case ribboncmd.Closed:
				}
			})
			ctx, cancel := context.WithCancel(t.Context())
			go commands.Run(ctx)
			b := &bench{T: t, commands: commands, settings: s}
			b.reload(func(*ribboncmd.Settings) {})
			b.times(1, fail)
			wait(s.SnapshotInterval) // the crowd races with the trip
			b.crowd(20, succeed)
			synctest.Wait()
			cancel()
			if !tripped.Load() || slipped.Load() {
				t.Fatalf("tripped %v, slipped %v", tripped.Load(), slipped.Load())
			}
		}
	})
}
