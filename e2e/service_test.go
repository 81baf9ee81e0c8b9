package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// zuul 90, 104: every method reaches both kinds of upstream.
func TestMethods(t *testing.T) {
	t.Parallel()
	b := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, strings.ToLower(r.Method)+" "+r.URL.Query().Get("id"))
	}))
	g := startGateway(t, bothYAML(b.Addr))
	for _, kind := range kinds {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, "PROPFIND"} {
			want := strings.ToLower(method) + " bar"
			if a := g.Do(method, "/"+kind+"/foo?id=bar", "").wantStatus(t, http.StatusOK); a.Body != want {
				t.Errorf("%s: got %q, want %q", kind, a.Body, want)
			}
		}
	}
}

func TestFallbacks(t *testing.T) {
	t.Parallel()
	hang := backendtest.Start(t, backendtest.Hang())
	g := startCustom(t, fmt.Sprintf(`
zuul:
  sensitive-headers: X-Secret
  routes: {simple: /simple/**, another: /another/**, caused: /caused/**, late: /late/**, direct: {path: /direct/**, url: "http://%[1]s"}}
ribbon: {listOfServers: %[2]s, ReadTimeout: 100}
simple.ribbon.listOfServers: %[2]s
another.ribbon.listOfServers: %[1]s
caused.ribbon.listOfServers: %[1]s
late.ribbon: {listOfServers: %[2]s, ReadTimeout: 10000}
hystrix.command.late.execution.isolation.thread.timeoutInMilliseconds: 100
gateway.fallback:
  simple: {status: 200, body: fallback, headers: {Content-Type: text/plain, X-Secret: hidden, X-Open: shown}}
  "*": {status: 200, body: default fallback}
`, dead(t), hang.Addr))
	t.Run("zuul 142 provider of the service", func(t *testing.T) {
		a := g.Get("/simple/x").wantStatus(t, http.StatusOK)
		if a.Body != "fallback" || a.Header.Get("Content-Type") != "text/plain" || a.Header.Get("X-Open") != "shown" {
			t.Errorf("%v %q", a.Header, a.Body)
		}
		if a.Header.Get("X-Secret") != "" {
			t.Error("a sensitive field of the fallback passed")
		}
	})
	t.Run("zuul 142 provider for all", func(t *testing.T) {
		for _, path := range []string{"/another/x", "/late/x"} {
			if a := g.Get(path).wantStatus(t, http.StatusOK); a.Body != "default fallback" {
				t.Errorf("got %q", a.Body)
			}
		}
	})
	t.Run("zuul 143 the provider is told why", func(t *testing.T) {
		a := g.Get("/caused/x").wantStatus(t, http.StatusAccepted)
		if !strings.HasPrefix(a.Body, "caused: ") || !strings.Contains(a.Body, "connection refused") {
			t.Errorf("it was told %q", a.Body)
		}
	})
	t.Run("no fallback on URL routes", func(t *testing.T) {
		g.Get("/direct/x").wantStatus(t, http.StatusBadGateway)
	})
}

// zuul 144, the table of zuul.md 6.3: the log tells the budget of each service.
func TestBudgets(t *testing.T) {
	t.Parallel()
	const services = `
plain.ribbon.listOfServers: h:1
retries.ribbon: {listOfServers: "h:1", MaxAutoRetries: 1, MaxAutoRetriesNextServer: 2}
slow.ribbon: {listOfServers: "h:1", ConnectTimeout: 1000, ReadTimeout: 1000, MaxAutoRetries: 1, MaxAutoRetriesNextServer: 2}
mixed.ribbon: {listOfServers: "h:1", ConnectTimeout: 1000, MaxAutoRetries: 1}
`
	for name, tt := range map[string]struct {
		yaml string
		want map[string]string
	}{
		"defaults": {"", map[string]string{"plain": "4s", "retries": "12s", "slow": "12s"}},
		"global ribbon": {"ribbon: {ConnectTimeout: 100, ReadTimeout: 500}\n", map[string]string{
			"plain": "1.2s", "retries": "3.6s", "slow": "12s", "mixed": "6s",
		}},
		"hystrix default": {"hystrix.command.default.execution.isolation.thread.timeoutInMilliseconds: 30\n", map[string]string{
			"plain": "30ms", "slow": "30ms",
		}},
		"hystrix service": {"hystrix.command:\n  default.execution.isolation.thread.timeoutInMilliseconds: 30\n  slow.execution.isolation.thread.timeoutInMilliseconds: 50\n", map[string]string{
			"plain": "30ms", "slow": "50ms",
		}},
	} {
		t.Run("zuul 144 "+name, func(t *testing.T) {
			t.Parallel()
			g := start{yaml: services + tt.yaml, plain: true}.ready(t)
			for service, budget := range tt.want {
				if g.Log.Count(fmt.Sprintf("id=%s budget=%s ", service, budget)) != 1 {
					t.Errorf("%s should have %s", service, budget)
				}
			}
		})
	}
}

