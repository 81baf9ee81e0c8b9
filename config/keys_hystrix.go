package config

import (
	"math"
	"slices"
	"strings"
	"time"
)

// defaultKey is the command or pool key whose settings apply to all others.
const defaultKey = "default"

func hystrixKeys() []Key {
	return slices.Concat(
		lift("hystrix.command.<key>.", command, commandKeyRows()...),
		lift("hystrix.command.<key>.", command, breakerRows()...),
		lift("hystrix.command.<key>.", command, meterRows()...),
		lift("hystrix.command.<key>.", command, deadCommandRows()...),
		lift("hystrix.threadpool.<key>.", threadPool, poolKeyRows()...),
		lift("hystrix.", root,
			dead[Config](Ignored, "collapser.**", "a proxy has no requests to collapse"),
			dead[Config](Ignored, "timer.**", "there is no pool of timer threads"),
			duration("stream.dashboard.intervalInMilliseconds", "500", "between two rounds of `/hystrix.stream`; readers may ask for another by `?delay=`", time.Millisecond, shortestRound, func(c *Config) *time.Duration { return &c.Hystrix.Stream.Dashboard }),
			duration("stream.config.intervalInMilliseconds", "5000", "the same for `/hystrix/config.stream`", time.Millisecond, shortestRound, func(c *Config) *time.Duration { return &c.Hystrix.Stream.Config }),
			duration("stream.utilization.intervalInMilliseconds", "500", "the same for `/hystrix/utilization.stream`", time.Millisecond, shortestRound, func(c *Config) *time.Duration { return &c.Hystrix.Stream.Utilization }),
			number("config.stream.maxConcurrentConnections", "5", "readers of each of these streams; a page of the dashboard needs two", 0, 10_000, func(c *Config) *int { return &c.Hystrix.Stream.MaxConnections }),
			dead[Config](Ignored, "metrics.enabled", "metrics are always kept"),
			dead[Config](Ignored, "metrics.polling-interval-ms", "metrics are read when somebody asks"),
			dead[Config](Ignored, "shareSecurityContext", "there is no Spring Security"),
		),
	)
}

// command completes a command from the default one, except for what a default never
// decides under Zuul.
func command(b *builder, values []string) *Command {
	h := &b.config.Hystrix
	if values[0] == defaultKey {
		return &h.Default
	}
	own, ok := h.Commands[values[0]]
	if !ok {
		completed := h.Default
		completed.Isolation, completed.MaxConcurrentRequests = "", 0
		completed.Timeout, completed.ThreadPoolKey = 0, ""
		own = &completed
		h.Commands[values[0]] = own
	}
	return own
}

func threadPool(b *builder, values []string) *ThreadPool {
	h := &b.config.Hystrix
	if values[0] == defaultKey {
		return &h.DefaultPool
	}
	own, ok := h.ThreadPools[values[0]]
	if !ok {
		completed := h.DefaultPool
		own = &completed
		h.ThreadPools[values[0]] = own
	}
	return own
}

func commandKeyRows() []row[Command] {
	return []row[Command]{
		choice("execution.isolation.strategy", "(zuul.ribbon-isolation-strategy; THREAD for commands of filters)", "what bounds the calls in flight; `default` has no say about services", []string{"SEMAPHORE", "THREAD"}, func(c *Command) *string { return &c.Isolation }),
		duration("execution.isolation.thread.timeoutInMilliseconds", "(from the ribbon timeouts and retries; 1000 for commands of filters)", "budget of one call, with either strategy; 0 means the default", time.Millisecond, 0, func(c *Command) *time.Duration { return &c.Timeout }),
		boolean("execution.timeout.enabled", "true", "whether there is such a budget", func(c *Command) *bool { return &c.TimeoutEnabled }),
		atLeast(1, "execution.isolation.semaphore.maxConcurrentRequests", "(zuul.semaphore.max-semaphores; 10 for commands of filters)", "calls in flight; `default` has no say about services", func(c *Command) *int { return &c.MaxConcurrentRequests }),
		atLeast(0, "fallback.isolation.semaphore.maxConcurrentRequests", "10", "fallbacks running at once", func(c *Command) *int { return &c.FallbackMaxConcurrent }),
		boolean("fallback.enabled", "true", "whether a failed request gets the fallback", func(c *Command) *bool { return &c.FallbackEnabled }),
		boolean("execution.isolation.thread.interruptOnTimeout", "true", "commands of filters: whether the deadline ends the context of the call; an upstream call is always cancelled", func(c *Command) *bool { return &c.InterruptOnTimeout }),
		boolean("execution.isolation.thread.interruptOnFutureCancel", "true", "commands of filters: the same for the end of the caller's context", func(c *Command) *bool { return &c.InterruptOnCancel }),
		text("threadPoolKeyOverride", "(RibbonCommand; the group for commands of filters)", "thread pool of the command; not under `default`", func(c *Command) *string { return &c.ThreadPoolKey }),
	}
}

