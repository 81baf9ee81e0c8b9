package lb

import (
	"sync/atomic"
	"time"
)

// activeWindow is the time without a start or an end after which requests still counted
// as active are forgotten: their ends were lost.
const activeWindow = 10 * time.Minute

// Outcome is what an attempt says about its server's health.
type Outcome uint8

// The outcomes of an attempt.
const (
	// Neutral says nothing: the caller went away, or failed itself.
	Neutral Outcome = iota
	// Healthy is a response with any status, or an error that is not about the connection.
	Healthy
	// Unhealthy is a connection that was refused, reset or silent for too long.
	Unhealthy
)

// ServerStats are the counters of one server. They are updated and read concurrently
// without a lock, so values read one after the other may be a request apart. Clock
// values are handed in.
type ServerStats struct {
	total    atomic.Int64
	active   atomic.Int64
	activeAt atomic.Int64 // unix nanoseconds of the last start or end
	failures atomic.Int64
	failedAt atomic.Int64 // unix nanoseconds of the last failure
	sum      atomic.Int64 // response times, nanoseconds
	shortest atomic.Int64 // nanoseconds plus one; 0 before the first
	longest  atomic.Int64
}

// ResponseTimes summarises how long attempts took over the server's lifetime; all zero before the first.
type ResponseTimes struct {
	Count         int64
	Sum, Min, Max time.Duration
}

// Mean is the average, 0 without any.
func (t ResponseTimes) Mean() time.Duration {
	if t.Count == 0 {
		return 0
	}
	return t.Sum / time.Duration(t.Count)
}

// Begin counts an attempt as active.
func (s *ServerStats) Begin(now time.Time) {
	s.active.Add(1)
	s.activeAt.Store(now.UnixNano())
}

// End completes an attempt that Begin counted. An end without a begin leaves active at 0.
func (s *ServerStats) End(now time.Time, took time.Duration, o Outcome) {
	s.release()
	s.activeAt.Store(now.UnixNano())
	s.noteTime(max(int64(took), 0))
	s.total.Add(1)
	switch o {
	case Neutral:
	case Healthy:
		if s.failures.Load() != 0 {
			s.failures.Store(0)
		}
	case Unhealthy:
		s.failedAt.Store(now.UnixNano())
		s.failures.Add(1)
	}
}

func (s *ServerStats) release() {
	for {
		n := s.active.Load()
		if n <= 0 || s.active.CompareAndSwap(n, n-1) {
			return
		}
	}
}

func (s *ServerStats) noteTime(nanos int64) {
	s.sum.Add(nanos)
	for v := s.longest.Load(); nanos > v && !s.longest.CompareAndSwap(v, nanos); {
		v = s.longest.Load()
	}
	for v := s.shortest.Load(); (v == 0 || nanos+1 < v) && !s.shortest.CompareAndSwap(v, nanos+1); {
		v = s.shortest.Load()
	}
}

// Total counts completed attempts, failed ones too.
func (s *ServerStats) Total() int64 { return s.total.Load() }

// Active counts attempts that wait for their response. It is reset to 0 when none has
// begun or ended for more than ten minutes, or when the clock went back.
func (s *ServerStats) Active(now time.Time) int64 {
	n := s.active.Load()
	if n == 0 {
		return 0
	}
	if idle := now.UnixNano() - s.activeAt.Load(); idle < 0 || idle > int64(activeWindow) {
		s.active.CompareAndSwap(n, 0)
		return 0
	}
	return n
}

// SuccessiveFailures counts Unhealthy ends since the last Healthy one.
func (s *ServerStats) SuccessiveFailures() int64 { return s.failures.Load() }

// LastFailure is the time of the last Unhealthy end, zero without any.
func (s *ServerStats) LastFailure() time.Time {
	if at := s.failedAt.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Time{}
}

// ResponseTimes summarises the durations of all completed attempts.
func (s *ServerStats) ResponseTimes() ResponseTimes {
	return ResponseTimes{
		Count: s.total.Load(),
		Sum:   time.Duration(s.sum.Load()),
		Min:   time.Duration(max(s.shortest.Load()-1, 0)),
		Max:   time.Duration(s.longest.Load()),
	}
}

// Tripped reports that the server is in the blackout that p prescribes after its last
// failure. The failure count survives the blackout, so one more failure trips it again
// at once and for longer.
func (s *ServerStats) Tripped(now time.Time, p TripPolicy) bool {
	return s.trippedUntil(p) > now.UnixNano()
}

// trippedUntil is the end of the last blackout in unix nanoseconds, 0 without one.
func (s *ServerStats) trippedUntil(p TripPolicy) int64 {
	n := s.failures.Load()
	if n == 0 {
		return 0
	}
	blackout := p.Blackout(n)
	if blackout == 0 {
		return 0
	}
	return s.failedAt.Load() + int64(blackout)
}