// zuul 145: which services share a bulkhead. One call is held in service one; whether
// service two takes a call shows which pool it uses.
func TestThreadPools(t *testing.T) {
	t.Parallel()
	const thread = "zuul.ribbon-isolation-strategy: THREAD\n"
	for name, tt := range map[string]struct {
		yaml   string
		status int // of a call to two
	}{
		"one pool for all":       {thread + "hystrix.threadpool.RibbonCommand.coreSize: 1\n", http.StatusServiceUnavailable},
		"a pool each":            {thread + "zuul.thread-pool.use-separate-thread-pools: true\nhystrix.threadpool: {one.coreSize: 1, two.coreSize: 1}\n", http.StatusOK},
		"a pool each, by prefix": {thread + "zuul.thread-pool: {use-separate-thread-pools: true, thread-pool-key-prefix: zuulgw-}\nhystrix.threadpool.zuulgw-one.coreSize: 1\n", http.StatusOK},
		"semaphores":             {"zuul.semaphore.max-semaphores: 1\n", http.StatusOK},
		"a limit of its own":     {"zuul.semaphore.max-semaphores: 100\nzuul.eureka.one.semaphore.maxSemaphores: 1\n", http.StatusOK},
	} {
		t.Run("zuul 145 "+name, func(t *testing.T) {
			t.Parallel()
			s, b := startSlow(t), backendtest.Start(t, identify())
			g := startGateway(t, fmt.Sprintf(`
zuul.routes: {slow: {path: /slow/**, service-id: one}, two: /two/**}
one.ribbon: {listOfServers: "%s", ReadTimeout: 1m}
two.ribbon.listOfServers: %s
%s`, s.Addr, b.Addr, tt.yaml))
			s.begin(t, g)
			g.Get("/slow/x").wantStatus(t, http.StatusServiceUnavailable)
			g.Get("/two/x").wantStatus(t, tt.status)
			close(s.finish)
		})
	}
}

// zuul 152: zuul.host.* concerns the pool of URL routes, and a reload builds another.
func TestHostSettings(t *testing.T) {
	t.Parallel()
	s := startSlow(t)
	yaml := func(host string) string {
		return fmt.Sprintf("zuul:\n  host: {%s}\n  routes.slow: {path: /slow/**, url: \"http://%s\"}\n", host, s.Addr)
	}
	g := startGateway(t, yaml("max-per-route-connections: 1, connection-request-timeout-millis: 100, socket-timeout-millis: 60000"))
	s.begin(t, g)
	g.Get("/slow/x").wantStatus(t, http.StatusServiceUnavailable)
	g.Reload(yaml("max-per-route-connections: 2, socket-timeout-millis: 100"), reloaded)
	g.Get("/slow/x").wantStatus(t, http.StatusGatewayTimeout)
	close(s.finish)
}

func TestDiscoveredRoutes(t *testing.T) {
	t.Parallel()
	m, other := startMirror(t), startMirror(t)
	env := func(services ...string) []string {
		all := make([]string, len(services))
		for n, s := range services {
			all[n] = s + "=" + m.Addr
		}
		return []string{discovered + "=" + strings.Join(all, ",")}
	}
	// reached waits for the route: discovery takes its time.
	reached := func(t *testing.T, g *gateway, target, want string) {
		t.Helper()
		var a *answer
		eventually(t, target+" is routed", func() bool { a = g.Get(target); return a.Status == http.StatusOK })
		a.reflected(t).wantTarget(t, want)
	}
	t.Run("zuul 58 a service is a route", func(t *testing.T) {
		t.Parallel()
		g := start{custom: true, env: env("myservice"), yaml: "zuul.prefix:\n"}.ready(t)
		reached(t, g, "/myservice/x", "/x")
	})
	t.Run("zuul 61, 65 mapped names", func(t *testing.T) {
		t.Parallel()
		g := start{custom: true, env: env("domain-service-v1", "other"), yaml: `
gateway.service-route-mapper:
  service-pattern: (?P<domain>\w+)-(?P<name>\w+)-(?P<version>v\d+)
  route-pattern: ${version}/${domain}/${name}
`}.ready(t)
		reached(t, g, "/v1/domain/service/get/1", "/get/1")
		reached(t, g, "/other/x", "/x")
	})
	t.Run("zuul 55, 57 ignored services, but not static routes", func(t *testing.T) {
		t.Parallel()
		g := start{custom: true, env: env("foo", "bar"), yaml: "zuul: {ignored-services: '*', routes: {foo: /foo/**}}\n"}.ready(t)
		reached(t, g, "/foo/x", "/x")
		g.Get("/bar/x").wantStatus(t, http.StatusNotFound)
	})
	t.Run("zuul 59 a static URL wins", func(t *testing.T) {
		t.Parallel()
		g := start{custom: true, env: env("myservice", "late"), yaml: fmt.Sprintf("zuul.routes.myservice.url: http://%s/mine\n", other.Addr)}.ready(t)
		reached(t, g, "/late/x", "/x")
		reached(t, g, "/myservice/x", "/mine/x")
	})
	t.Run("zuul 60 not to the gateway itself", func(t *testing.T) {
		t.Parallel()
		g := start{custom: true, env: env("edge", "late"), yaml: "spring.application.name: edge\n"}.ready(t)
		reached(t, g, "/late/x", "/x")
		g.Get("/edge/x").wantStatus(t, http.StatusNotFound)
	})
}

