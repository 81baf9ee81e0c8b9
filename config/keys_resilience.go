package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gozer-gateway/gozer/internal/grpc"
)

// Resilience is gateway.resilience.<key>.*: what commands have beyond Hystrix. All of
// it is off by default.
type Resilience struct {
	// FailureStatus are the statuses that count against the service.
	FailureStatus []StatusRange
	// FailureCodes are the grpc-statuses that count against the service.
	FailureCodes []grpc.Code
	// Eager judges a circuit at every failure, and not only at each health snapshot.
	Eager             bool
	SlowDuration      time.Duration
	SlowPercentage    int // 0: slowness does not count
	Adaptive          bool
	AdaptiveMin       int
	AdaptiveMax       int
	AdaptiveInitial   int
	AdaptiveTolerance int // percent
	// HedgeDelay is how long a server may be silent until the request goes to a further
	// one too; 0 means that it does not.
	HedgeDelay time.Duration
	HedgeMax   int // further servers
}

// StatusRange is a range of HTTP statuses, both ends included.
type StatusRange struct{ From, To int }

func resilienceKeys() []Key {
	return lift("gateway.resilience.<key>.", resilience,
		row[Resilience]{name: "failure-status", kind: "list of statuses and classes", doc: "responses that count as failures of the service, such as `5xx, 429, 450-459`; they are passed on; `<key>` is a service, or `default`; in the keys below also the command of a filter", set: setFailureStatus},
		row[Resilience]{name: "failure-grpc-status", kind: "list of gRPC statuses", doc: "ends of gRPC calls that count as failures of the service, by name or number, such as `UNAVAILABLE, 13`", set: setFailureCodes},
		boolean("eager", "false", "open a circuit at the very failure that is one too many, and not at the next health snapshot", func(r *Resilience) *bool { return &r.Eager }),
		duration("slow-call.duration", "1s", "calls that take longer are slow", time.Millisecond, time.Millisecond, func(r *Resilience) *time.Duration { return &r.SlowDuration }),
		number("slow-call.percentage", "0", "share of slow calls that opens the circuit, as errors do; 0 means none", 0, 100, func(r *Resilience) *int { return &r.SlowPercentage }),
		boolean("adaptive-limit.enabled", "false", "let the latency of the service decide how many calls run at once, in place of the permits of SEMAPHORE", func(r *Resilience) *bool { return &r.Adaptive }),
		number("adaptive-limit.min", "20", "calls that may always run at once", 1, mostPermits, func(r *Resilience) *int { return &r.AdaptiveMin }),
		number("adaptive-limit.max", "200", "calls that may run at once at most", 1, mostPermits, func(r *Resilience) *int { return &r.AdaptiveMax }),
		number("adaptive-limit.initial", "20", "calls that may run at once in the beginning", 1, mostPermits, func(r *Resilience) *int { return &r.AdaptiveInitial }),
		number("adaptive-limit.tolerance", "150", "latency in percent of the usual one up to which the limit may grow", 100, 10_000, func(r *Resilience) *int { return &r.AdaptiveTolerance }),
		duration("hedge.delay", "0", "send a read-only request of a retryable route to a second server too when the first has been silent for so long, within the retry budget; 0 means never", time.Millisecond, 0, func(r *Resilience) *time.Duration { return &r.HedgeDelay }),
		number("hedge.max", "1", "servers beside the first that such a request goes to", 1, 10, func(r *Resilience) *int { return &r.HedgeMax }),
	)
}

// mostPermits bounds what an adaptive limit may grow to.
const mostPermits = 1_000_000

func resilience(b *builder, values []string) *Resilience {
	r := &b.config.Gateway.Resilience
	if values[0] == defaultKey {
		return &r.Default
	}
	own, ok := r.Commands[values[0]]
	if !ok {
		completed := r.Default
		own = &completed
		r.Commands[values[0]] = own
	}
	return own
}

// Resiliences is gateway.resilience. Use ResilienceFor.
type Resiliences struct {
	Default  Resilience
	Commands map[string]*Resilience // by service or command key, completed from Default
}

// ResilienceFor gives the settings of a service, or of the command of a filter.
func (c *Config) ResilienceFor(key string) Resilience {
	if own, ok := c.Gateway.Resilience.Commands[key]; ok {
		return *own
	}
	return c.Gateway.Resilience.Default
}

