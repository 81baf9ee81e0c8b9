package gozer

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gozer-gateway/gozer/config"
)

// hystrix gives the keys that may set a value of a command.
func hystrix(command, name string) []string {
	return []string{"hystrix.command." + command + "." + name, "hystrix.command.default." + name}
}

// resilience gives the keys that may set a value of gateway.resilience.
func resilience(id, name string) []string {
	return []string{"gateway.resilience." + id + "." + name, "gateway.resilience.default." + name}
}

// command tells the effective values of the command of a service, each with the
// key that decides it.
func (e *explanation) command(id string, c config.Command) {
	e.heading("command " + id)
	e.setting("isolation", c.Isolation, "hystrix.command."+id+".execution.isolation.strategy", "zuul.ribbon-isolation-strategy")
	switch r := e.config.ResilienceFor(id); {
	case c.Isolation == "THREAD":
		e.pool(id, c)
	case r.Adaptive:
		e.setting("permits", fmt.Sprintf("%d to %d, by latency", r.AdaptiveMin, r.AdaptiveMax), append(resilience(id, "adaptive-limit.max"), resilience(id, "adaptive-limit.enabled")...)...)
	default:
		e.setting("permits", strconv.Itoa(c.MaxConcurrentRequests),
			"hystrix.command."+id+".execution.isolation.semaphore.maxConcurrentRequests",
			"zuul.eureka."+id+".semaphore.maxSemaphores", "zuul.semaphore.max-semaphores")
	}
	e.breaker(id, c)
	e.beyond(id, e.config.ResilienceFor(id))
	e.setting("fallback", onOff(c.FallbackEnabled), hystrix(id, "fallback.enabled")...)
	e.setting("fallbacks at once", strconv.Itoa(c.FallbackMaxConcurrent), hystrix(id, "fallback.isolation.semaphore.maxConcurrentRequests")...)
}

func (e *explanation) breaker(id string, c config.Command) {
	b := c.Breaker
	e.setting("circuit breaker", onOff(b.Enabled), hystrix(id, "circuitBreaker.enabled")...)
	if b.ForceOpen {
		e.setting("forced open", "true", hystrix(id, "circuitBreaker.forceOpen")...)
	}
	if b.ForceClosed {
		e.setting("forced closed", "true", hystrix(id, "circuitBreaker.forceClosed")...)
	}
	e.setting("opens at", fmt.Sprintf("%d%% errors", b.ErrorThresholdPercentage), hystrix(id, "circuitBreaker.errorThresholdPercentage")...)
	e.setting("of at least", fmt.Sprintf("%d calls", b.RequestVolumeThreshold), hystrix(id, "circuitBreaker.requestVolumeThreshold")...)
	e.setting("within", c.RollingWindow.String(), hystrix(id, "metrics.rollingStats.timeInMilliseconds")...)
	e.setting("judged every", c.HealthSnapshotInterval.String(), hystrix(id, "metrics.healthSnapshot.intervalInMilliseconds")...)
	e.setting("counts", stretch(c.RollingWindow, c.RollingBuckets), append(hystrix(id, "metrics.rollingStats.numBuckets"), hystrix(id, "metrics.rollingStats.timeInMilliseconds")...)...)
	e.setting("ranks latencies", stretch(c.PercentileWindow, c.PercentileBuckets), append(hystrix(id, "metrics.rollingPercentile.timeInMilliseconds"), hystrix(id, "metrics.rollingPercentile.numBuckets")...)...)
	e.setting("sleeps", b.SleepWindow.String(), hystrix(id, "circuitBreaker.sleepWindowInMilliseconds")...)
}

// beyond tells what is switched on of gateway.resilience.
func (e *explanation) beyond(id string, r config.Resilience) {
	keys := func(name string) []string { return resilience(id, name) }
	if len(r.FailureStatus) > 0 {
		e.setting("failures too", strings.Trim(fmt.Sprint(r.FailureStatus), "[]"), keys("failure-status")...)
	}
	if len(r.FailureCodes) > 0 {
		e.setting("gRPC failures", strings.Trim(fmt.Sprint(r.FailureCodes), "[]"), keys("failure-grpc-status")...)
	}
	if r.Eager {
		e.setting("eager", "true", keys("eager")...)
	}
	if r.SlowPercentage > 0 {
		e.setting("opens at", fmt.Sprintf("%d%% longer than %s", r.SlowPercentage, r.SlowDuration), append(keys("slow-call.percentage"), keys("slow-call.duration")...)...)
	}
}

func (e *explanation) pool(id string, c config.Command) {
	key := c.ThreadPoolKey
	p := poolSettings(e.config, key)
	of := func(name string) []string {
		return []string{"hystrix.threadpool." + key + "." + name, "hystrix.threadpool.default." + name}
	}
	e.setting("pool", key, "hystrix.command."+id+".threadPoolKeyOverride", "zuul.thread-pool.use-separate-thread-pools")
	e.setting("at once", strconv.Itoa(p.Workers()), append(of("coreSize"), of("maximumSize")...)...)
	e.setting("waiting", strconv.Itoa(p.Places()), append(of("maxQueueSize"), of("queueSizeRejectionThreshold")...)...)
}

func stretch(window time.Duration, buckets int) string {
	return fmt.Sprintf("over %s in %d parts", window, buckets)
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// urlRoute tells what holds for calls without a command.
func (e *explanation) urlRoute() {
	h := e.config.Zuul.Host
	e.heading("deadlines")
	e.setting("wait for a connection", acquire(h), "zuul.host.connection-request-timeout-millis")
	e.setting("connect", limit(h.ConnectTimeout), "zuul.host.connect-timeout-millis")
	e.setting("read", limit(h.SocketTimeout), "zuul.host.socket-timeout-millis")
	e.line("budget", "none", "URL routes have no command, no retries and no fallback")
}

func limit(d time.Duration) string {
	if d == 0 {
		return "no limit"
	}
	return d.String()
}

func acquire(h config.ZuulHost) string {
	if h.ConnectionRequestTimeout < 0 {
		return limit(h.ConnectTimeout)
	}
	return h.ConnectionRequestTimeout.String()
}