func TestForwards(t *testing.T) {
	t.Parallel()
	g := startCustom(t, `
zuul:
  prefix: /api
  routes:
    foo: /foo/**=forward:/local
    kept: {path: /kept/**, url: "forward:/local/bar", strip-prefix: false}
    lost: /lost/**=forward:/nowhere
`)
	for target, want := range map[string]string{
		"/api/foo/1?x=y": "local GET /local/1?x=y",      // zuul 16
		"/api/kept/1":    "local GET /local/bar/kept/1", // zuul 17
		"/local/direct":  "local GET /local/direct",     // zuul 19: no route
	} {
		if a := g.Get(target).wantStatus(t, http.StatusOK); a.Body != want {
			t.Errorf("%s: got %q, want %q", target, a.Body, want)
		}
	}
	g.Get("/api/lost/1").wantError(t, http.StatusNotFound, "No route and no local handler for this path", "/api/lost/1")
}

func TestManagement(t *testing.T) {
	t.Parallel()
	g := startCustom(t, "sslservice.ribbon.listOfServers: h:1\nzuul.routes.sslservice.url: https://localhost:8443\n")
	get := func(target string) string {
		t.Helper()
		a, err := g.tryGet(g.AdminURL(target))
		if err != nil {
			t.Fatal(err)
		}
		return a.wantStatus(t, http.StatusOK).Body
	}
	t.Run("zuul 150 routes", func(t *testing.T) {
		for _, target := range []string{"/routes", "/actuator/routes"} {
			if got := get(target); got != `{"/sslservice/**":"https://localhost:8443"}` {
				t.Errorf("%s: %s", target, got)
			}
		}
		wantLines(t, get("/routes/details"), []string{`"path":"/**"`, `"prefix":"/sslservice"`, `"prefixStripped":true`})
	})
	t.Run("zuul 151 filters", func(t *testing.T) {
		wantLines(t, get("/actuator/filters"), []string{`"name":"PreDecorationFilter","order":5`, `"name":"Guard","order":6`})
	})
	t.Run("health", func(t *testing.T) {
		for _, target := range []string{"/actuator/health", "/actuator/health/liveness", "/actuator/health/readiness"} {
			wantLines(t, get(target), []string{`"status":"UP"`})
		}
	})
	t.Run("health command", func(t *testing.T) {
		code, out, _ := run(t, start{}, "health", "--url", g.AdminURL("/actuator/health/readiness"))
		wantExit(t, code, 0)
		wantLines(t, out, []string{"200 OK"})
		code, _, errs := run(t, start{}, "health", "--url", "http://"+dead(t)+"/")
		wantExit(t, code, 1)
		wantLines(t, errs, []string{"connection refused"})
	})
	t.Run("zuul 156 every service is there from the start", func(t *testing.T) {
		wantLines(t, g.Log.String(), []string{"msg=service id=sslservice budget="})
	})
}

// zuul 117: debugging by parameter, shown when it is asked for.
func TestDebugHeader(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := startGateway(t, bothYAML(m.Addr)+"zuul.include-debug-header: true\n")
	if got := g.Get("/url/x?debug=true").Header.Get("X-Zuul-Debug-Header"); !strings.HasPrefix(got, "[[[") || !strings.HasSuffix(got, "]]]") {
		t.Errorf("got %q", got)
	}
	if got := g.Get("/url/x").Header.Get("X-Zuul-Debug-Header"); got != "" {
		t.Errorf("got %q without asking", got)
	}
}
