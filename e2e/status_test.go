package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// failure is one way in which an upstream can fail: its two servers, and what the client
// is told then, by Gozer and by Zuul.
type failure struct {
	name    string
	servers string
	more    string // further keys below the service's ribbon
	status  int
	message string
	compat  int
	zuul    string // message with gateway.compat.error-status
}

// failures is C128 with zuul.md 8.3. Addresses in servers are those of dead backends.
func failures(t *testing.T) []failure {
	t.Helper()
	raw := func(reply string) string {
		return backendtest.StartRaw(t, backendtest.Step{Reply: reply, Close: true}).Addr
	}
	hang := backendtest.Start(t, backendtest.Hang())
	hangUp, reset := backendtest.Start(t, backendtest.HangUp()), backendtest.Start(t, backendtest.Reset())
	return []failure{
		{"refused", dead(t) + "," + dead(t), "", 502, "NUMBEROF_RETRIES_NEXTSERVER_EXCEEDED", 500, "GENERAL"},
		{"connect timeout", blackhole(t), ", ConnectTimeout: 100", 504, "CONNECT_EXCEPTION", 500, "GENERAL"},
		{"unknown host", "nowhere.invalid:80", "", 502, "UNKNOWN_HOST_EXCEPTION", 500, "GENERAL"},
		{"read timeout", hang.Addr, ", ReadTimeout: 100", 504, "READ_TIMEOUT_EXCEPTION", 504, "com.netflix.zuul.exception.ZuulException: Hystrix Readed time out"},
		{"garbage", raw("what do you want?\r\n\r\n"), "", 502, "GENERAL", 500, "GENERAL"},
		{"cut in the head", raw("HTTP/1.1 200 OK\r\nContent-"), "", 502, "GENERAL", 500, "GENERAL"},
		{"closed without an answer", hangUp.Addr, "", 502, "GENERAL", 500, "GENERAL"},
		{"reset", reset.Addr, "", 502, "GENERAL", 500, "GENERAL"},
		{"head without end", raw("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 300<<10) + "\r\n\r\n"), "", 502, "GENERAL", 500, "GENERAL"},
		{"no server", "", "", 503, "NO_SERVER", 500, "GENERAL"},
	}
}

// dead is an address at which nobody listens.
func dead(t *testing.T) string {
	t.Helper()
	b := backendtest.Start(t, backendtest.Answer(http.StatusOK, ""))
	b.Kill()
	return b.Addr
}

func failuresYAML(all []failure) string {
	var routes, services strings.Builder
	for n, f := range all {
		fmt.Fprintf(&routes, "  f%d: /f%[1]d/**\n", n)
		fmt.Fprintf(&services, "f%d.ribbon: {listOfServers: %q%s}\n", n, f.servers, f.more)
	}
	return "zuul.routes:\n" + routes.String() + `
  open: /open/**
  late: /late/**
` + services.String() + fmt.Sprintf(`
open.ribbon.listOfServers: %[1]s
late.ribbon: {listOfServers: "%[1]s", ReadTimeout: 1m}
hystrix.command:
  open.circuitBreaker.forceOpen: true
  late.execution.isolation.thread.timeoutInMilliseconds: 100
`, all[3].servers)
}

// errorBody is Spring's.
type errorBody struct {
	Timestamp, Error, Message, Path string
	Status                          int
}

func (a *answer) wantError(t *testing.T, status int, message, path string) {
	t.Helper()
	a.wantStatus(t, status)
	var body errorBody
	if err := json.Unmarshal([]byte(a.Body), &body); err != nil {
		t.Fatalf("%v: %q", err, a.Body)
	}
	if body.Status != status || body.Error != http.StatusText(status) || body.Message != message || body.Path != path || body.Timestamp == "" {
		t.Errorf("got %+v, want status %d and message %q", body, status, message)
	}
	if got := a.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q", got)
	}
}

func TestC128Statuses(t *testing.T) {
	t.Parallel()
	all := failures(t)
	g := startGateway(t, failuresYAML(all))
	for n, f := range all {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			path := fmt.Sprintf("/f%d/x", n)
			g.Get(path+"?q").wantError(t, f.status, f.message, path)
		})
	}
	t.Run("circuit open", func(t *testing.T) {
		t.Parallel()
		g.Get("/open/x").wantError(t, http.StatusServiceUnavailable, "SHORTCIRCUIT", "/open/x")
	})
	t.Run("over the budget", func(t *testing.T) {
		t.Parallel()
		g.Get("/late/x").wantError(t, http.StatusGatewayTimeout, "TIMEOUT", "/late/x")
	})
}

