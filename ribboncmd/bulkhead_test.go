package ribboncmd_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/ribboncmd"
)

const busy = 400 * time.Millisecond

// threads are settings of a pool with places for waiting calls.
func threads(workers, queue, threshold int) ribboncmd.Settings {
	s := lenient()
	s.Isolation = ribboncmd.Thread
	s.Pool.CoreSize = workers
	s.Pool.MaxQueueSize = queue
	s.Pool.QueueSizeRejectionThreshold = threshold
	return s
}

func TestSemaphore(t *testing.T) {
	permits := func(n int) ribboncmd.Settings {
		s := lenient()
		s.MaxConcurrent = n
		return s
	}
	scenario(t, "hystrix 42 second call during the first", permits(1), func(b *bench) {
		first := b.spawn(slow(busy))
		began := time.Now()
		_, err := b.do(succeed)
		wantOutcome(b, err, ribboncmd.SemaphoreRejected)
		if since(began) != 0 {
			b.Errorf("rejected after %v", since(began))
		}
		b.wantCalls(1)
		wantSuccess(b, first)
	})
	scenario(t, "hystrix 43 three permits, six callers, another command", permits(3), func(b *bench) {
		var wg sync.WaitGroup
		var rejected atomic.Int64
		for range 6 {
			wg.Go(func() {
				if _, err := b.do(slow(busy)); errors.Is(err, ribboncmd.ErrSemaphoreRejected) {
					rejected.Add(1)
				}
			})
		}
		synctest.Wait()
		other := &bench{T: b.T, cmd: b.commands.Command("orders", permits(1), nil)}
		if _, err := other.do(succeed); err != nil {
			b.Error(err)
		}
		wg.Wait()
		if rejected.Load() != 3 {
			b.Errorf("%d rejected, want 3", rejected.Load())
		}
	})
	scenario(t, "limit changes with the settings", permits(1), func(b *bench) {
		first := b.spawn(slow(busy))
		b.reload(func(s *ribboncmd.Settings) { s.MaxConcurrent = 2 })
		second := b.spawn(slow(busy))
		b.reload(func(s *ribboncmd.Settings) { s.MaxConcurrent = 1 })
		_, err := b.do(succeed)
		wantOutcome(b, err, ribboncmd.SemaphoreRejected)
		wantSuccess(b, first, second)
	})
}

func TestPermitsUnderContention(t *testing.T) {
	t.Run("hystrix 44 exactly one of ten wins", func(t *testing.T) {
		s := lenient()
		s.MaxConcurrent = 1
		s.TimeoutEnabled = false
		cmd := ribboncmd.New(nil).Command(service, s, nil)
		for range 100 {
			var wg sync.WaitGroup
			var decided, won atomic.Int64
			release := make(chan struct{})
			for range 10 {
				wg.Go(func() {
					_, err := cmd.Execute(t.Context(), func(context.Context) (*http.Response, error) { //nolint:bodyclose // there is none
						won.Add(1)
						if decided.Add(1) == 10 {
							close(release)
						}
						<-release
						return &http.Response{StatusCode: http.StatusNoContent}, nil
					})
					if err != nil && decided.Add(1) == 10 {
						close(release)
					}
				})
			}
			wg.Wait()
			if won.Load() != 1 || cmd.Snapshot().Concurrent != 0 {
				t.Fatalf("%d won, %d still running", won.Load(), cmd.Snapshot().Concurrent)
			}
		}
	})
}

