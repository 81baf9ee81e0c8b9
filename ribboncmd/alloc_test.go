package ribboncmd_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/gozer-gateway/gozer/internal/race"
	"github.com/gozer-gateway/gozer/ribboncmd"
)

// bare has no body: nothing of it needs closing.
var bare = &http.Response{StatusCode: http.StatusNoContent}

func noop(context.Context) (*http.Response, error) { return bare, nil }

// TestAllocations gates the cost of a command around a call that does nothing.
func TestAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	armed := func(ctx context.Context) (*http.Response, error) {
		_ = ctx.Done()
		return bare, nil
	}
	forced := ribboncmd.DefaultSettings()
	forced.Breaker.ForceOpen = true
	full := ribboncmd.DefaultSettings()
	full.MaxConcurrent = 0
	full.Breaker.Enabled = false
	tests := []struct {
		name     string
		settings ribboncmd.Settings
		run      ribboncmd.Run
		want     float64
	}{
		{"call that does not wait for its context", ribboncmd.DefaultSettings(), noop, 1},
		{"call that does", ribboncmd.DefaultSettings(), armed, 7},
		{"short circuit", forced, noop, 1},
		{"full bulkhead", full, noop, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cmd := ribboncmd.New(nil).Command(service, tt.settings, nil)
			got := testing.AllocsPerRun(1000, func() {
				_, _ = cmd.Execute(context.Background(), tt.run) //nolint:bodyclose // nothing to close
			})
			if got > tt.want {
				t.Errorf("%v allocations, want %v at most", got, tt.want)
			}
		})
	}
}

func BenchmarkDo(b *testing.B) {
	for name, inline := range map[string]bool{"goroutine": false, "inline": true} {
		b.Run(name, func(b *testing.B) {
			ctx := ribboncmd.NewContext(b.Context(), ribboncmd.New(nil))
			task := ribboncmd.Task[string]{Key: geo, Run: value("v"), Inline: inline}
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := task.Do(ctx); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkExecute(b *testing.B) {
	cmd := ribboncmd.New(nil).Command(service, ribboncmd.DefaultSettings(), nil)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := cmd.Execute(b.Context(), noop); err != nil { //nolint:bodyclose // there is none
				b.Fatal(err)
			}
		}
	})
}
