package gozer_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/lb"
)

const retryingYAML = "zuul.routes.users: {path: /users/**, retryable: true}\nusers.ribbon.listOfServers: a:1,b:1,c:1\n"

// losing makes every call to users fail with err and notes the hosts.
func losing(g *gozer.Gateway, err error) *[]string {
	var hosts []string
	g.SetTransport("users", roundTrip(func(r *http.Request) (*http.Response, error) {
		hosts = append(hosts, r.URL.Hostname())
		return nil, err
	}))
	return &hosts
}

var errLost = errors.New("connection lost")

// The keys of retries, each seen in the attempts of one GET.
func TestRetryKeys(t *testing.T) {
	for _, tc := range []struct {
		name, yaml string
		hosts      string
	}{
		{"the defaults", "", "a b"},
		{"ribbon 149 MaxAutoRetries of the service", "users.ribbon.MaxAutoRetries: 2\nusers.ribbon.MaxAutoRetriesNextServer: 0\n", "a a a"},
		{"of all services", "ribbon.MaxAutoRetriesNextServer: 2\n", "a b c"},
		{"the default handler does not repeat a lost connection on the server", "users.ribbon.MaxAutoRetries: 1\ngateway.retry.users.handler: default\n", "a b"},
		{"nor does connect, anywhere", "gateway.retry.default.handler: connect\n", "a"},
		{"no budget to speak of", "gateway.retry.users.budget: {percent: 0, per-second: 0, burst: 0}\n", "a"},
		{"of all services", "gateway.retry.default.budget: {percent: 0, per-second: 0, burst: 0}\n", "a"},
		{"switched off", "gateway.retry.users.budget: {enabled: false, percent: 0, per-second: 0, burst: 0}\n", "a b"},
		{"a pause that is too long", "ribbon.BackoffInterval: 2s\ngateway.retry.default.max-backoff: 10s\nhystrix.command.default.execution.isolation.thread.timeoutInMilliseconds: 900\n", "a"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGateway(t, retryingYAML+tc.yaml)
				hosts := losing(g, errLost)
				if got := get(t, g, "/users/1"); got.Code != http.StatusBadGateway {
					t.Errorf("status %d", got.Code)
				}
				if got := strings.Join(*hosts, " "); got != tc.hosts {
					t.Errorf("attempts on %s, want %s", got, tc.hosts)
				}
			})
		})
	}
}

// Pauses have room in the deadline that follows from the settings.
func TestBackoffOfAGateway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, retryingYAML+"users.ribbon: {MaxAutoRetriesNextServer: 3, BackoffInterval: 10s}\ngateway.retry.users.max-backoff: 15s\n")
		hosts := losing(g, errLost)
		start := time.Now()
		get(t, g, "/users/1")
		if took := time.Since(start); len(*hosts) != 4 || took < 20*time.Second || took > 40*time.Second {
			t.Errorf("%d attempts in %s", len(*hosts), took)
		}
	})
}

// A throttled server is out of rotation after three answers, and clients see 503.
func TestThrottledStatusOfAGateway(t *testing.T) {
	g := newGateway(t, retryingYAML+"gateway.retry.users.throttled-status-codes: 503\nusers.ribbon.MaxAutoRetriesNextServer: 0\n")
	var hosts []string
	g.SetTransport("users", roundTrip(func(r *http.Request) (*http.Response, error) {
		hosts = append(hosts, r.URL.Hostname())
		status := http.StatusOK
		if r.URL.Hostname() == "a" {
			status = http.StatusServiceUnavailable
		}
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
	}))
	refused := 0
	for range 30 {
		if got := get(t, g, "/users/1"); got.Code == http.StatusServiceUnavailable {
			refused++
			wantFailure(t, got, http.StatusServiceUnavailable, "SERVER_THROTTLED")
		}
	}
	if refused != 3 || strings.Count(strings.Join(hosts, ""), "a") != 3 {
		t.Errorf("%d refused, attempts on %s", refused, hosts)
	}
}

