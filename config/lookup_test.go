package config_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/config"
)

// parse loads lines of YAML and fails the test if they have errors.
func parse(t *testing.T, lines ...string) (*config.Config, *config.Report) {
	t.Helper()
	c, report := config.Parse("gateway.yaml", []byte(strings.Join(append(lines, "server.port: 8080"), "\n")), config.Options{})
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	return c, report
}

func TestTimeoutFor(t *testing.T) {
	const (
		own     = "hystrix.command.service.execution.isolation.thread.timeoutInMilliseconds: 50"
		general = "hystrix.command.default.execution.isolation.thread.timeoutInMilliseconds: 30"
		ribbon  = "service.ribbon: {ConnectTimeout: 1000, ReadTimeout: 1000, MaxAutoRetries: 1, MaxAutoRetriesNextServer: 2}"
		client  = "ribbon: {ConnectTimeout: 100, ReadTimeout: 500}"
		route   = "zuul.routes.service: /service/**"
	)
	for _, row := range []struct {
		name   string
		lines  []string
		want   int64 // ms
		ribbon int64 // ms
	}{
		{"zuul 144 nothing set", nil, 4000, 4000},
		{"zuul 144 command set", []string{own}, 50, 4000},
		{"zuul 144 command and default set", []string{own, general}, 50, 4000},
		{"zuul 144 hystrix 116 command, default and ribbon set", []string{own, general, ribbon}, 50, 12000},
		{"zuul 144 default set", []string{general}, 30, 4000},
		{"zuul 144 hystrix 116 default and ribbon set", []string{general, ribbon}, 30, 12000},
		{"zuul 144 command and ribbon set", []string{own, ribbon}, 50, 12000},
		{"zuul 144 hystrix 115 client set", []string{client}, 1200, 1200},
		{"zuul 144 hystrix 115 client set, retries of the service", []string{client, "service.ribbon: {MaxAutoRetries: 1, MaxAutoRetriesNextServer: 2}"}, 3600, 3600},
		{"zuul 144 hystrix 115 ribbon set", []string{ribbon}, 12000, 12000},
		{"zuul 144 ribbon over client", []string{client, ribbon}, 12000, 12000},
		{"zuul 144 part of ribbon over client", []string{client, "service.ribbon: {ConnectTimeout: 1000, MaxAutoRetries: 1}"}, 6000, 6000},
		{"another service", []string{"other.ribbon.ReadTimeout: 9000"}, 4000, 4000},
		{"zero is not set", []string{strings.Replace(own, "50", "0", 1), general}, 30, 4000},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, report := parse(t, append(row.lines, route)...)
			budget, ribbon := c.TimeoutFor("service")
			if budget.Milliseconds() != row.want || ribbon.Milliseconds() != row.ribbon {
				t.Errorf("TimeoutFor = %s, %s; want %dms, %dms", budget, ribbon, row.want, row.ribbon)
			}
			if got := c.HystrixFor("service").Timeout; got != budget {
				t.Errorf("HystrixFor has timeout %s, TimeoutFor %s", got, budget)
			}
			warned := strings.Contains(report.String(), "is less than the connects, reads and retries of service service")
			if warned != (row.want < row.ribbon) {
				t.Errorf("warned: %v\n%s", warned, report)
			}
		})
	}
	t.Run("zuul 144 another name space is not ribbon's", func(t *testing.T) {
		c, report := config.Parse("f", []byte("service.test.ReadTimeout: 9"), config.Options{})
		if _, ribbon := c.TimeoutFor("service"); ribbon != 4*time.Second {
			t.Errorf("ribbon timeout = %s", ribbon)
		}
		if report.Err() == nil {
			t.Error("not reported")
		}
	})
}

