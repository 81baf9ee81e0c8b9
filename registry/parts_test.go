package registry_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/registry"
)

// TestDelay is eureka 44: how late a run is.
func TestDelay(t *testing.T) {
	const period = time.Minute
	start := time.Now()
	var d registry.Delay
	var got []time.Duration
	for _, at := range []time.Duration{1, period, 2*period + 10*time.Millisecond, 3*period - 1} {
		got = append(got, d.Late(start.Add(at), period))
	}
	if diff := cmp.Diff([]time.Duration{0, 0, 10 * time.Millisecond, 0}, slices.Concat(got[:2], []time.Duration{got[2].Round(time.Millisecond)}, got[3:])); diff != "" {
		t.Error(diff)
	}
}

// TestRing is eureka 45: the last few.
func TestRing(t *testing.T) {
	r := registry.NewRing(5)
	if got := r.Newest(10); len(got) != 0 {
		t.Error(got)
	}
	for i := range 6 {
		r.Add(i + 1)
	}
	if diff := cmp.Diff([]int{6, 5, 4, 3, 2}, r.Newest(10)); diff != "" {
		t.Error(diff)
	}
	r.Add(7)
	if diff := cmp.Diff([]int{7, 6, 5}, r.Newest(3)); diff != "" {
		t.Error(diff)
	}
}

// TestThreshold is eureka 48, and the tables of 4.5 and 4.6.
func TestThreshold(t *testing.T) {
	for expected, want := range map[int]int{0: 0, 1: 1, 2: 3, 3: 5, 4: 6, 5: 8, 6: 10, 10: 17, 50: 85, 100: 170, 151: 256} {
		if got := registry.Threshold(expected, 30*time.Second, 0.85); got != want {
			t.Errorf("%d clients: threshold %d, want %d", expected, got, want)
		}
	}
	for size, want := range map[int]int{1: 1, 2: 1, 3: 1, 7: 2, 10: 2, 20: 3, 50: 8, 100: 15} {
		if got := registry.EvictionLimit(size, 0.85); got != want {
			t.Errorf("%d leases: limit %d, want %d", size, got, want)
		}
	}
}

// TestBucket is eureka 74.
func TestBucket(t *testing.T) {
	start := time.Now()
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	b := registry.NewBucket(2, 10, time.Second)
	for _, step := range []struct {
		ms   int
		want bool
	}{{0, true}, {0, true}, {0, false}, {150, true}, {150, false}, {200, true}} {
		if got := b.Acquire(at(step.ms)); got != step.want {
			t.Errorf("at %d ms: %v", step.ms, got)
		}
	}
	for unit, pause := range map[time.Duration]time.Duration{time.Second: 100 * time.Millisecond, time.Minute: 6 * time.Second} {
		even := registry.NewBucket(2, 10, unit)
		for i := range 100 {
			if !even.Acquire(start.Add(time.Duration(i) * pause)) {
				t.Errorf("%d of an even flow is refused", i)
			}
		}
	}
	for _, off := range []*registry.Bucket{registry.NewBucket(0, 10, time.Second), registry.NewBucket(2, 0, time.Second)} {
		for range 100 {
			if !off.Acquire(start) {
				t.Error("a bucket that is off refuses")
			}
		}
	}
}
