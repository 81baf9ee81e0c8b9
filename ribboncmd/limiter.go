package ribboncmd

import (
	"errors"
	"math"
	"sync/atomic"
	"time"
)

// AdaptiveSettings replace the fixed number of permits of Semaphore isolation by
// one that follows the latency of the service (hystrix.md 9.3; the algorithm is
// Gradient2 of Netflix' concurrency-limits):
//
//	gradient = clamp(tolerance * long / short, 0.5, 1)
//	limit    = 0.8 * limit + 0.2 * (limit*gradient + 4)
//
// short is the mean latency since the last health snapshot, long its average
// over 600 of those. A limit of which less than half is in use stays.
type AdaptiveSettings struct {
	Enabled           bool
	Min, Max, Initial int
	Tolerance         float64 // how much slower than usual is still good; 1.5 is 50 %
}

// DefaultAdaptiveSettings are off, with the values of the original.
func DefaultAdaptiveSettings() AdaptiveSettings {
	return AdaptiveSettings{Min: 20, Max: 200, Initial: 20, Tolerance: 1.5}
}

func (s AdaptiveSettings) validate() (problems []error) {
	if !s.Enabled {
		return nil
	}
	if s.Min < 1 || s.Max < s.Min || s.Initial < s.Min || s.Initial > s.Max {
		problems = append(problems, errors.New("ribboncmd: adaptive limit needs 1 <= min <= initial <= max"))
	}
	if s.Tolerance < 1 {
		problems = append(problems, errors.New("ribboncmd: adaptive limit has a tolerance below 1"))
	}
	return problems
}

const (
	limitQueue      = 4   // room to grow where the latency is steady
	limitSmoothing  = 0.2 // weight of the new limit
	limitSamples    = 10  // calls that a change needs at least
	limitLongWindow = 600 // windows that the usual latency is averaged over
	limitWarmUp     = 10  // of them, which count in full
)

// limiter estimates how many calls a service takes at once.
type limiter struct {
	limit atomic.Int64 // rounded estimate; 0 before the first one

	calls, nanos, most atomic.Int64 // since the last estimate

	// Only the goroutine of Commands.Run touches these.
	estimate, usual float64
	windows         int
}

// limit is how many calls may be in progress.
func (s *state) limit(settings *Settings) int {
	a := &settings.Adaptive
	if !a.Enabled {
		return settings.MaxConcurrent
	}
	n := int(s.limiter.limit.Load())
	if n == 0 {
		n = a.Initial
	}
	return min(max(n, a.Min), a.Max)
}

// note takes in a call that has returned while so many were in progress.
func (l *limiter) note(took time.Duration, inFlight int64) {
	l.nanos.Add(int64(took))
	l.calls.Add(1)
	raise(&l.most, inFlight)
}

// update makes a new estimate once there are enough calls for it.
func (l *limiter) update(s *AdaptiveSettings) {
	if !s.Enabled || l.calls.Load() < limitSamples {
		return
	}
	calls, nanos, most := l.calls.Swap(0), l.nanos.Swap(0), l.most.Swap(0)
	if l.estimate == 0 {
		l.estimate = float64(s.Initial)
	}
	short := max(float64(nanos)/float64(calls), 1)
	l.learn(short)
	l.estimate = min(max(l.estimate, float64(s.Min)), float64(s.Max))
	if float64(most)*2 < l.estimate {
		return
	}
	gradient := min(max(s.Tolerance*l.usual/short, 0.5), 1)
	next := l.estimate*gradient + limitQueue
	l.estimate = l.estimate*(1-limitSmoothing) + next*limitSmoothing
	l.estimate = min(max(l.estimate, float64(s.Min)), float64(s.Max))
	l.limit.Store(int64(math.Round(l.estimate)))
}

// learn averages the usual latency, which forgets a bad time quickly.
func (l *limiter) learn(short float64) {
	l.windows++
	if l.windows <= limitWarmUp {
		l.usual += (short - l.usual) / float64(l.windows)
	} else {
		l.usual += (short - l.usual) * 2 / (limitLongWindow + 1)
	}
	if l.usual/short > 2 {
		l.usual *= 0.95
	}
}
