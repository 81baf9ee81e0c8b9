package ribboncmd

import (
	"errors"
	"fmt"
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

// Settings of one command. Begin with DefaultSettings: the zero value turns
// deadline, breaker and fallback off and rejects every call.
type Settings struct {
	Timeout        time.Duration // until the response head; zero or less: no deadline
	TimeoutEnabled bool
	Isolation      Isolation
	MaxConcurrent  int // permits of Semaphore; zero rejects every call
	Pool           PoolSettings
	Breaker        BreakerSettings
	Fallback       FallbackSettings

	Window           time.Duration // stretch of health that the breaker judges
	SnapshotInterval time.Duration // how often it judges; the length of one bucket

	// FailureStatus tells which HTTP statuses count against the service. Such
	// a response is still passed on. Nil: none does, 5xx included.
	FailureStatus func(status int) bool
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
	}
}

const (
	defaultWindow           = 10 * time.Second
	defaultSnapshotInterval = 500 * time.Millisecond
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
	return errors.Join(problems...)
}