func breakerRows() []row[Command] {
	return []row[Command]{
		boolean("circuitBreaker.enabled", "true", "whether there is a circuit breaker", func(c *Command) *bool { return &c.Breaker.Enabled }),
		atLeast(0, "circuitBreaker.requestVolumeThreshold", "20", "requests in the window below which the circuit stays closed", func(c *Command) *int { return &c.Breaker.RequestVolumeThreshold }),
		duration("circuitBreaker.sleepWindowInMilliseconds", "5000", "how long an open circuit refuses before it lets one request try", time.Millisecond, 0, func(c *Command) *time.Duration { return &c.Breaker.SleepWindow }),
		number("circuitBreaker.errorThresholdPercentage", "50", "percentage of errors that opens the circuit; more than 100 means that none does", 0, 1000, func(c *Command) *int { return &c.Breaker.ErrorThresholdPercentage }),
		boolean("circuitBreaker.forceOpen", "false", "refuse every request", func(c *Command) *bool { return &c.Breaker.ForceOpen }),
		boolean("circuitBreaker.forceClosed", "false", "refuse none, whatever the errors", func(c *Command) *bool { return &c.Breaker.ForceClosed }),
	}
}

func meterRows() []row[Command] {
	return []row[Command]{
		duration("metrics.rollingStats.timeInMilliseconds", "10000", "window of the counters and of the circuit breaker", time.Millisecond, time.Millisecond, func(c *Command) *time.Duration { return &c.RollingWindow }),
		number("metrics.rollingStats.numBuckets", "10", "parts of that window, for the counters", 1, mostBuckets, func(c *Command) *int { return &c.RollingBuckets }),
		duration("metrics.healthSnapshot.intervalInMilliseconds", "500", "how often the circuit breaker judges", time.Millisecond, time.Millisecond, func(c *Command) *time.Duration { return &c.HealthSnapshotInterval }),
		duration("metrics.rollingPercentile.timeInMilliseconds", "60000", "window of the latencies", time.Millisecond, time.Millisecond, func(c *Command) *time.Duration { return &c.PercentileWindow }),
		number("metrics.rollingPercentile.numBuckets", "6", "parts of that window", 1, mostBuckets, func(c *Command) *int { return &c.PercentileBuckets }),
	}
}

func deadCommandRows() []row[Command] {
	return []row[Command]{
		only[Command](Ignored, "metrics.rollingPercentile.enabled", "true", "latencies are always ranked"),
		dead[Command](Ignored, "metrics.rollingPercentile.bucketSize", "latencies are kept in histograms of a fixed size"),
		dead[Command](Ignored, "requestCache.enabled", "requests are not cached"),
		dead[Command](Ignored, "requestLog.enabled", "there is no request log"),
	}
}

func poolKeyRows() []row[ThreadPool] {
	return []row[ThreadPool]{
		number("coreSize", "10", "requests that run at once", 1, math.MaxInt32, func(p *ThreadPool) *int { return &p.CoreSize }),
		number("maximumSize", "10", "the same, when it may diverge and there is no queue", 1, math.MaxInt32, func(p *ThreadPool) *int { return &p.MaximumSize }),
		boolean("allowMaximumSizeToDivergeFromCoreSize", "false", "whether `maximumSize` counts", func(p *ThreadPool) *bool { return &p.AllowMaximumSizeToDiverge }),
		number("maxQueueSize", "-1", "requests that may wait; 0 or less means none", -1, math.MaxInt32, func(p *ThreadPool) *int { return &p.MaxQueueSize }),
		number("queueSizeRejectionThreshold", "5", "waiting requests at which further ones are refused", 0, math.MaxInt32, func(p *ThreadPool) *int { return &p.QueueSizeRejectionThreshold }),
		dead[ThreadPool](Ignored, "keepAliveTimeMinutes", "there are no threads to keep"),
		duration("metrics.rollingStats.timeInMilliseconds", "10000", "window of the pool's counters", time.Millisecond, time.Millisecond, func(p *ThreadPool) *time.Duration { return &p.RollingWindow }),
		number("metrics.rollingStats.numBuckets", "10", "parts of that window", 1, mostBuckets, func(p *ThreadPool) *int { return &p.RollingBuckets }),
	}
}

