package config_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/config"
)

func parseYAML(t *testing.T, yaml string) *config.Config {
	t.Helper()
	cfg, report := config.Parse("gateway.yaml", []byte(yaml), config.Options{})
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// Case ribbon 150: time-outs of all services, and the defaults.
func TestConnectTimeoutOfAllServices(t *testing.T) {
	for yaml, want := range map[string][2]time.Duration{
		"server.port: 1":               {time.Second, time.Second},
		"ribbon.ConnectTimeout: 25000": {25 * time.Second, time.Second},
	} {
		r := parseYAML(t, yaml).RibbonFor("foo")
		if r.ConnectTimeout != want[0] || r.ReadTimeout != want[1] {
			t.Errorf("%s: connect %s, read %s", yaml, r.ConnectTimeout, r.ReadTimeout)
		}
	}
}

// The deadline that follows from the settings has room for the pauses.
func TestTimeoutHasRoomForPauses(t *testing.T) {
	for _, tc := range []struct {
		interval, most string
		same, next     int
		want           time.Duration
	}{
		{"0", "1s", 0, 1, 4 * time.Second},
		{"100", "1s", 0, 0, 2 * time.Second},
		{"100", "1s", 0, 1, 4*time.Second + 100*time.Millisecond},
		{"100", "1s", 1, 2, 12*time.Second + 2500*time.Millisecond},
		{"2s", "1s", 1, 2, 12*time.Second + 5*time.Second},
		{"1", "10m", 0, 20, 42*time.Second + 1023*time.Millisecond + 10*1024*time.Millisecond},
		{"200000h", "2000000h", 1000, 1000, math.MaxInt64},
	} {
		yaml := fmt.Sprintf("users.ribbon: {BackoffInterval: %s, MaxAutoRetries: %d, MaxAutoRetriesNextServer: %d}\ngateway.retry.users.max-backoff: %s\n", tc.interval, tc.same, tc.next, tc.most)
		if got, _ := parseYAML(t, yaml).TimeoutFor("users"); got != tc.want {
			t.Errorf("%v: %s, want %s", tc, got, tc.want)
		}
	}
}

// A budget of 5 s has time for attempts of 2 s and the pauses between them.
func TestAttemptsWithinABudget(t *testing.T) {
	for interval, want := range map[string]int{"0": 2, "1s": 2, "1001": 1} {
		r := parseYAML(t, fmt.Sprintf("users.ribbon: {BackoffInterval: %s, MaxAutoRetries: 3}\ngateway.retry.users.max-backoff: 1h\n", interval)).RibbonFor("users")
		if got := r.AttemptsWithin(5 * time.Second); got != want {
			t.Errorf("pauses of %s: %d attempts, want %d", interval, got, want)
		}
	}
}

func TestRetrySections(t *testing.T) {
	cfg := parseYAML(t, `
gateway.retry.default: {budget.percent: 30, handler: HTTP}
gateway.retry.users: {budget.burst: 7, throttled-status-codes: "503, 429"}
ribbon.listener.a.disabled: true
users.ribbon.listener.b.disabled: true
`)
	users, others := cfg.RibbonFor("users"), cfg.RibbonFor("orders")
	if r := users.Retry; r.BudgetPercent != 30 || r.BudgetBurst != 7 || r.Handler.Name != "HTTP" || len(r.ThrottledStatus) != 2 || !r.Budget || r.BudgetPerSecond != 10 {
		t.Errorf("users: %+v", r)
	}
	if r := others.Retry; r.BudgetPercent != 30 || r.BudgetBurst != 100 || len(r.ThrottledStatus) != 0 {
		t.Errorf("orders: %+v", r)
	}
	if !users.ListenersOff["a"] || !users.ListenersOff["b"] || !others.ListenersOff["a"] || others.ListenersOff["b"] {
		t.Errorf("listeners off: %v and %v", users.ListenersOff, others.ListenersOff)
	}
}
