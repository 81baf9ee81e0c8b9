package lb_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/lb"
)

func TestBlackout(t *testing.T) {
	hour := lb.TripPolicy{Max: time.Hour}
	for _, tc := range []struct {
		name     string
		policy   lb.TripPolicy
		failures int64
		want     time.Duration
	}{
		{"ribbon 92 2 failures", lb.TripPolicy{}, 2, 0},
		{"ribbon 92 3 failures", lb.TripPolicy{}, 3, 10 * time.Second},
		{"ribbon 92 4 failures", lb.TripPolicy{}, 4, 20 * time.Second},
		{"ribbon 92 5 failures", lb.TripPolicy{}, 5, 30 * time.Second},
		{"ribbon 92 20 failures", lb.TripPolicy{}, 20, 30 * time.Second},
		{"ribbon 92 5 failures, max 3600", hour, 5, 40 * time.Second},
		{"ribbon 92 8 failures, max 3600", hour, 8, 320 * time.Second},
		{"ribbon 92 11 failures, max 3600", hour, 11, 2560 * time.Second},
		{"ribbon 92 12 failures, max 3600", hour, 12, time.Hour},
		{"ribbon Q32 large values do not overflow", lb.TripPolicy{Factor: time.Hour, Max: 1 << 62}, 1 << 40, time.Hour << 16},
		{"factor above max", lb.TripPolicy{Factor: time.Minute, Max: time.Second}, 3, time.Second},
		{"own threshold", lb.TripPolicy{Failures: 1}, 1, 10 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.policy.Blackout(tc.failures); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func once(s *lb.ServerStats, at time.Time, took time.Duration, o lb.Outcome) {
	s.Begin(at)
	s.End(at, took, o)
}

func TestTripped(t *testing.T) {
	tripped := func() *lb.ServerStats {
		s := new(lb.ServerStats)
		for range 3 {
			once(s, noon, 0, lb.Unhealthy)
		}
		return s
	}
	check := func(t *testing.T, s *lb.ServerStats, after time.Duration, want bool) {
		t.Helper()
		if got := s.Tripped(noon.Add(after), lb.TripPolicy{}); got != want {
			t.Errorf("after %v: tripped %t, want %t", after, got, want)
		}
	}
	t.Run("ribbon 93 the end of the blackout is outside it", func(t *testing.T) {
		s := tripped()
		check(t, s, 9999*time.Millisecond, true)
		check(t, s, 10*time.Second, false)
	})
	t.Run("ribbon 94 one more failure trips at once and for longer", func(t *testing.T) {
		s := tripped()
		once(s, noon.Add(10*time.Second), 0, lb.Unhealthy)
		check(t, s, 29999*time.Millisecond, true)
		check(t, s, 30*time.Second, false)
	})
	t.Run("ribbon 94 one success clears", func(t *testing.T) {
		s := tripped()
		once(s, noon.Add(10*time.Second), 0, lb.Healthy)
		if n := s.SuccessiveFailures(); n != 0 {
			t.Errorf("%d successive failures, want 0", n)
		}
		once(s, noon.Add(10*time.Second), 0, lb.Unhealthy)
		check(t, s, 10*time.Second, false)
	})
	t.Run("a neutral end changes nothing", func(t *testing.T) {
		s := tripped()
		once(s, noon.Add(time.Second), 0, lb.Neutral)
		if n := s.SuccessiveFailures(); n != 3 || !s.LastFailure().Equal(noon) {
			t.Errorf("%d successive failures, last at %v; want 3 at noon", n, s.LastFailure())
		}
	})
}

func TestLastFailure(t *testing.T) {
	var s lb.ServerStats
	if !s.LastFailure().IsZero() {
		t.Errorf("unused server failed at %v", s.LastFailure())
	}
	once(&s, noon, 0, lb.Unhealthy)
	if !s.LastFailure().Equal(noon) {
		t.Errorf("failed at %v, want noon", s.LastFailure())
	}
}

func TestActive(t *testing.T) {
	started := func() *lb.ServerStats {
		s := new(lb.ServerStats)
		for range 5 {
			s.Begin(noon)
		}
		return s
	}
	for _, tc := range []struct {
		name  string
		after time.Duration
		want  int64
	}{
		{"ribbon 95 idle 600 s", 600 * time.Second, 5},
		{"ribbon 95 idle 600.001 s", 600*time.Second + time.Millisecond, 0},
		{"clock gone back", -time.Second, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := started()
			if got := s.Active(noon.Add(tc.after)); got != tc.want {
				t.Errorf("%d active, want %d", got, tc.want)
			}
			if got := s.Active(noon); got != tc.want {
				t.Errorf("read again: %d active, want %d", got, tc.want)
			}
		})
	}
	t.Run("ribbon 95 an end without a start", func(t *testing.T) {
		var s lb.ServerStats
		s.End(noon, 0, lb.Healthy)
		if got := s.Active(noon); got != 0 {
			t.Errorf("%d active, want 0", got)
		}
	})
}

func TestResponseTimes(t *testing.T) {
	var s lb.ServerStats
	if got := s.ResponseTimes(); got != (lb.ResponseTimes{}) || got.Mean() != 0 {
		t.Fatalf("unused server: %+v, mean %v", got, got.Mean())
	}
	for _, took := range []time.Duration{30 * time.Millisecond, 0, 60 * time.Millisecond} {
		once(&s, noon, took, lb.Healthy)
	}
	want := lb.ResponseTimes{Count: 3, Sum: 90 * time.Millisecond, Min: 0, Max: 60 * time.Millisecond, Deviation: 24494897}
	if got := s.ResponseTimes(); got != want || got.Mean() != 30*time.Millisecond {
		t.Errorf("got %+v, mean %v; want %+v", got, got.Mean(), want)
	}
}

func TestStatsConcurrently(t *testing.T) {
	var s lb.ServerStats
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 1000 {
				once(&s, noon, time.Duration(i*1000+j+1), lb.Unhealthy)
			}
		})
	}
	wg.Wait()
	times := s.ResponseTimes()
	if s.Total() != 8000 || s.Active(noon) != 0 || s.SuccessiveFailures() != 8000 {
		t.Errorf("total %d active %d failures %d, want 8000 0 8000", s.Total(), s.Active(noon), s.SuccessiveFailures())
	}
	if times.Min != 1 || times.Max != 8000 || times.Sum != 8000*8001/2 {
		t.Errorf("times %+v, want 1 to 8000 in steps of 1", times)
	}
}