// shortestRound bounds how often a stream sends everything it knows.
const shortestRound = 100 * time.Millisecond

// mostBuckets bounds what the window of a circuit breaker is parted into.
const mostBuckets = 10_000

// checkHystrix finds settings that contradict each other or that have no effect.
func (b *builder) checkHystrix() {
	b.checkCommand(defaultKey, &b.config.Hystrix.Default)
	for key, c := range b.config.Hystrix.Commands {
		b.checkCommand(key, c)
	}
	for _, name := range []string{"execution.isolation.strategy", "execution.isolation.semaphore.maxConcurrentRequests"} {
		key := "hystrix.command.default." + name
		if s := b.setting(key); s != nil {
			instead := "zuul.semaphore.max-semaphores"
			if strings.HasSuffix(name, "strategy") {
				instead = "zuul.ribbon-isolation-strategy"
			}
			b.report.warnf(key, s.at, "has no effect on services; use %s", instead)
		}
	}
	if s := b.setting("hystrix.command.default.threadPoolKeyOverride"); s != nil {
		b.report.warnf(s.name(), s.at, "has no effect: each command has its own")
	}
	b.checkPool(defaultKey, &b.config.Hystrix.DefaultPool)
	for key, p := range b.config.Hystrix.ThreadPools {
		b.checkPool(key, p)
	}
}

func (b *builder) checkPool(key string, p *ThreadPool) {
	prefix := "hystrix.threadpool." + key + "."
	b.checkBuckets(prefix+"metrics.rollingStats.", &p.RollingWindow, p.RollingBuckets)
	if s := b.setting(prefix + "maximumSize"); s != nil && p.MaxQueueSize > 0 && p.AllowMaximumSizeToDiverge && p.MaximumSize > p.CoreSize {
		b.report.warnf(s.name(), s.at, "has no effect with a queue: the pool has coreSize places")
	}
}

// checkBuckets is Hystrix's own condition.
func (b *builder) checkBuckets(prefix string, window *time.Duration, buckets int) {
	at := b.firstOf(prefix+"numBuckets", prefix+"timeInMilliseconds")
	if at != nil && *window%(time.Duration(buckets)*time.Millisecond) != 0 {
		b.report.errorf(at.name(), at.at, "the window of %s does not divide into %d buckets", *window, buckets)
		*window = time.Duration(buckets) * time.Second // it is built nevertheless, for the sake of a complete report
	}
}

func (b *builder) checkCommand(key string, c *Command) {
	prefix := "hystrix.command." + key + ".metrics."
	b.checkBuckets(prefix+"rollingStats.", &c.RollingWindow, c.RollingBuckets)
	b.checkBuckets(prefix+"rollingPercentile.", &c.PercentileWindow, c.PercentileBuckets)
	at := b.firstOf(prefix+"healthSnapshot.intervalInMilliseconds", prefix+"rollingStats.timeInMilliseconds")
	switch window, interval := c.RollingWindow, c.HealthSnapshotInterval; {
	case at == nil:
	case window < interval:
		b.report.errorf(at.name(), at.at, "the window of %s is shorter than the health snapshot interval of %s", window, interval)
		c.RollingWindow = interval // it is built nevertheless, for the sake of a complete report
	case window/interval > mostBuckets:
		b.report.errorf(at.name(), at.at, "the window of %s holds more than %d health snapshot intervals of %s", window, mostBuckets, interval)
		c.RollingWindow = interval
	}
	at = b.firstOf("hystrix.command." + key + ".circuitBreaker.forceClosed")
	if at != nil && c.Breaker.ForceOpen && c.Breaker.ForceClosed {
		b.report.warnf(at.name(), at.at, "has no effect: forceOpen wins")
	}
}