func TestHystrixFor(t *testing.T) {
	const threads = "zuul.ribbon-isolation-strategy: THREAD"
	for _, row := range []struct {
		name      string
		lines     []string
		isolation string
		permits   int
		pool      string
	}{
		{"zuul 145 semaphore, prefix unused", []string{"zuul.thread-pool.thread-pool-key-prefix: zuulgw-"}, "SEMAPHORE", 100, "RibbonCommand"},
		{"zuul 145 threads", []string{threads}, "THREAD", 100, "RibbonCommand"},
		{"zuul 145 threads apart", []string{threads, "zuul.thread-pool.use-separate-thread-pools: true"}, "THREAD", 100, "testCommand1"},
		{"zuul 145 threads apart with prefix", []string{threads, "zuul.thread-pool: {use-separate-thread-pools: true, thread-pool-key-prefix: zuulgw-}"}, "THREAD", 100, "zuulgw-testCommand1"},
		{"pool override", []string{threads, "hystrix.command.testCommand1.threadPoolKeyOverride: mine"}, "THREAD", 100, "mine"},
		{"global permits", []string{"zuul.semaphore.max-semaphores: 7"}, "SEMAPHORE", 7, "RibbonCommand"},
		{"permits of the service", []string{"zuul.semaphore.max-semaphores: 7", "zuul.eureka.testCommand1.semaphore.maxSemaphores: 8"}, "SEMAPHORE", 8, "RibbonCommand"},
		{"the command decides", []string{
			"zuul.eureka.testCommand1.semaphore.maxSemaphores: 8",
			"hystrix.command.testCommand1.execution.isolation: {strategy: THREAD, semaphore.maxConcurrentRequests: 9}",
		}, "THREAD", 9, "RibbonCommand"},
		{"the default command does not", []string{
			"hystrix.command.default.execution.isolation: {strategy: THREAD, semaphore.maxConcurrentRequests: 9}",
			"hystrix.command.testCommand1.circuitBreaker.enabled: false",
		}, "SEMAPHORE", 100, "RibbonCommand"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, _ := parse(t, row.lines...)
			got := c.HystrixFor("testCommand1")
			if got.Isolation != row.isolation || got.MaxConcurrentRequests != row.permits || got.ThreadPoolKey != row.pool {
				t.Errorf("got %s, %d, %s; want %s, %d, %s", got.Isolation, got.MaxConcurrentRequests, got.ThreadPoolKey, row.isolation, row.permits, row.pool)
			}
		})
	}
}

// TestHystrixCommand looks at commands that are no service's: default counts in
// everything.
func TestHystrixCommand(t *testing.T) {
	const limits = "hystrix.command.default.execution.isolation: {strategy: SEMAPHORE, semaphore.maxConcurrentRequests: 7, thread.timeoutInMilliseconds: 70}"
	for _, row := range []struct {
		name      string
		lines     []string
		isolation string
		permits   int
		timeout   time.Duration
		pool      string
	}{
		{"hystrix 109 nothing set", nil, "THREAD", 10, time.Second, ""},
		{"hystrix 109 default set", []string{limits}, "SEMAPHORE", 7, 70 * time.Millisecond, ""},
		{"hystrix 109 both set", []string{limits, "hystrix.command.geo.execution.isolation: {strategy: THREAD, semaphore.maxConcurrentRequests: 8, thread.timeoutInMilliseconds: 80}"}, "THREAD", 8, 80 * time.Millisecond, ""},
		{"hystrix 109 one of them set", []string{limits, "hystrix.command.geo.circuitBreaker.enabled: false"}, "SEMAPHORE", 7, 70 * time.Millisecond, ""},
		{"hystrix 110 pool of the command", []string{"hystrix.command.geo.threadPoolKeyOverride: mine"}, "THREAD", 10, time.Second, "mine"},
		{"hystrix 110 pool of the default", []string{"hystrix.command.default.threadPoolKeyOverride: ours"}, "THREAD", 10, time.Second, ""},
		{"Zuul has no say", []string{"zuul.ribbon-isolation-strategy: SEMAPHORE", "zuul.semaphore.max-semaphores: 3"}, "THREAD", 10, time.Second, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, report := parse(t, row.lines...)
			got := c.HystrixCommand("geo")
			if got.Isolation != row.isolation || got.MaxConcurrentRequests != row.permits || got.Timeout != row.timeout || got.ThreadPoolKey != row.pool {
				t.Errorf("got %s, %d, %s, %q", got.Isolation, got.MaxConcurrentRequests, got.Timeout, got.ThreadPoolKey)
			}
			if service := c.HystrixFor("other").ThreadPoolKey; service != "RibbonCommand" {
				t.Errorf("a service has the pool %q", service)
			}
			if ours := strings.Contains(row.name, "pool of the default"); ours != strings.Contains(report.String(), "each command has its own") {
				t.Errorf("report is %s", report)
			}
		})
	}
}

