package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/config"
)

func TestResilienceFor(t *testing.T) {
	c, report := parse(t, `gateway.resilience:
  default: {failure-status: 5xx, slow-call.percentage: 40}
  users:
    failure-status: [503, 520-529]
    slow-call: {duration: 250}
    adaptive-limit: {enabled: true, max: 500, tolerance: 200}
    hedge: {delay: 50, max: 2}
  geo.eager: true`)
	if strings.Contains(report.String(), "gateway.resilience") {
		t.Error(report)
	}
	base := config.Resilience{
		FailureStatus: []config.StatusRange{{From: 500, To: 599}}, SlowDuration: time.Second, SlowPercentage: 40,
		AdaptiveMin: 20, AdaptiveMax: 200, AdaptiveInitial: 20, AdaptiveTolerance: 150, HedgeMax: 1,
	}
	users, geo := base, base
	users.FailureStatus = []config.StatusRange{{From: 503, To: 503}, {From: 520, To: 529}}
	users.SlowDuration = 250 * time.Millisecond
	users.Adaptive, users.AdaptiveMax, users.AdaptiveTolerance = true, 500, 200
	users.HedgeDelay, users.HedgeMax = 50*time.Millisecond, 2
	geo.Eager = true
	for name, want := range map[string]config.Resilience{"users": users, "geo": geo, "other": base} {
		if diff := cmp.Diff(want, c.ResilienceFor(name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestFaultyResilience(t *testing.T) {
	for line, part := range map[string]string{
		"gateway.resilience.users.failure-status: 600":         "is neither a status",
		"gateway.resilience.users.failure-status: 504-500":     "is neither a status",
		"gateway.resilience.users.failure-status: 9xx":         "is neither a status",
		"gateway.resilience.users.failure-status: ''":          "",
		"gateway.resilience.users.adaptive-limit.min: 30":      "must be in order: min 30, initial 20, max 200",
		"gateway.resilience.default.adaptive-limit.max: 10":    "must be in order: min 20, initial 20, max 10",
		"gateway.resilience.users.slow-call.percentage: 101":   "out of range",
		"gateway.resilience.users.slow-cal.percentage: 10":     "unknown",
		"gateway.resilience.users.adaptive-limit.tolerance: 9": "out of range",
	} {
		_, report := config.Parse("f", []byte(line), config.Options{})
		if part != "" && (report.Err() == nil || !strings.Contains(report.String(), part)) {
			t.Errorf("%s: %s", line, report)
		}
	}
	_, report := parse(t, "zuul.ribbon-isolation-strategy: THREAD", "gateway.resilience.users.adaptive-limit.enabled: true")
	if !strings.Contains(report.String(), "has no effect with THREAD isolation") {
		t.Error(report)
	}
}

func TestHedgeLaterThanTheReadTimeout(t *testing.T) {
	for delay, want := range map[string]bool{"999": false, "1000": true} {
		_, report := parse(t, "gateway.resilience.users.hedge.delay: "+delay)
		if warned := strings.Contains(report.String(), "the read timeout of 1s ends"); warned != want {
			t.Errorf("%s ms: warned %v: %s", delay, warned, report)
		}
	}
}

func TestResilienceThatIsNotSwitchedOn(t *testing.T) {
	const users, general = "gateway.resilience.users.", "\ngateway.resilience.default."
	for yaml, want := range map[string]string{
		users + "slow-call.duration: 800ms":                                        "slow-call.duration: has no effect without slow-call.percentage",
		users + "hedge.max: 2":                                                     "hedge.max: has no effect without hedge.delay",
		users + "adaptive-limit.max: 300":                                          "adaptive-limit.max: has no effect without adaptive-limit.enabled",
		users + "slow-call: {duration: 800ms, percentage: 60}":                     "",
		users + "slow-call.duration: 800ms" + general + "slow-call.percentage: 60": "",
		users + "hedge.max: 2" + general + "hedge.delay: 50":                       "",
		users + "adaptive-limit: {max: 300, enabled: true}":                        "",
		users + "slow-call.percentage: 60" + general + "slow-call.duration: 800ms": "",
	} {
		_, report := parse(t, yaml)
		if got := report.String(); !strings.Contains(got, want) || want == "" && strings.Contains(got, "has no effect") {
			t.Errorf("%s: %q, want %q", yaml, got, want)
		}
	}
}

func TestStatusRange(t *testing.T) {
	for want, r := range map[string]config.StatusRange{"503": {From: 503, To: 503}, "500-504": {From: 500, To: 504}} {
		if got := r.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
