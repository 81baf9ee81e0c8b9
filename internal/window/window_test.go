package window_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/internal/window"
)

func TestPercentages(t *testing.T) {
	tests := []struct {
		counts     window.Counts
		want, slow int
	}{
		{window.Counts{}, 0, 0},
		{window.Counts{Total: 1000, Errors: 499, Slow: 999}, 49, 99},
		{window.Counts{Total: 100, Errors: 29}, 29, 0}, // Q9: 28 in floating point
		{window.Counts{Total: 100, Errors: 57, Slow: 58}, 57, 58},
		{window.Counts{Total: 100, Errors: 58}, 58, 0},
		{window.Counts{Total: 3, Errors: 2}, 66, 0},
		{window.Counts{Total: 7, Errors: 7, Slow: 7}, 100, 100},
	}
	for _, tt := range tests {
		if got, slow := tt.counts.ErrorPercentage(), tt.counts.SlowPercentage(); got != tt.want || slow != tt.slow {
			t.Errorf("%+v: got %d and %d, want %d and %d", tt.counts, got, slow, tt.want, tt.slow)
		}
	}
}

// TestOverTime lets a clock roll a window of three buckets of a second.
func TestOverTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		total := window.Counts{Total: 100, Errors: 50}
		w := window.New(3, total)
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		steps := []struct {
			successes, errors, slow int64
			want                    window.Counts
		}{
			{1, 0, 1, window.Counts{Total: 1, Slow: 1}},
			{0, 2, 0, window.Counts{Total: 3, Errors: 2, Slow: 1}},
			{0, 0, 0, window.Counts{Total: 3, Errors: 2, Slow: 1}},
			{4, 1, 0, window.Counts{Total: 7, Errors: 3}}, // the first bucket has left
			{0, 0, 0, window.Counts{Total: 5, Errors: 1}},
			{0, 0, 0, window.Counts{Total: 5, Errors: 1}},
			{0, 0, 0, window.Counts{}},
		}
		last := window.Counts{}
		for i, s := range steps {
			total.Total += s.successes + s.errors
			total.Errors += s.errors
			total.Slow += s.slow
			if got := w.Counts(); got != last {
				t.Errorf("step %d: the current bucket shows: %+v", i, got)
			}
			if got := w.Current(total); got.Total != last.Total+s.successes+s.errors {
				t.Errorf("step %d: the current bucket does not show: %+v", i, got)
			}
			<-ticker.C
			if got := w.Roll(total); got != s.want || w.Counts() != got {
				t.Errorf("step %d: got %+v, want %+v", i, got, s.want)
			}
			last = s.want
		}
	})
}

func TestReset(t *testing.T) {
	w := window.New(2, window.Counts{})
	w.Roll(window.Counts{Total: 1, Errors: 1})
	w.Reset(window.Counts{Total: 2, Errors: 2})
	if got := w.Counts(); got != (window.Counts{}) {
		t.Errorf("sum is %+v", got)
	}
	total := window.Counts{Total: 3, Errors: 2}
	if got := w.Roll(total); got != (window.Counts{Total: 1}) {
		t.Errorf("sum is %+v", got)
	}
	w.Roll(total)
	if got := w.Roll(total); got != (window.Counts{}) {
		t.Errorf("sum is %+v", got)
	}
}

func TestOneBucketAtLeast(t *testing.T) {
	if got := window.New(0, window.Counts{}).Roll(window.Counts{Total: 1}); got.Total != 1 {
		t.Errorf("sum is %+v", got)
	}
}

// TestNothingIsLost adds from many goroutines while the window rolls.
func TestNothingIsLost(t *testing.T) {
	const adders, each = 8, 5000
	var total atomic.Int64
	counts := func() window.Counts { return window.Counts{Total: total.Load()} }
	w := window.New(1<<20, counts())
	var wg sync.WaitGroup
	for range adders {
		wg.Go(func() {
			for range each {
				total.Add(1)
			}
		})
	}
	for range 100 {
		w.Roll(counts())
	}
	wg.Wait()
	if got := w.Roll(counts()); got.Total != adders*each {
		t.Errorf("got %+v, want %d", got, adders*each)
	}
}