func TestWindowsDivideIntoTheirBuckets(t *testing.T) {
	for _, line := range []string{
		"hystrix.command.geo.metrics.rollingStats.numBuckets: 3",
		"hystrix.command.default.metrics.rollingPercentile.timeInMilliseconds: 1000",
		"hystrix.threadpool.geo.metrics.rollingStats.timeInMilliseconds: 9999",
	} {
		_, report := config.Parse("f", []byte(line), config.Options{})
		if !strings.Contains(report.String(), "does not divide into") {
			t.Errorf("%s: %s", line, report)
		}
	}
}

func TestMaximumSizeBesideAQueue(t *testing.T) {
	const pool = "hystrix.threadpool.geo: {maximumSize: 20, allowMaximumSizeToDivergeFromCoreSize: true, maxQueueSize: %d}"
	for name, queue := range map[string]int{"Q8 queue": 5, "no queue": -1} {
		t.Run(name, func(t *testing.T) {
			_, report := parse(t, fmt.Sprintf(pool, queue))
			if warned := strings.Contains(report.String(), "has no effect with a queue"); warned != (queue > 0) {
				t.Errorf("warned %v: %s", warned, report)
			}
		})
	}
}

// TestLayers reads one value through every layer that may set it.
func TestLayers(t *testing.T) {
	t.Run("ribbon", func(t *testing.T) {
		c, _ := parse(t, "users.ribbon.MaxAutoRetries: 3", "ribbon: {MaxAutoRetries: 2, ReadTimeout: 7s}")
		if own, other := c.RibbonFor("users"), c.RibbonFor("Users"); own.MaxAutoRetries != 3 || other.MaxAutoRetries != 2 || own.ReadTimeout != 7*time.Second {
			t.Errorf("users %+v, Users %+v", own, other)
		}
	})
	t.Run("C167 a breaker per service, whatever the route", func(t *testing.T) {
		c, _ := parse(t, "hystrix.command.default.circuitBreaker.requestVolumeThreshold: 5", "hystrix.command.users.circuitBreaker.errorThresholdPercentage: 9")
		own, other := c.HystrixFor("users").Breaker, c.HystrixFor("orders").Breaker
		if own.RequestVolumeThreshold != 5 || own.ErrorThresholdPercentage != 9 || other.RequestVolumeThreshold != 5 || other.ErrorThresholdPercentage != 50 {
			t.Errorf("users %+v, orders %+v", own, other)
		}
	})
	t.Run("thread pools", func(t *testing.T) {
		c, _ := parse(t, "hystrix.threadpool: {default.coreSize: 3, big.maxQueueSize: 100}")
		if own, other := c.ThreadPoolFor("big"), c.ThreadPoolFor("x"); own.CoreSize != 3 || own.MaxQueueSize != 100 || other.MaxQueueSize != -1 {
			t.Errorf("big %+v, x %+v", own, other)
		}
	})
	t.Run("sources", func(t *testing.T) {
		yaml := []byte("zuul.debug.parameter: file\n---\nspring.config.activate.on-profile: p\nzuul.debug.parameter: document\n")
		o := config.Options{}
		for _, step := range []struct {
			want string
			add  func()
		}{
			{"file", func() {}},
			{"document", func() { o.Profiles = []string{"p"} }},
			{"environment", func() { o.Env = []string{"ZUUL_DEBUG_PARAMETER=environment"} }},
			{"line", func() { o.Set = []string{"zuul.debug.parameter=line"} }},
		} {
			step.add()
			if c, _ := config.Parse("f", yaml, o); c.Zuul.Debug.Parameter != step.want {
				t.Errorf("got %s, want %s", c.Zuul.Debug.Parameter, step.want)
			}
		}
	})
}
