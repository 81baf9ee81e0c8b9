package lb

import (
	"math"
	"net/http"
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
	// Neutral says nothing: the caller went away, failed itself, or had no connection to use.
	Neutral Outcome = iota
	// Healthy is a response with any status, or an error that is not about the connection.
	Healthy
	// Unhealthy is a connection that was refused, reset or silent for too long.
	Unhealthy
	// Failing is a response with a status that tells of a server that cannot do its work. It
	// is Healthy as far as tripping goes and an error for the ejection of outliers.
	Failing
)

// OutcomeOf is the outcome of a response with that status: Failing from 500 on, except
// for 501 and 505, which are about the request.
func OutcomeOf(status int) Outcome {
	if status >= 500 && status != http.StatusNotImplemented && status != http.StatusHTTPVersionNotSupported {
		return Failing
	}
	return Healthy
}

// End is what is known at the end of an attempt.
type End struct {
	At      time.Time
	Took    time.Duration
	Outcome Outcome
}

// ServerStats are the counters of one server. They are updated and read concurrently
// without a lock, so values read one after the other may be a request apart. Clock
// values are handed in.
type ServerStats struct {
	_        [cacheLine]byte // what another server's requests write is not near
	active   atomic.Int64
	activeAt atomic.Int64 // unix nanoseconds of the last start or end
	total    atomic.Int64
	sum      atomic.Int64 // response times, nanoseconds
	shortest atomic.Int64 // nanoseconds plus one; 0 before the first
	longest  atomic.Int64
	squares  atomic.Uint64 // of response times in seconds; bits of a float64
	window   atomic.Int64  // activeWindow if not 0

	failures  atomic.Int64
	failedAt  atomic.Int64 // unix nanoseconds of the last failure
	blackouts atomic.Int64 // nanoseconds, all together
	errors    atomic.Int64 // Unhealthy and Failing ends
	inARow    atomic.Int64 // of them since the last good one, or the last ejection
	firstAt   atomic.Int64 // unix nanoseconds of the first start

	starts  rate // by five minutes
	recent  rate // failures by the second
	samples sampler
	_       [cacheLine]byte
}

// ResponseTimes summarises how long attempts took over the server's lifetime; all zero before the first.
type ResponseTimes struct {
	Count         int64
	Sum, Min, Max time.Duration
	Deviation     time.Duration // standard deviation; 0 below two
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
	nanos := now.UnixNano()
	s.active.Add(1)
	s.activeAt.Store(nanos)
	if s.firstAt.Load() == 0 {
		s.firstAt.CompareAndSwap(0, nanos)
	}
	s.starts.add(nanos, startsWindow)
}

// End completes an attempt that Begin counted. An end without a begin leaves active at 0.
func (s *ServerStats) End(now time.Time, took time.Duration, o Outcome) {
	s.release()
	nanos, length := now.UnixNano(), max(int64(took), 0)
	s.activeAt.Store(nanos)
	s.noteTime(length)
	s.samples.add(nanos, length)
	s.total.Add(1)
	s.noteHealth(nanos, o)
}

func (s *ServerStats) noteHealth(nanos int64, o Outcome) {
	switch o {
	case Neutral:
	case Healthy:
		clearCount(&s.failures)
		clearCount(&s.inARow)
	case Failing:
		clearCount(&s.failures)
		s.errors.Add(1)
		s.inARow.Add(1)
	case Unhealthy:
		s.failedAt.Store(nanos)
		s.failures.Add(1)
		s.recent.add(nanos, failureWindow)
		s.errors.Add(1)
		s.inARow.Add(1)
	}
}

// clearCount writes only if there is something to clear: other goroutines read it too.
func clearCount(n *atomic.Int64) {
	if n.Load() != 0 {
		n.Store(0)
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
	seconds := float64(nanos) / float64(time.Second)
	for bits := s.squares.Load(); !s.squares.CompareAndSwap(bits, math.Float64bits(math.Float64frombits(bits)+seconds*seconds)); {
		bits = s.squares.Load()
	}
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
	if idle := now.UnixNano() - s.activeAt.Load(); idle < 0 || idle > s.activeWindow() {
		s.active.CompareAndSwap(n, 0)
		return 0
	}
	return n
}

func (s *ServerStats) activeWindow() int64 {
	if w := s.window.Load(); w > 0 {
		return w
	}
	return int64(activeWindow)
}

// MeasuredRequests counts the attempts that began in the last five minutes that are over.
func (s *ServerStats) MeasuredRequests(now time.Time) int64 {
	return s.starts.last(now.UnixNano(), startsWindow)
}

// RecentFailures counts the Unhealthy ends of the current second.
func (s *ServerStats) RecentFailures(now time.Time) int64 {
	return s.recent.current(now.UnixNano(), failureWindow)
}

// Errors counts Unhealthy and Failing ends.
func (s *ServerStats) Errors() int64 { return s.errors.Load() }

// BlackoutTime adds up the blackouts that followed on failures, each as long as it was
// when it began.
func (s *ServerStats) BlackoutTime() time.Duration { return time.Duration(s.blackouts.Load()) }

// FirstUsed is when the first attempt began, zero before that.
func (s *ServerStats) FirstUsed() time.Time { return unixTime(s.firstAt.Load()) }

// LastUsed is when an attempt last began or ended, zero before the first.
func (s *ServerStats) LastUsed() time.Time { return unixTime(s.activeAt.Load()) }

func unixTime(nanos int64) time.Time {
	if nanos == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanos)
}

// SuccessiveFailures counts Unhealthy ends since the last Healthy one.
func (s *ServerStats) SuccessiveFailures() int64 { return s.failures.Load() }

// LastFailure is the time of the last Unhealthy end, zero without any.
func (s *ServerStats) LastFailure() time.Time { return unixTime(s.failedAt.Load()) }

// ResponseTimes summarises the durations of all completed attempts.
func (s *ServerStats) ResponseTimes() ResponseTimes {
	t := ResponseTimes{
		Count: s.total.Load(),
		Sum:   time.Duration(s.sum.Load()),
		Min:   time.Duration(max(s.shortest.Load()-1, 0)),
		Max:   time.Duration(s.longest.Load()),
	}
	if t.Count > 1 {
		mean := float64(t.Sum) / float64(time.Second) / float64(t.Count)
		variance := math.Float64frombits(s.squares.Load())/float64(t.Count) - mean*mean
		t.Deviation = time.Duration(math.Sqrt(max(variance, 0)) * float64(time.Second))
	}
	return t
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

// noteBlackout adds the blackout that has just begun.
func (s *ServerStats) noteBlackout(until int64, now time.Time) {
	if length := until - now.UnixNano(); length > 0 {
		s.blackouts.Add(length)
	}
}
