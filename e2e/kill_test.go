package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// frozenTime is longer than this machine may keep a good server from its work.
const frozenTime = 2500 * time.Millisecond

// killYAML is a route to a service with ten servers. A GET is repeated on as many servers
// as may be bad, and no frozen one is waited for longer than frozenTime.
func killYAML(servers []*backendtest.Backend, balancing string) string {
	var addresses []string
	for _, b := range servers {
		addresses = append(addresses, b.Addr)
	}
	return fmt.Sprintf(`
zuul.routes.ten: {path: /ten/**, serviceId: ten, retryable: true}
hystrix.command.ten:
  execution.isolation.thread.timeoutInMilliseconds: 30000
  circuitBreaker.enabled: false
zuul.semaphore.max-semaphores: 1000
ten.ribbon:
  listOfServers: "%s"
  MaxConnectionsPerHost: 1000
  ReadTimeout: %d
  MaxAutoRetriesNextServer: 6
  retryableStatusCodes: 500
%s`, strings.Join(addresses, ","), frozenTime.Milliseconds(), balancing)
}

// sight is what the management endpoint tells about a server.
type sight struct {
	Address, State     string
	TotalRequests      int64
	SuccessiveFailures int64
}

func (g *gateway) servers(service string) []sight {
	g.tb.Helper()
	a, err := g.tryGet(g.AdminURL("/actuator/servers/" + service))
	if err != nil {
		g.tb.Fatal(err)
	}
	var seen struct{ Servers []sight }
	if err := json.Unmarshal([]byte(a.Body), &seen); err != nil {
		g.tb.Fatal(err)
	}
	return seen.Servers
}

// openLoop sends GETs at a fixed rate, whether or not those before have been answered.
type openLoop struct {
	mu       sync.Mutex
	failures []string        // guarded by mu
	took     []time.Duration // guarded by mu
}

func (l *openLoop) run(tb testing.TB, url string, rate int, length time.Duration) {
	tb.Helper()
	client := newClient(tb)
	var wg sync.WaitGroup
	ticker := time.NewTicker(time.Second / time.Duration(rate))
	defer ticker.Stop()
	for range int(length.Seconds() * float64(rate)) {
		<-ticker.C
		wg.Go(func() { l.ask(tb, client, url) })
	}
	wg.Wait()
}

func (l *openLoop) ask(tb testing.TB, client *http.Client, url string) {
	tb.Helper()
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		tb.Error(err)
		return
	}
	start := time.Now()
	res, err := client.Do(req)
	a := new(answer)
	if err == nil {
		a, err = read(res)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took = append(l.took, time.Since(start))
	if err != nil || a.Status != http.StatusOK {
		l.failures = append(l.failures, fmt.Sprintf("status %d, %v, %.200s", a.Status, err, a.Body))
	}
}

// quantile is that of the response times.
func (l *openLoop) quantile(q float64) time.Duration {
	slices.Sort(l.took)
	return l.took[int(q*float64(len(l.took)-1))].Round(100 * time.Microsecond)
}

// killing kills three of ten servers, freezes two and lets one answer 500, under load.
// It returns the share of attempts that go to those six from one second after the first
// frozen attempts have been given up on.
func killing(t *testing.T, balancing string) (share float64, during, after *openLoop) {
	t.Helper()
	const rate = 100 // what hangs at the frozen ones is less than the budget of retries
	servers := make([]*backendtest.Backend, 10)
	for i := range servers {
		servers[i] = backendtest.Start(t, backendtest.Answer(http.StatusOK, "ok"))
	}
	g := startGateway(t, killYAML(servers, balancing))
	before := new(openLoop)
	before.run(t, g.URL("/ten/x"), rate, 500*time.Millisecond)
	bad := map[string]bool{}
	for i, b := range servers[:6] {
		bad[b.Addr] = true
		switch {
		case i < 3:
			b.Kill()
		case i < 5:
			b.Freeze()
		default:
			b.Use(backendtest.Answer(http.StatusInternalServerError, "no"))
		}
	}
	during, after = new(openLoop), new(openLoop)
	during.run(t, g.URL("/ten/x"), rate, frozenTime+time.Second)
	first := g.servers("ten")
	after.run(t, g.URL("/ten/x"), rate, 3*time.Second)
	var all, lost int64
	for i, s := range g.servers("ten") {
		n := s.TotalRequests - first[i].TotalRequests
		all += n
		if bad[s.Address] {
			lost += n
		}
	}
	return float64(lost) / float64(all), during, after
}

// Ten servers, open-loop load; three are killed, two frozen, one answers 500. No GET
// fails, and one second after the first read timeouts next to none goes to a bad server. A plain round robin
// without blackout and ejection, for comparison, keeps sending them there.
func TestShowSixOfTenServersFail(t *testing.T) {
	for _, tc := range []struct {
		name, balancing string
		least, most     float64 // of the share of bad servers, each of which is tried again now and then
	}{
		{"PowerOfTwoChoices and outliers", `  NFLoadBalancerRuleClassName: PowerOfTwoChoices
gateway.load-balancing.ten.outliers: {enabled: true, max-share: 0.7}
`, 0, 0.05},
		{"ZoneAvoidanceRule and outliers, the default rule", "gateway.load-balancing.ten.outliers: {enabled: true, max-share: 0.7}\n", 0, 0.05},
		{"plain round robin", `  NFLoadBalancerRuleClassName: com.netflix.loadbalancer.RoundRobinRule
niws.loadbalancer.availabilityFilteringRule.filterCircuitTripped: false
gateway.retry.ten.budget.enabled: false # it needs more retries than requests
`, 0.4, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			share, during, after := killing(t, tc.balancing)
			t.Logf("share of bad servers at the end %.4f; at first: p50 %v, p99 %v; then: p50 %v, p99 %v",
				share, during.quantile(0.5), during.quantile(0.99), after.quantile(0.5), after.quantile(0.99))
			if share < tc.least || share > tc.most {
				t.Errorf("share of bad servers %.4f, want %.2f to %.2f", share, tc.least, tc.most)
			}
			if failed := slices.Concat(during.failures, after.failures); len(failed) > 0 {
				t.Errorf("%d requests failed, the first: %s", len(failed), failed[0])
			}
		})
	}
}
