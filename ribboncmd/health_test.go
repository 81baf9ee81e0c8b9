package ribboncmd_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/fallback"
	"github.com/gozer-gateway/gozer/ribboncmd"
)

func badRequest(context.Context) (*http.Response, error) {
	return nil, ribboncmd.AsBadRequest(errBoom)
}

func TestErrorPercentage(t *testing.T) {
	timeout := slow(600 * time.Millisecond)
	steps := func(play func(do func(want int, runs ...ribboncmd.Run))) func(*bench) {
		return func(b *bench) {
			play(func(want int, runs ...ribboncmd.Run) {
				b.Helper()
				for _, run := range runs {
					b.times(1, run)
				}
				b.tick()
				if got := b.snapshot().ErrorPercentage; got != want {
					b.Errorf("%d %%, want %d", got, want)
				}
			})
		}
	}
	scenario(t, "hystrix 81 successes, failures, timeouts", lenient(), steps(func(do func(int, ...ribboncmd.Run)) {
		do(0, succeed)
		do(50, fail)
		do(25, succeed, succeed)
		do(50, timeout, timeout)
		do(30, succeed, succeed, succeed, succeed)
	}))
	scenario(t, "hystrix 82 bad requests do not count", lenient(), steps(func(do func(int, ...ribboncmd.Run)) {
		do(0, succeed)
		do(50, fail)
		do(50, badRequest)
		do(50, badRequest)
		do(75, fail, fail)
	}))
}

func TestHealth(t *testing.T) {
	scenario(t, "hystrix 83 concurrent count", lenient(), func(b *bench) {
		b.reload(func(s *ribboncmd.Settings) { s.TimeoutEnabled = false })
		for range 8 {
			b.spawn(slow(900 * time.Millisecond))
		}
		b.sleep(150 * time.Millisecond)
		if n := b.snapshot().Concurrent; n != 8 {
			b.Errorf("%d running, want 8", n)
		}
		b.sleep(time.Second)
	})
	for _, tt := range []struct {
		name          string
		run           ribboncmd.Run
		total, errors int64
	}{
		{"hystrix 84 success", succeed, 1, 0},
		{"hystrix 84 failure", fail, 1, 1},
		{"hystrix 84 timeout", hang, 1, 1},
		{"hystrix 84 bad request", badRequest, 0, 0},
	} {
		scenario(t, tt.name, lenient(), func(b *bench) {
			b.tick()
			b.wantHealth(0, 0)
			b.times(1, tt.run)
			b.wantHealth(0, 0) // the current bucket is not seen
			b.tick()
			b.wantHealth(tt.total, tt.errors)
		})
	}
	scenario(t, "hystrix 86 short circuits do not count", quick(), func(b *bench) {
		b.reload(func(s *ribboncmd.Settings) { s.Breaker.RequestVolumeThreshold = 3 })
		b.times(3, fail)
		b.tick()
		b.times(2, succeed)
		b.tick()
		b.wantHealth(3, 3)
	})
	for _, s := range []ribboncmd.Settings{lenient(), threads(10, -1, 5)} {
		scenario(t, "hystrix 87 and 51 ten in flight, two rejected, "+s.Isolation.String(), s, func(b *bench) {
			b.reload(func(s *ribboncmd.Settings) { s.MaxConcurrent = 10 })
			for range 10 {
				b.spawn(slow(300 * time.Millisecond))
			}
			b.times(2, succeed)
			b.sleep(500 * time.Millisecond)
			b.wantHealth(12, 2)
			b.wantCalls(10)
		})
	}
	scenario(t, "hystrix 88 fallback is missing", lenient(), func(b *bench) {
		b.times(1, fail)
		b.tick()
		b.wantHealth(1, 1)
	})
	scenario(t, "hystrix 89 the window passes", lenient(), func(b *bench) {
		b.times(1, succeed)
		b.times(1, fail)
		b.sleep(b.settings.Window)
		b.wantHealth(2, 1)
		b.tick()
		b.wantHealth(0, 0)
	})
	t.Run("Q21 health does not wait for the fallback", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := start(t, lenient(), fallback.Func(func(ctx context.Context, _ string, _ error) (*http.Response, error) {
				return slow(3 * time.Second)(ctx)
			}))
			done := b.spawn(fail)
			b.tick()
			b.wantHealth(1, 1)
			wantSuccess(t, done)
		})
	})
}