// Management shows how many retries were made, and how many were not.
func TestRetriesAreShown(t *testing.T) {
	g := newGateway(t, retryingYAML+"gateway.retry.users.budget: {percent: 0, per-second: 0, burst: 2}\n")
	losing(g, errLost)
	for range 5 {
		get(t, g, "/users/1")
	}
	for result, want := range map[string]string{"granted": `"value":2`, "denied": `"value":3`} {
		got := get(t, g.Management(), "/actuator/metrics/gateway.retries?tag=service:users&tag=budget:"+result)
		if !strings.Contains(got.Body.String(), want) {
			t.Errorf("%s: %s, want %s", result, got.Body, want)
		}
	}
}

// C137 over sockets: all servers hang up on everything, and every request could be sent six
// times. The servers see little more than the requests.
func TestStormOverSockets(t *testing.T) {
	const clients, requests = 8, 50
	var backends []*backendtest.Backend
	var addrs []string
	for range 3 {
		b := backendtest.Start(t, backendtest.HangUp())
		backends, addrs = append(backends, b), append(addrs, b.Addr)
	}
	g := newGateway(t, patient+fmt.Sprintf("zuul.routes.users: {path: /users/**, retryable: true}\nusers.ribbon: {listOfServers: %q, MaxAutoRetries: 1, MaxAutoRetriesNextServer: 2}\n", strings.Join(addrs, ",")))
	defer g.CloseIdle()
	start := time.Now()
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for range requests {
				if got := get(t, g, "/users/1"); got.Code != http.StatusBadGateway {
					t.Errorf("status %d", got.Code)
				}
			}
		})
	}
	wg.Wait()
	var sent int64
	for _, b := range backends {
		sent += b.Requests()
	}
	seconds := int64(time.Since(start)/time.Second) + 1
	if retries, most := sent-clients*requests, 100+10*(seconds+1)+clients*requests/5; retries < 100 || retries > most {
		t.Errorf("%d retries of %d requests, want at most %d", retries, clients*requests, most)
	}
}

// What a budget has spent stays spent when the configuration is loaded again.
func TestBudgetSurvivesAReload(t *testing.T) {
	yaml := retryingYAML + "gateway.retry.users.budget: {percent: 0, per-second: 0, burst: %d}\n"
	g := newGateway(t, fmt.Sprintf(yaml, 2))
	attempts := func() int {
		hosts := losing(g, errLost)
		get(t, g, "/users/1")
		return len(*hosts)
	}
	got := []int{attempts(), attempts(), attempts()}
	reload(t, g, fmt.Sprintf(yaml, 3))
	got = append(got, attempts())
	reload(t, g, retryingYAML+"gateway.retry.users.budget.enabled: false\n")
	got = append(got, attempts())
	if diff := cmp.Diff([]int{2, 2, 1, 1, 2}, got); diff != "" {
		t.Errorf("attempts of each request, -want +got\n%s", diff)
	}
}

// Ribbon 124: a listener that is switched off hears nothing, others do.
func TestListenersOfAGateway(t *testing.T) {
	for _, tc := range []struct {
		name, yaml string
		heard      string
	}{
		{"on", "", "first second "},
		{"ribbon 124 off for all services", "ribbon.listener.First.disabled: true\n", "second "},
		{"off for the service", "users.ribbon.listener.second.disabled: true\n", "first "},
		{"off, but not for the service", "ribbon.listener.first.disabled: true\nusers.ribbon.listener.first.disabled: false\n", "first second "},
		{"off for another service", "orders.ribbon.listener.first.disabled: true\n", "first second "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var heard string
			listener := func(name string) lb.ExecutionListener {
				return lb.ExecutionListener{Name: name, ExecutionStart: func(*lb.Execution) error { heard += name + " "; return nil }}
			}
			g := newGateway(t, retryingYAML+tc.yaml, gozer.WithExecutionListener(listener("first"), listener("second")))
			losing(g, errLost)
			get(t, g, "/users/1")
			if heard != tc.heard {
				t.Errorf("heard %q, want %q", heard, tc.heard)
			}
		})
	}
}

func TestListenerEndsARequest(t *testing.T) {
	no := lb.ExecutionListener{ServerStart: func(*lb.Execution) error { return errors.New("not today") }}
	g := newGateway(t, retryingYAML, gozer.WithExecutionListener(no))
	hosts := losing(g, errLost)
	if got := get(t, g, "/users/1"); got.Code != http.StatusInternalServerError || len(*hosts) != 0 {
		t.Errorf("status %d after %d attempts", got.Code, len(*hosts))
	}
}