func TestRecent(t *testing.T) {
	millis := func(values ...int) *lb.ServerStats {
		s := new(lb.ServerStats)
		for _, v := range values {
			once(s, noon, time.Duration(v)*time.Millisecond, lb.Healthy)
		}
		return s
	}
	ms := func(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }
	ten := lb.RecentTimes{
		Count: 10, Mean: ms(5.5), P10: ms(2), P25: ms(3.5), P50: ms(6), P75: ms(8.5),
		P90: ms(10), P95: ms(10), P98: ms(10), P99: ms(10), P995: ms(10), At: noon.Add(time.Second).Local(),
	}
	for _, tc := range []struct {
		name  string
		stats *lb.ServerStats
		after time.Duration
		want  lb.RecentTimes
	}{
		{"ribbon 96 one to ten", millis(3, 1, 2, 10, 9, 8, 7, 4, 5, 6), time.Second, ten},
		{"ribbon 96 one sample", millis(7), time.Second, lb.RecentTimes{
			Count: 1, Mean: ms(7), P10: ms(7), P25: ms(7), P50: ms(7), P75: ms(7), P90: ms(7), P95: ms(7), P98: ms(7), P99: ms(7), P995: ms(7), At: noon.Add(time.Second).Local(),
		}},
		{"before the second is over", millis(7), time.Second - 1, lb.RecentTimes{}},
		{"after a second without any", millis(7), 2 * time.Second, lb.RecentTimes{}},
		{"unused", millis(), time.Second, lb.RecentTimes{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.want.Count = min(tc.want.Count, 8)
			got := tc.stats.Recent(noon.Add(tc.after))
			if tc.want.Count == 8 { // the first second has room for eight; the next is like it
				for _, v := range []int{3, 1, 2, 10, 9, 8, 7, 4, 5, 6} {
					once(tc.stats, noon.Add(time.Second), ms(float64(v)), lb.Healthy)
				}
				got = tc.stats.Recent(noon.Add(2 * time.Second))
				tc.want.Count, tc.want.At = 10, tc.want.At.Add(time.Second)
			}
			if got != tc.want {
				t.Errorf("got  %+v\nwant %+v", got, tc.want)
			}
		})
	}
	t.Run("a thousand of many", func(t *testing.T) {
		s := new(lb.ServerStats)
		for second := range 3 {
			for range 5000 {
				once(s, noon.Add(time.Duration(second)*time.Second), time.Millisecond, lb.Healthy)
			}
		}
		if got := s.Recent(noon.Add(3 * time.Second)); got.Count != 1000 || got.P99 != time.Millisecond {
			t.Errorf("%+v", got)
		}
	})
}

// Counts by the window: of the last one that is over, of the current one.
func TestRates(t *testing.T) {
	const window = 5 * time.Minute
	for _, tc := range []struct {
		name  string
		after time.Duration
		want  int64
	}{
		{"the first window is not over", window, 0},
		{"just over", window + 1, 3},
		{"at the end of the next", 2 * window, 3},
		{"Q31 two windows on", 2*window + 1, 0},
		{"Q31 a day on", 24 * time.Hour, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := new(lb.ServerStats)
			for range 3 {
				s.Begin(noon)
			}
			if got := s.MeasuredRequests(noon.Add(tc.after)); got != tc.want {
				t.Errorf("%d requests, want %d", got, tc.want)
			}
		})
	}
	t.Run("failures of the current second", func(t *testing.T) {
		s := new(lb.ServerStats)
		once(s, noon, 0, lb.Unhealthy)
		once(s, noon, 0, lb.Failing)
		if now, later := s.RecentFailures(noon), s.RecentFailures(noon.Add(time.Second+1)); now != 1 || later != 0 {
			t.Errorf("%d now, %d later", now, later)
		}
	})
}

func TestTimesOfUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBalancer(t, "a", "b")
		s := find(t, b, "a").Stats()
		if !s.FirstUsed().IsZero() || !s.LastUsed().IsZero() || s.BlackoutTime() != 0 {
			t.Error("an unused server has been used")
		}
		start := time.Now()
		end(t, b, "a", lb.Unhealthy, 3)
		pass(time.Second)
		end(t, b, "a", lb.Unhealthy, 1)
		if !s.FirstUsed().Equal(start) || !s.LastUsed().Equal(start.Add(time.Second)) || s.BlackoutTime() != 30*time.Second {
			t.Errorf("first %v last %v blackouts %v, want 10 s and 20 s", s.FirstUsed(), s.LastUsed(), s.BlackoutTime())
		}
	})
}