func setFailureStatus(r *Resilience, v *node) (err error) {
	r.FailureStatus, err = each(v, statusesOf)
	return err
}

func setFailureCodes(r *Resilience, v *node) (err error) {
	r.FailureCodes, err = each(v, codeOf)
	return err
}

// codeOf reads a grpc-status that is no success.
func codeOf(v *node) (grpc.Code, error) {
	text, err := filled(v)
	if err != nil {
		return 0, err
	}
	code, ok := grpc.ParseCode(text)
	if !ok || code == 0 {
		return 0, fault(v, "is no grpc-status of a failure, such as UNAVAILABLE or 14")
	}
	return code, nil
}

// statusesOf reads "503", "5xx" or "500-504".
func statusesOf(v *node) (StatusRange, error) {
	text, err := amount(v)
	if err != nil {
		return StatusRange{}, err
	}
	low, high, isRange := strings.Cut(text, "-")
	if class, ok := strings.CutSuffix(strings.ToLower(text), "xx"); ok {
		low, high, isRange = class+"00", class+"99", true
	}
	if !isRange {
		high = low
	}
	from, errFrom := strconv.Atoi(strings.TrimSpace(low))
	to, errTo := strconv.Atoi(strings.TrimSpace(high))
	if errors.Join(errFrom, errTo) != nil || from < 100 || to > 599 || from > to {
		return StatusRange{}, fault(v, "is neither a status, such as 503, nor a class, such as 5xx, nor a range, such as 500-504")
	}
	return StatusRange{from, to}, nil
}

// checkResilience finds settings that contradict each other or that have no effect.
func (b *builder) checkResilience() {
	b.checkAdaptive(defaultKey, &b.config.Gateway.Resilience.Default)
	for key, r := range b.config.Gateway.Resilience.Commands {
		b.checkSwitches(key, r) // before checkAdaptive may switch it off
		b.checkAdaptive(key, r)
		b.checkHedge(key, r)
	}
}

// checkSwitches finds settings of what is off. Under default they may be meant for a
// key that switches it on.
func (b *builder) checkSwitches(key string, r *Resilience) {
	prefix := "gateway.resilience." + key + "."
	off := func(on bool, by string, names ...string) {
		for _, name := range names {
			if s := b.setting(prefix + name); s != nil && !on {
				b.report.warnf(s.name(), s.at, "has no effect without %s", by)
			}
		}
	}
	off(r.SlowPercentage > 0, "slow-call.percentage", "slow-call.duration")
	off(r.HedgeDelay > 0, "hedge.delay", "hedge.max")
	off(r.Adaptive, "adaptive-limit.enabled", "adaptive-limit.min", "adaptive-limit.max", "adaptive-limit.initial", "adaptive-limit.tolerance")
}

func (b *builder) checkHedge(key string, r *Resilience) {
	at := b.firstOf("gateway.resilience." + key + ".hedge.delay")
	if read := b.config.RibbonFor(key).ReadTimeout; at != nil && r.HedgeDelay >= read {
		b.report.warnf(at.name(), at.at, "has no effect: the read timeout of %s ends the first attempt before", short(read))
	}
}

func (b *builder) checkAdaptive(key string, r *Resilience) {
	prefix := "gateway.resilience." + key + ".adaptive-limit."
	at := b.firstOf(prefix+"initial", prefix+"max", prefix+"min", prefix+"enabled")
	switch {
	case at == nil:
	case r.AdaptiveMin > r.AdaptiveInitial || r.AdaptiveInitial > r.AdaptiveMax:
		b.report.errorf(at.name(), at.at, "must be in order: min %d, initial %d, max %d", r.AdaptiveMin, r.AdaptiveInitial, r.AdaptiveMax)
		r.Adaptive = false // it is built nevertheless, for the sake of a complete report
	case r.Adaptive && key != defaultKey && b.config.HystrixFor(key).Isolation == "THREAD":
		b.report.warnf(at.name(), at.at, "has no effect with THREAD isolation: the pool has its size")
	}
}

// String gives what was written.
func (s StatusRange) String() string {
	if s.From == s.To {
		return strconv.Itoa(s.From)
	}
	return fmt.Sprintf("%d-%d", s.From, s.To)
}
