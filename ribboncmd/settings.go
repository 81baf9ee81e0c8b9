package ribboncmd

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Isolation is the kind of bulkhead around the calls of a command.
type Isolation uint8

const (
	// Semaphore bounds the calls of each command and never waits.
	Semaphore Isolation = iota
	// Thread bounds the calls of all commands that share a pool key; calls may
	// queue. They still run on the caller's goroutine.
	Thread
)

// String returns Hystrix's name of the strategy.
func (i Isolation) String() string {
	if i == Thread {
		return "THREAD"
	}
	return "SEMAPHORE"
}

// ParseIsolation accepts Hystrix's names, in capitals.
func ParseIsolation(name string) (Isolation, error) {
	switch name {
	case "SEMAPHORE":
		return Semaphore, nil
	case "THREAD":
		return Thread, nil
	}
	return Semaphore, fmt.Errorf("ribboncmd: isolation strategy %q is neither SEMAPHORE nor THREAD", name)
}

// DefaultGroup is the group of all commands of a Zuul.
const DefaultGroup = "RibbonCommand"

// Settings of one command. Begin with DefaultSettings: the zero value turns
// deadline, breaker and fallback off and rejects every call.
type Settings struct {
	Group          string        // what the command is shown under; "" means DefaultGroup
	Timeout        time.Duration // until the response head; zero or less: no deadline
	TimeoutEnabled bool
	Isolation      Isolation
	MaxConcurrent  int // permits of Semaphore; zero rejects every call
	Pool           PoolSettings
	Breaker        BreakerSettings
	Fallback       FallbackSettings

	Window           time.Duration // stretch of health that the breaker judges, and of the counters
	SnapshotInterval time.Duration // how often it judges; the length of one bucket of health
	Buckets          int           // of the counters; zero means 10
	Percentile       PercentileSettings

	// InterruptOnTimeout and InterruptOnCancel concern Do alone: whether the
	// deadline, and the end of the caller's context, reach the call. The caller
	// is freed in either case.
	InterruptOnTimeout bool
	InterruptOnCancel  bool

	// FailureStatus tells which HTTP statuses count against the service. Such
	// a response is still passed on. Nil: none does, 5xx included.
	FailureStatus func(status int) bool
	// FailureFields tells which header, or trailer, of a response counts against the service,
	// whatever the status. It is asked at the head, and if that is good at the end of a body of
	// unknown length, whose failure then counts beside the success. Nil: none does.
	FailureFields func(header http.Header) bool
	SlowCall      SlowCallSettings
	Adaptive      AdaptiveSettings

	// Tracer hears of executions without a result; nil: nobody does.
	Tracer Tracer
}

// PercentileSettings say which stretch of time latencies are ranked over. Zero
// means Hystrix's 60 s in 6 buckets.
type PercentileSettings struct {
	Window  time.Duration
	Buckets int
}

// SlowCallSettings make slowness count: calls that took longer than Duration are
// slow, and when their share in the window of health, in percent, reaches
// Percentage, the circuit opens as it does for errors. A zero Percentage, the
// default, turns it off. A call may be both slow and an error.
type SlowCallSettings struct {
	Duration   time.Duration
	Percentage int
}

// BreakerSettings of one command. All of them may change on a reload and take
// effect on an open circuit too.
type BreakerSettings struct {
	Enabled                  bool
	ForceOpen                bool // refuses every call; wins over ForceClosed
	ForceClosed              bool // admits every call, whatever the state
	RequestVolumeThreshold   int  // fewer calls in the window never open the circuit
	ErrorThresholdPercentage int  // share of errors that opens it; above 100 never
	SleepWindow              time.Duration

	// Eager judges the window at every error, what it has not closed yet included,
	// and not only at each health snapshot.
	Eager bool
}

// FallbackSettings of one command.
type FallbackSettings struct {
	Enabled       bool
	MaxConcurrent int // fallbacks at once; zero rejects all
}

// DefaultSettings are Zuul's over Hystrix's: semaphore of 100, 4 s deadline,
// 20 calls, 50 %, 5 s sleep, 10 s window judged each 500 ms, 10 fallbacks.
func DefaultSettings() Settings {
	return Settings{
		Timeout:        4 * time.Second,
		TimeoutEnabled: true,
		MaxConcurrent:  100,
		Pool:           DefaultPoolSettings(),
		Breaker: BreakerSettings{
			Enabled:                  true,
			RequestVolumeThreshold:   20,
			ErrorThresholdPercentage: 50,
			SleepWindow:              5 * time.Second,
		},
		Fallback:         FallbackSettings{Enabled: true, MaxConcurrent: 10},
		Window:           defaultWindow,
		SnapshotInterval: defaultSnapshotInterval,
		Buckets:          defaultBuckets,
		Percentile:       PercentileSettings{Window: defaultPercentileWindow, Buckets: defaultPercentileBuckets},

		InterruptOnTimeout: true,
		InterruptOnCancel:  true,
	}
}

// HystrixSettings are Hystrix's own, which hold for Do: a pool of ten, 1 s deadline,
// 10 permits for whoever chooses Semaphore; the rest is as in DefaultSettings. The
// pool follows from the key.
func HystrixSettings() Settings {
	s := DefaultSettings()
	s.Timeout = time.Second
	s.Isolation, s.MaxConcurrent = Thread, 10
	s.Pool.Key = ""
	return s
}

const (
	defaultWindow           = 10 * time.Second
	defaultSnapshotInterval = 500 * time.Millisecond
	defaultBuckets          = 10

	defaultPercentileWindow  = time.Minute
	defaultPercentileBuckets = 6
)

// Validate reports every setting that makes no sense, joined.
func (s Settings) Validate() error {
	var problems []error
	refuse := func(wrong bool, complaint string) {
		if wrong {
			problems = append(problems, errors.New("ribboncmd: "+complaint))
		}
	}
	refuse(s.TimeoutEnabled && s.Timeout <= 0, "timeout is not positive")
	refuse(s.MaxConcurrent < 0, "max concurrent requests is negative")
	refuse(s.Fallback.MaxConcurrent < 0, "max concurrent fallbacks is negative")
	refuse(s.Pool.CoreSize < 1, "pool core size is below 1")
	refuse(s.Breaker.RequestVolumeThreshold < 0, "request volume threshold is negative")
	refuse(s.Breaker.ErrorThresholdPercentage < 0, "error threshold percentage is negative")
	refuse(s.Breaker.SleepWindow < 0, "sleep window is negative")
	refuse(s.SnapshotInterval <= 0, "health snapshot interval is not positive")
	refuse(s.Window < s.SnapshotInterval, "rolling window is shorter than the health snapshot interval")
	refuse(s.Buckets < 0, "number of rolling buckets is negative")
	refuse(s.Buckets > 0 && s.Window%time.Duration(s.Buckets) != 0, "rolling window does not divide into its buckets")
	refuse(s.Percentile.Window < 0 || s.Percentile.Buckets < 0, "percentile window or buckets are negative")
	refuse(s.SlowCall.Percentage < 0, "slow call percentage is negative")
	refuse(s.SlowCall.Percentage > 0 && s.SlowCall.Duration <= 0, "slow call duration is not positive")
	problems = append(problems, s.Adaptive.validate()...)
	return errors.Join(problems...)
}
