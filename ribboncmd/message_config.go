package ribboncmd

import "time"

// The messages of /hystrix/config.stream and /hystrix/utilization.stream.

type configMessage struct {
	Type     string                   `json:"type"`
	Commands map[string]commandConfig `json:"commands"`
	Pools    map[string]poolConfig    `json:"threadpools"`
	Folding  struct{}                 `json:"collapsers"` //nolint:misspell // Hystrix's word
}

type commandConfig struct {
	PoolKey   string          `json:"threadPoolKey"`
	Group     string          `json:"groupKey"`
	Execution executionConfig `json:"execution"`
	Metrics   metricsConfig   `json:"metrics"`
	Breaker   breakerConfig   `json:"circuitBreaker"`
}

type executionConfig struct {
	Strategy        string  `json:"isolationStrategy"`
	PoolKeyOverride *string `json:"threadPoolKeyOverride"`
	RequestCache    bool    `json:"requestCacheEnabled"`
	RequestLog      bool    `json:"requestLogEnabled"`
	TimeoutEnabled  bool    `json:"timeoutEnabled"`
	FallbackEnabled bool    `json:"fallbackEnabled"`
	Timeout         int64   `json:"timeoutInMilliseconds"`
	Semaphore       int     `json:"semaphoreSize"`
	Fallbacks       int     `json:"fallbackSemaphoreSize"`
	Interrupt       bool    `json:"threadInterruptOnTimeout"`
}

type metricsConfig struct {
	HealthBucket      int64 `json:"healthBucketSizeInMs"`
	PercentileBucket  int64 `json:"percentileBucketSizeInMilliseconds"`
	PercentileBuckets int   `json:"percentileBucketCount"`
	PercentileEnabled bool  `json:"percentileEnabled"`
	CounterBucket     int64 `json:"counterBucketSizeInMilliseconds"`
	CounterBuckets    int   `json:"counterBucketCount"`
}

type breakerConfig struct {
	Enabled        bool  `json:"enabled"`
	ForcedOpen     bool  `json:"isForcedOpen"`
	ForcedClosed   bool  `json:"isForcedClosed"`
	Volume         int   `json:"requestVolumeThreshold"`
	ErrorThreshold int   `json:"errorPercentageThreshold"`
	Sleep          int64 `json:"sleepInMilliseconds"`
}

type poolConfig struct {
	Core          int   `json:"coreSize"`
	Maximum       int   `json:"maximumSize"`
	ActualMaximum int   `json:"actualMaximumSize"`
	Queue         int   `json:"maxQueueSize"`
	Threshold     int   `json:"queueRejectionThreshold"`
	KeepAlive     int   `json:"keepAliveTimeInMinutes"`
	Diverges      bool  `json:"allowMaximumSizeToDivergeFromCoreSize"`
	CounterBucket int64 `json:"counterBucketSizeInMilliseconds"`
	Buckets       int   `json:"counterBucketCount"`
}

// ConfigMessage is one message of the stream of settings.
func ConfigMessage(commands []Snapshot, pools []PoolSnapshot) []byte {
	m := configMessage{Type: "HystrixConfig", Commands: map[string]commandConfig{}, Pools: map[string]poolConfig{}}
	for i := range commands {
		m.Commands[commands[i].Service] = commands[i].config()
	}
	for i := range pools {
		m.Pools[pools[i].Key] = pools[i].Settings.config()
	}
	return encoded(m)
}

func (s *Snapshot) config() commandConfig {
	p, known := policy{Settings: s.Settings}, s.properties()
	return commandConfig{
		PoolKey: p.Pool.Key, Group: s.Group,
		Execution: executionConfig{
			Strategy: known.Strategy, TimeoutEnabled: p.TimeoutEnabled, FallbackEnabled: p.Fallback.Enabled,
			Timeout: known.Timeout, Semaphore: known.MaxConcurrent, Fallbacks: known.MaxFallbacks, Interrupt: known.InterruptOnTimeout,
		},
		Metrics: metricsConfig{
			HealthBucket:     p.interval().Milliseconds(),
			PercentileBucket: p.latencyInterval().Milliseconds(), PercentileBuckets: p.latencyBuckets(), PercentileEnabled: true,
			CounterBucket: p.counterInterval().Milliseconds(), CounterBuckets: p.counterBuckets(),
		},
		Breaker: breakerConfig{
			Enabled: known.Enabled, ForcedOpen: known.ForceOpen, ForcedClosed: known.ForceClosed,
			Volume: known.VolumeThreshold, ErrorThreshold: known.ErrorThreshold, Sleep: known.SleepWindow,
		},
	}
}

func (p PoolSettings) config() poolConfig {
	return poolConfig{
		Core: p.CoreSize, Maximum: p.MaximumSize, ActualMaximum: p.Workers(), Queue: p.MaxQueueSize, Threshold: p.QueueSizeRejectionThreshold,
		Diverges: p.AllowMaximumSizeToDivergeFromCoreSize, CounterBucket: p.bucket().Milliseconds(), Buckets: p.buckets(),
	}
}

type utilizationMessage struct {
	Type     string                   `json:"type"`
	Commands map[string]commandActive `json:"commands"`
	Pools    map[string]poolActive    `json:"threadpools"`
}

type commandActive struct {
	Active int64 `json:"activeCount"`
}

type poolActive struct {
	Active int `json:"activeCount"`
	Queue  int `json:"queueSize"`
	Core   int `json:"corePoolSize"`
	Size   int `json:"poolSize"`
}

// UtilizationMessage is one message of the stream of what is in progress.
func UtilizationMessage(commands []Snapshot, pools []PoolSnapshot) []byte {
	m := utilizationMessage{Type: "HystrixUtilization", Commands: map[string]commandActive{}, Pools: map[string]poolActive{}}
	for i := range commands {
		m.Commands[commands[i].Service] = commandActive{commands[i].Concurrent}
	}
	for i := range pools {
		p := &pools[i]
		m.Pools[p.Key] = poolActive{p.Active, p.Waiting, p.Settings.CoreSize, p.Settings.Workers()}
	}
	return encoded(m)
}

// DashboardMessages are those of one round of hystrix.stream: the commands, then
// the pools that have done something.
func DashboardMessages(commands []Snapshot, pools []PoolSnapshot, now time.Time) [][]byte {
	messages := make([][]byte, 0, len(commands)+len(pools))
	for i := range commands {
		messages = append(messages, commands[i].Message(now))
	}
	for i := range pools {
		if pools[i].Completed > 0 {
			messages = append(messages, pools[i].Message(now))
		}
	}
	return messages
}
