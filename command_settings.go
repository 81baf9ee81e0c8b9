package gozer

import (
	"cmp"
	"errors"
	"net/http"
	"slices"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/internal/grpc"
	"github.com/gozer-gateway/gozer/lb"
	"github.com/gozer-gateway/gozer/ribboncmd"
)

func commandSettings(cfg *config.Config, service string) (ribboncmd.Settings, error) {
	c := cfg.HystrixFor(service)
	s, err := hystrixSettings(c)
	beyond(&s, cfg.ResilienceFor(service))
	s.Group = ribboncmd.DefaultGroup
	s.Pool = poolSettings(cfg, c.ThreadPoolKey)
	return s, errors.Join(err, s.Validate())
}

// keySettings are those of the commands that filters name themselves.
func (s *snapshot) keySettings() func(ribboncmd.Key) ribboncmd.Settings {
	cfg, tracer := s.config, s.commandTracer()
	return func(key ribboncmd.Key) ribboncmd.Settings {
		c := cfg.HystrixCommand(key.Command)
		s, _ := hystrixSettings(c) // the strategy is one of two, the table of keys sees to it
		beyond(&s, cfg.ResilienceFor(key.Command))
		pool := cmp.Or(c.ThreadPoolKey, key.Pool, key.Group, key.Command)
		s.Pool, s.Tracer = poolSettings(cfg, pool), tracer
		return s
	}
}

func hystrixSettings(c config.Command) (ribboncmd.Settings, error) {
	isolation, err := ribboncmd.ParseIsolation(c.Isolation)
	return ribboncmd.Settings{
		Timeout:            c.Timeout,
		TimeoutEnabled:     c.TimeoutEnabled,
		Isolation:          isolation,
		MaxConcurrent:      c.MaxConcurrentRequests,
		Breaker:            breakerSettings(c.Breaker),
		Fallback:           ribboncmd.FallbackSettings{Enabled: c.FallbackEnabled, MaxConcurrent: c.FallbackMaxConcurrent},
		Window:             c.RollingWindow,
		SnapshotInterval:   c.HealthSnapshotInterval,
		Buckets:            c.RollingBuckets,
		Percentile:         ribboncmd.PercentileSettings{Window: c.PercentileWindow, Buckets: c.PercentileBuckets},
		InterruptOnTimeout: c.InterruptOnTimeout,
		InterruptOnCancel:  c.InterruptOnCancel,
	}, err
}

// beyond adds what Hystrix has not.
func beyond(s *ribboncmd.Settings, r config.Resilience) {
	s.Breaker.Eager = r.Eager
	s.SlowCall = ribboncmd.SlowCallSettings{Duration: r.SlowDuration, Percentage: r.SlowPercentage}
	s.Adaptive = ribboncmd.AdaptiveSettings{
		Enabled: r.Adaptive, Min: r.AdaptiveMin, Max: r.AdaptiveMax, Initial: r.AdaptiveInitial,
		Tolerance: float64(r.AdaptiveTolerance) / 100,
	}
	if len(r.FailureStatus) > 0 {
		s.FailureStatus = isOneOf(r.FailureStatus)
	}
	s.FailureFields = endsWith(r.FailureCodes)
}

func hedgePolicy(r config.Resilience) lb.HedgePolicy {
	return lb.HedgePolicy{Delay: r.HedgeDelay, Max: r.HedgeMax}
}

// endsWith finds calls that have ended with one of these codes, nil if there are none.
func endsWith(codes []grpc.Code) func(http.Header) bool {
	if len(codes) == 0 {
		return nil
	}
	return func(fields http.Header) bool {
		code, ended := grpc.Ended(fields)
		return ended && slices.Contains(codes, code)
	}
}

func isOneOf(ranges []config.StatusRange) func(status int) bool {
	return func(status int) bool {
		for _, r := range ranges {
			if r.From <= status && status <= r.To {
				return true
			}
		}
		return false
	}
}

func breakerSettings(b config.Breaker) ribboncmd.BreakerSettings {
	return ribboncmd.BreakerSettings{
		Enabled:                  b.Enabled,
		ForceOpen:                b.ForceOpen,
		ForceClosed:              b.ForceClosed,
		RequestVolumeThreshold:   b.RequestVolumeThreshold,
		ErrorThresholdPercentage: b.ErrorThresholdPercentage,
		SleepWindow:              b.SleepWindow,
	}
}

func poolSettings(cfg *config.Config, key string) ribboncmd.PoolSettings {
	p := cfg.ThreadPoolFor(key)
	return ribboncmd.PoolSettings{
		Key:                                   key,
		CoreSize:                              p.CoreSize,
		MaximumSize:                           p.MaximumSize,
		AllowMaximumSizeToDivergeFromCoreSize: p.AllowMaximumSizeToDiverge,
		MaxQueueSize:                          p.MaxQueueSize,
		QueueSizeRejectionThreshold:           p.QueueSizeRejectionThreshold,
		Window:                                p.RollingWindow,
		Buckets:                               p.RollingBuckets,
	}
}
