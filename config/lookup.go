package config

import (
	"cmp"
	"math"
	"sort"
	"time"
)

// Place tells where a key was written, given in the spelling of [Keys] with the user's
// names in it, such as "users.ribbon.ReadTimeout"; it is zero for a key that has its
// default.
func (c *Config) Place(key string) Position { return c.places[key].at }

// RibbonFor gives the load-balancer settings of a service: its own <service>.ribbon.*
// over ribbon.* over the defaults.
func (c *Config) RibbonFor(service string) Ribbon {
	if own, ok := c.Services[service]; ok {
		return *own
	}
	return c.Ribbon
}

// HystrixFor gives the command settings of a service as Zuul combines them
// (zuul.md 6.2 and 6.3). Isolation and permits come from
// hystrix.command.<service>.*, else from zuul.*: hystrix.command.default.* has no say
// in these two. The timeout is never 0.
func (c *Config) HystrixFor(service string) Command {
	cmd := c.Hystrix.Default
	own := c.Hystrix.Commands[service]
	if own != nil {
		cmd = *own
	}
	cmd.Isolation = c.isolation(own)
	cmd.MaxConcurrentRequests = c.permits(service, own)
	cmd.Timeout, _ = c.TimeoutFor(service)
	if own == nil || cmd.ThreadPoolKey == "" {
		cmd.ThreadPoolKey = c.poolKey(service)
	}
	return cmd
}

// HystrixCommand gives the settings of a command that is no service's, as Hystrix
// itself would. ThreadPoolKey is empty unless the command has one of its own.
func (c *Config) HystrixCommand(key string) Command {
	general := c.Hystrix.Default
	cmd := general
	if own := c.Hystrix.Commands[key]; own != nil {
		cmd = *own
	} else {
		cmd.ThreadPoolKey = ""
	}
	cmd.Isolation = cmp.Or(cmd.Isolation, general.Isolation, "THREAD")
	cmd.MaxConcurrentRequests = cmp.Or(cmd.MaxConcurrentRequests, general.MaxConcurrentRequests, 10)
	cmd.Timeout = cmp.Or(cmd.Timeout, general.Timeout, time.Second)
	return cmd
}

// ThreadPoolFor gives the settings of the pool named by [Command.ThreadPoolKey].
func (c *Config) ThreadPoolFor(key string) ThreadPool {
	if own, ok := c.Hystrix.ThreadPools[key]; ok {
		return *own
	}
	return c.Hystrix.DefaultPool
}

// TimeoutFor gives the budget of one request to a service and the time that its
// connects, reads and retries may need: (ReadTimeout + ConnectTimeout) ×
// (MaxAutoRetries + 1) × (MaxAutoRetriesNextServer + 1), and the longest pauses between
// them, if there are any. The budget is that time
// unless hystrix.command.<service> or hystrix.command.default sets one; a smaller
// budget cuts retries short.
func (c *Config) TimeoutFor(service string) (budget, ribbon time.Duration) {
	ribbon = c.RibbonFor(service).timeout()
	if own, ok := c.Hystrix.Commands[service]; ok && own.Timeout > 0 {
		return own.Timeout, ribbon
	}
	if c.Hystrix.Default.Timeout > 0 {
		return c.Hystrix.Default.Timeout, ribbon
	}
	return ribbon, ribbon
}

// Attempts is how many a request may make: on each of the servers, and in all.
func (r Ribbon) Attempts() (each, all int) {
	each = r.MaxAutoRetries + 1
	return each, each * (r.MaxAutoRetriesNextServer + 1)
}

// AttemptsWithin tells how many attempts a budget has time for, even if each takes as
// long as it may.
func (r Ribbon) AttemptsWithin(budget time.Duration) int {
	_, all := r.Attempts()
	return sort.Search(all, func(n int) bool { return r.timeFor(n+1) > budget })
}

func (r Ribbon) timeout() time.Duration {
	_, attempts := r.Attempts()
	return r.timeFor(attempts)
}

// timeFor is the longest time that so many attempts take, at least one, and the pauses
// between them.
func (r Ribbon) timeFor(attempts int) time.Duration {
	if r.ReadTimeout > time.Duration(math.MaxInt64/attempts)-r.ConnectTimeout {
		return math.MaxInt64
	}
	return plus((r.ReadTimeout+r.ConnectTimeout)*time.Duration(attempts), r.pauses(attempts-1))
}

func (c *Config) isolation(own *Command) string {
	if own != nil && own.Isolation != "" {
		return own.Isolation
	}
	return c.Zuul.Isolation
}

func (c *Config) permits(service string, own *Command) int {
	if own != nil && own.MaxConcurrentRequests > 0 {
		return own.MaxConcurrentRequests
	}
	if n, ok := c.Zuul.SemaphoreByService[service]; ok {
		return n
	}
	return c.Zuul.MaxSemaphores
}

// groupKey is the Hystrix group of every Zuul command, and the name of the pool that
// all services share under THREAD isolation.
const groupKey = "RibbonCommand"

func (c *Config) poolKey(service string) string {
	if c.Zuul.ThreadPool.UseSeparateThreadPools {
		return c.Zuul.ThreadPool.ThreadPoolKeyPrefix + service
	}
	return groupKey
}
