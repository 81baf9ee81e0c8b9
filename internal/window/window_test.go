package window_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/internal/window"
)

func TestErrorPercentage(t *testing.T) {
	tests := []struct {
		counts window.Counts
		want   int
	}{
		{window.Counts{}, 0},
		{window.Counts{Total: 1000, Errors: 499}, 49},
		{window.Counts{Total: 100, Errors: 29}, 29}, // 28 in floating point
		{window.Counts{Total: 100, Errors: 57}, 57},
		{window.Counts{Total: 100, Errors: 58}, 58},
		{window.Counts{Total: 3, Errors: 2}, 66},
		{window.Counts{Total: 7, Errors: 7}, 100},
	}
	for _, tt := range tests {
		if got := tt.counts.ErrorPercentage(); got != tt.want {
			t.Errorf("%+v: got %d, want %d", tt.counts, got, tt.want)
		}
	}
}

// TestOverTime lets a clock roll a window of three buckets of a second.
func TestOverTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := window.New(3)
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		steps := []struct {
			successes, errors int
			want              window.Counts
		}{
			{1, 0, window.Counts{Total: 1}},
			{0, 2, window.Counts{Total: 3, Errors: 2}},
			{0, 0, window.Counts{Total: 3, Errors: 2}},
			{4, 1, window.Counts{Total: 7, Errors: 3}}, // the first bucket has left
			{0, 0, window.Counts{Total: 5, Errors: 1}},
			{0, 0, window.Counts{Total: 5, Errors: 1}},
			{0, 0, window.Counts{}},
		}
		last := window.Counts{}
		for i, s := range steps {
			for range s.successes {
				w.Success()
			}
			for range s.errors {
				w.Error()
			}
			if got := w.Counts(); got != last {
				t.Errorf("step %d: the current bucket shows: %+v", i, got)
			}
			<-ticker.C
			if got := w.Roll(); got != s.want || w.Counts() != got {
				t.Errorf("step %d: got %+v, want %+v", i, got, s.want)
			}
			last = s.want
		}
	})
}

func TestReset(t *testing.T) {
	w := window.New(2)
	w.Error()
	w.Roll()
	w.Error()
	w.Reset()
	if got := w.Counts(); got != (window.Counts{}) {
		t.Errorf("sum is %+v", got)
	}
	w.Success()
	if got := w.Roll(); got != (window.Counts{Total: 1}) {
		t.Errorf("sum is %+v", got)
	}
	w.Roll()
	if got := w.Roll(); got != (window.Counts{}) {
		t.Errorf("sum is %+v", got)
	}
}

func TestOneBucketAtLeast(t *testing.T) {
	w := window.New(0)
	w.Success()
	if got := w.Roll(); got.Total != 1 {
		t.Errorf("sum is %+v", got)
	}
}

// TestNothingIsLost adds from many goroutines while the window rolls.
func TestNothingIsLost(t *testing.T) {
	const adders, each = 8, 5000
	w := window.New(1 << 20)
	var wg sync.WaitGroup
	for range adders {
		wg.Go(func() {
			for range each {
				w.Success()
				w.Error()
			}
		})
	}
	for range 100 {
		w.Roll()
	}
	wg.Wait()
	if got, want := w.Roll(), (window.Counts{Total: 2 * adders * each, Errors: adders * each}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
