package config

import (
	"maps"
	"math"
	"strings"
	"time"
)

// The retry handlers.
const (
	RetryAny     = "any"     // everything that may be repeated, as Spring does
	RetryDefault = "default" // DefaultLoadBalancerRetryHandler
	RetryHTTP    = "http"    // that of Ribbon's HTTP clients
	RetryConnect = "connect" // broken connections only
)

func retryKeys() []Key {
	return lift("gateway.retry.<service>.", retrying,
		boolean("budget.enabled", "true", "bound the retries of all requests together; `<service>` may be `default`", func(r *Retry) *bool { return &r.Budget }),
		number("budget.percent", "20", "retries that 100 requests allow", 0, 1000, func(r *Retry) *int { return &r.BudgetPercent }),
		number("budget.per-second", "10", "retries that are allowed each second however few requests there are", 0, 1_000_000, func(r *Retry) *int { return &r.BudgetPerSecond }),
		number("budget.burst", "100", "retries that may be saved up while there are none", 0, math.MaxInt32, func(r *Retry) *int { return &r.BudgetBurst }),
		duration("max-backoff", "1000", "longest pause between two attempts", time.Millisecond, time.Millisecond, func(r *Retry) *time.Duration { return &r.MaxBackoff }),
		row[Retry]{name: "handler", kind: "name of a handler", def: RetryAny, doc: "which of the failures that may be repeated are: `any` of them, those of Ribbon's `default` handler or of its clients (`http`), broken connections only (`connect`), or what a handler given in Go says", set: setHandler},
		row[Retry]{name: "grpc-status", kind: "list of gRPC statuses", doc: "ends of gRPC calls without any message, by name or number, such as `UNAVAILABLE`, after which the call is made again, whatever `retryable` says", set: setTurnedAway},
		row[Retry]{name: "throttled-status-codes", kind: "list of statuses", doc: "responses that count against the server and are repeated like errors, such as 503 with Ribbon's RestClient", set: setThrottled},
	)
}

// retrying finds the section of a service; "default" is all services.
func retrying(b *builder, values []string) *Retry {
	if values[0] == defaultKey {
		return &b.config.Ribbon.Retry
	}
	return &serviceRibbon(b, values).Retry
}

// setHandler takes any name: who puts the parts together knows the handlers.
func setHandler(r *Retry, v *node) error {
	name, err := filled(v)
	if err == nil {
		r.Handler = Class{name, v.at}
	}
	return err
}

func setThrottled(r *Retry, v *node) (err error) {
	r.ThrottledStatus, err = numbersOf(v, 100, 599)
	return err
}

func setTurnedAway(r *Retry, v *node) (err error) {
	r.Codes, err = each(v, codeOf)
	return err
}

func backoffRows() []row[Ribbon] {
	interval := func(name, def, doc string) row[Ribbon] {
		return duration(name, def, doc, time.Millisecond, 0, func(r *Ribbon) *time.Duration { return &r.BackoffInterval })
	}
	return []row[Ribbon]{
		interval("BackoffInterval", "0", "pause before the first repeat, doubled for each further one; the actual pause is between half of it and all of it"),
		interval("BackoffTimeout", "(BackoffInterval)", "another name of BackoffInterval"),
	}
}

// listenerKey switches a listener off.
func listenerKey(prefix string, target func(*builder, []string) *Ribbon) Key {
	set := func(b *builder, values []string, v *node) error {
		off, err := boolOf(v)
		if err != nil {
			return err
		}
		r := target(b, values)
		r.ListenersOff = maps.Clone(r.ListenersOff) // a service begins with that of all
		if r.ListenersOff == nil {
			r.ListenersOff = map[string]bool{}
		}
		r.ListenersOff[strings.ToLower(values[len(values)-1])] = off
		return nil
	}
	return Key{
		Name: prefix + "listener.<name>.disabled", Type: "bool", Default: "false",
		Doc: "switch off a listener that was added in Go", set: set,
	}
}

// retryKey is Spring's switch for the retries of all services.
const retryKey = "spring.cloud.loadbalancer.retry.enabled"

// checkRetry makes no route retryable if retries are switched off.
func (b *builder) checkRetry() {
	z := &b.config.Zuul
	if z.RetryEnabled {
		return
	}
	const lost = "has no effect: " + retryKey + " is false"
	if s := b.setting("zuul.retryable"); s != nil && z.Retryable {
		b.report.warnf(s.name(), s.at, lost)
	}
	z.Retryable = false
	for i := range b.drafts {
		d := &b.drafts[i]
		name := joinKey([]string{"zuul", "routes", d.Key, "retryable"})
		if s := b.setting(name); s != nil && d.Retryable != nil && *d.Retryable {
			b.report.warnf(s.name(), s.at, lost)
		}
		d.Retryable = nil
	}
}

// pauses is the longest time that the pauses before so many retries take.
func (r Ribbon) pauses(retries int) time.Duration {
	const doublings = 10
	var total time.Duration
	for n := range min(retries, doublings) {
		total = plus(total, r.pause(n))
	}
	further, longest := max(retries-doublings, 0), r.pause(doublings)
	if further > 0 && longest > math.MaxInt64/time.Duration(further) {
		return math.MaxInt64
	}
	return plus(total, longest*time.Duration(further))
}

// pause is the longest one before a retry, counted from 0.
func (r Ribbon) pause(n int) time.Duration {
	if r.BackoffInterval > r.Retry.MaxBackoff>>n {
		return r.Retry.MaxBackoff
	}
	return r.BackoffInterval << n
}

// plus stops at the longest duration.
func plus(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