func TestC128StatusesAsInZuul(t *testing.T) {
	t.Parallel()
	all := failures(t)
	g := startGateway(t, failuresYAML(all)+"gateway.compat.error-status: true\n")
	for n, f := range all {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			path := fmt.Sprintf("/f%d/x", n)
			g.Get(path).wantError(t, f.compat, f.zuul, path)
		})
	}
	t.Run("circuit open", func(t *testing.T) {
		t.Parallel()
		g.Get("/open/x").wantError(t, http.StatusInternalServerError, "SHORTCIRCUIT", "/open/x")
	})
	t.Run("over the budget", func(t *testing.T) {
		t.Parallel()
		g.Get("/late/x").wantError(t, http.StatusInternalServerError, "TIMEOUT", "/late/x")
	})
}

func TestStatusesOfURLRoutes(t *testing.T) {
	t.Parallel()
	hang, hangUp := backendtest.Start(t, backendtest.Hang()), backendtest.Start(t, backendtest.HangUp())
	for limit, routes := range map[time.Duration]map[string]struct {
		addr   string
		status int
	}{
		patience:               {"refused": {dead(t), 502}, "rude": {hangUp.Addr, 502}},
		100 * time.Millisecond: {"silent": {hang.Addr, 504}, "lost": {blackhole(t), 504}},
	} {
		var yaml strings.Builder
		fmt.Fprintf(&yaml, "zuul.host: {socket-timeout-millis: %d, connect-timeout-millis: %[1]d}\nzuul.routes:\n", limit.Milliseconds())
		for route, to := range routes {
			fmt.Fprintf(&yaml, "  %s: {path: /%[1]s/**, url: \"http://%s\"}\n", route, to.addr)
		}
		ours, zuuls := startGateway(t, yaml.String()), startGateway(t, yaml.String()+"gateway.compat.error-status: true\n")
		for route, to := range routes {
			t.Run(route, func(t *testing.T) {
				t.Parallel()
				ours.Get("/"+route+"/x").wantStatus(t, to.status)
				zuuls.Get("/"+route+"/x").wantStatus(t, http.StatusInternalServerError)
			})
		}
	}
}

func TestErrorPage(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "zuul.routes: {}\n")
	a := g.Get("/<script>x", "Accept: text/html,application/xhtml+xml,*/*;q=0.8").wantStatus(t, http.StatusNotFound)
	if !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") || strings.Contains(a.Body, "<script>") {
		t.Errorf("%s: %s", a.Header.Get("Content-Type"), a.Body)
	}
	a = g.Do(http.MethodHead, "/x", "").wantStatus(t, http.StatusNotFound)
	if a.Body != "" || a.Length <= 0 {
		t.Errorf("HEAD got %q with length %d", a.Body, a.Length)
	}
}

// zuul 148 and table 8.3: filters that fail, and filters that choose.
func TestFailingFilters(t *testing.T) {
	t.Parallel()
	b := backendtest.Start(t, backendtest.Answer(http.StatusOK, "upstream"))
	g := startCustom(t, bothYAML(b.Addr))
	for _, kind := range kinds {
		for _, tt := range []struct {
			test    string
			status  int
			message string
			calls   int64
		}{
			{"fail-pre", 500, "pre:fail-pre", 0},
			{"fail-route", 500, "route:fail-route", 0},
			{"fail-post", 500, "post:fail-post", 1},
			{"teapot", 418, "teapot", 0},
		} {
			before := b.Requests()
			g.Get("/"+kind+"/x", "X-Test: "+tt.test).wantError(t, tt.status, tt.message, "/"+kind+"/x")
			if calls := b.Requests() - before; calls != tt.calls {
				t.Errorf("%s, %s: %d upstream calls, want %d", tt.test, kind, calls, tt.calls)
			}
		}
		a := g.Get("/"+kind+"/x", "X-Test: respond").wantStatus(t, http.StatusAccepted)
		if a.Body != "own answer" || a.Header.Get("X-Own") != "1" {
			t.Errorf("%v %q", a.Header, a.Body)
		}
	}
	metrics, err := g.tryGet(g.AdminURL("/actuator/metrics"))
	if err != nil {
		t.Fatal(err)
	}
	for _, counter := range []string{"ZUUL::EXCEPTION:pre:fail-pre:500", "ZUUL::EXCEPTION:teapot:418"} {
		if !strings.Contains(metrics.Body, counter) {
			t.Errorf("metrics lack %s: %.1000s", counter, metrics.Body)
		}
	}
}