func TestThreadPool(t *testing.T) {
	scenario(t, "hystrix 39 and 40 one worker, one place, three calls", threads(1, 1, 5), func(b *bench) {
		first, second := b.spawn(slow(busy)), b.spawn(slow(50*time.Millisecond))
		if n := b.snapshot().Waiting; n != 1 {
			b.Errorf("%d waiting", n)
		}
		_, err := b.do(succeed)
		wantOutcome(b, err, ribboncmd.ThreadPoolRejected)
		if !errors.Is(err, ribboncmd.ErrThreadPoolRejected) {
			b.Errorf("error is %v", err)
		}
		wantSuccess(b, first, second)
		b.wantCalls(2)
	})
	scenario(t, "hystrix 41 threshold below the queue size", threads(1, 10, 1), func(b *bench) {
		first, second := b.spawn(slow(busy)), b.spawn(slow(50*time.Millisecond))
		_, err := b.do(succeed)
		wantOutcome(b, err, ribboncmd.ThreadPoolRejected)
		wantSuccess(b, first, second)
	})
	scenario(t, "hystrix 29 the deadline covers the wait", threads(1, 5, 5), func(b *bench) {
		b.reload(func(s *ribboncmd.Settings) { s.Timeout = 600 * time.Millisecond })
		began := time.Now()
		first, second := b.spawn(slow(500*time.Millisecond)), b.spawn(slow(500*time.Millisecond))
		wantSuccess(b, first)
		wantOutcome(b, <-second, ribboncmd.Timeout)
		if since(began) != 600*time.Millisecond {
			b.Errorf("timed out after %v", since(began))
		}
	})
	scenario(t, "timeout while waiting calls nothing", threads(1, 5, 5), func(b *bench) {
		b.reload(func(s *ribboncmd.Settings) { s.TimeoutEnabled = false })
		first := b.spawn(slow(time.Second))
		b.reload(func(s *ribboncmd.Settings) { s.TimeoutEnabled = true })
		_, err := b.do(succeed)
		wantOutcome(b, err, ribboncmd.Timeout)
		b.wantCalls(1)
		wantSuccess(b, first)
	})
	scenario(t, "hystrix 33 a waiting call is cancelled", threads(1, 5, 5), func(b *bench) {
		first := b.spawn(slow(busy))
		ctx, cancel := context.WithCancel(b.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		_, err := b.doContext(ctx, succeed)
		wantOutcome(b, err, ribboncmd.Cancelled)
		if n := b.snapshot().Waiting; n != 0 {
			b.Errorf("%d waiting", n)
		}
		wantSuccess(b, first)
		b.wantEvents(ribboncmd.EventSuccess, ribboncmd.EventCancelled)
	})
	scenario(t, "hystrix 38 the worker is busy until the call returns", threads(1, -1, 5), func(b *bench) {
		b.reload(func(s *ribboncmd.Settings) { s.Timeout = 100 * time.Millisecond })
		stuck := b.spawn(stubborn(busy))
		b.sleep(200 * time.Millisecond)
		_, err := b.do(succeed)
		wantOutcome(b, err, ribboncmd.ThreadPoolRejected)
		wantOutcome(b, <-stuck, ribboncmd.Timeout)
	})
	scenario(t, "first come, first served", threads(1, 5, 5), func(b *bench) {
		var order []int
		calls := []<-chan error{b.spawn(slow(100 * time.Millisecond))}
		for i := range 3 {
			calls = append(calls, b.spawn(func(ctx context.Context) (*http.Response, error) {
				order = append(order, i)
				return slow(10 * time.Millisecond)(ctx)
			}))
		}
		wantSuccess(b, calls...)
		if len(order) != 3 || order[0] != 0 || order[1] != 1 || order[2] != 2 {
			b.Errorf("served in the order %v", order)
		}
	})
	scenario(t, "an enlarged pool serves the waiting first", threads(1, 5, 5), func(b *bench) {
		b.reload(func(s *ribboncmd.Settings) { s.TimeoutEnabled = false })
		began := time.Now()
		calls := []<-chan error{b.spawn(slow(time.Hour)), b.spawn(slow(time.Minute))}
		b.reload(func(s *ribboncmd.Settings) { s.Pool.CoreSize = 2 })
		calls = append(calls, b.spawn(slow(time.Second)))
		wantSuccess(b, calls[2])
		if since(began) != time.Minute+time.Second {
			b.Errorf("the newcomer was served after %v", since(began))
		}
		wantSuccess(b, calls[:2]...)
	})
	scenario(t, "a place handed over to a call that gives up goes on to the next", threads(1, 5, 5), func(b *bench) {
		b.reload(func(s *ribboncmd.Settings) { s.TimeoutEnabled = false })
		for range 100 {
			ctx, cancel := context.WithCancel(b.Context())
			first := b.spawn(func(ctx context.Context) (*http.Response, error) {
				defer cancel() // while the second is about to get this place
				return slow(100 * time.Millisecond)(ctx)
			})
			second := make(chan error, 1)
			go func() {
				_, err := b.doContext(ctx, slow(time.Millisecond))
				second <- err
			}()
			synctest.Wait()
			began := time.Now()
			third := b.spawn(slow(time.Millisecond))
			wantSuccess(b, first, third)
			if d := since(began); d > 102*time.Millisecond {
				b.Fatalf("the third was served after %v", d)
			}
			<-second //nolint:errcheck // either end is right
		}
	})
	scenario(t, "commands share the pool of a key", threads(1, -1, 5), func(b *bench) {
		first := b.spawn(slow(busy))
		_, err := b.commands.Command("orders", b.settings, nil).Execute(b.Context(), succeed) //nolint:bodyclose // no response
		if !errors.Is(err, ribboncmd.ErrThreadPoolRejected) {
			b.Errorf("error is %v", err)
		}
		separate := b.settings
		separate.Pool.Key = "orders"
		other := &bench{T: b.T, cmd: b.commands.Command("orders", separate, nil)}
		if _, err := other.do(succeed); err != nil {
			b.Error(err)
		}
		wantSuccess(b, first)
	})
}

func TestPoolSizes(t *testing.T) {
	tests := []struct {
		name               string
		core, maximum      int
		diverging, bounded int
	}{
		{"hystrix 46 core only", 14, 10, 14, 14},
		{"hystrix 47 small maximum only", 10, 3, 10, 10},
		{"hystrix 48 large maximum only", 10, 21, 21, 10},
		{"hystrix 49 Q8 core 2, maximum 8", 2, 8, 8, 2},
		{"hystrix 50 core 12, maximum 8", 12, 8, 12, 12},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := ribboncmd.DefaultPoolSettings()
			p.CoreSize, p.MaximumSize = tt.core, tt.maximum
			if got := p.Workers(); got != tt.bounded {
				t.Errorf("%d workers, want %d", got, tt.bounded)
			}
			p.AllowMaximumSizeToDivergeFromCoreSize = true
			if got := p.Workers(); got != tt.diverging {
				t.Errorf("%d workers when diverging, want %d", got, tt.diverging)
			}
		})
	}
}
