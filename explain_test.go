package gozer_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/discovery"
	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/certtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

const explained = `
zuul:
  prefix: /api
  routes:
    users: {path: /users/**, retryable: true}
    docs: {path: /docs/**, url: "http://docs.example/manual"}
    local: {path: /local/**, url: "forward:/here"}
users.ribbon:
  listOfServers: 127.0.0.1:9001, 127.0.0.1:9002
  ReadTimeout: 3000
  MaxAutoRetries: 1
hystrix.command:
  default.circuitBreaker.requestVolumeThreshold: 10
  users.execution.isolation.thread.timeoutInMilliseconds: 5000
hystrix.threadpool.default: {coreSize: 4, maxQueueSize: 9}
gateway.fallback.users: {status: 503, body: sorry}
`

// explainWith runs the command with a file in which the name of the file is short.
func explainWith(t *testing.T, args ...string) (code int, out, errOut string) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("gateway.yaml", []byte(explained), 0o600); err != nil {
		t.Fatal(err)
	}
	var o, e strings.Builder
	silent := discovery.SourceFunc(func(context.Context, chan<- discovery.Update) error {
		t.Error("the source was run")
		return nil
	})
	spy := filters.Func("Spy", "late", 7, func(*filters.Context) error {
		t.Error("a filter was run")
		return nil
	})
	code = gozer.Execute(t.Context(), &o, &e, append([]string{"explain"}, args...),
		gozer.WithListen(neverListen(t)), gozer.WithDiscovery(silent), gozer.WithFilters(spy))
	return code, o.String(), e.String()
}

func TestExplain(t *testing.T) {
	golden := map[string][]string{
		"service": {"get", "/api/users/1?x=2"},
		"url":     {"--header", "Cookie: secret", "--header", "Accept: text/html", "POST", "https://gateway.example/api/docs/a"},
	}
	for name, args := range golden {
		file := "testdata/explain/" + name + ".txt"
		want, err := os.ReadFile(file)
		if err != nil && !*update {
			t.Fatal(err)
		}
		root, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			code, out, errOut := explainWith(t, args...)
			if code != 0 || errOut != "" {
				t.Errorf("code %d, %s", code, errOut)
			}
			if *update {
				if err := os.WriteFile(root+"/"+file, []byte(out), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(want), out); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestExplainInParts(t *testing.T) {
	for name, row := range map[string]struct {
		args  []string
		parts []string
	}{
		"forward":   {[]string{"GET", "/api/local/x"}, []string{"to        forward forward:/here", "handler   /here"}},
		"no route":  {[]string{"GET", "/nothing"}, []string{"none   a local handler answers, else 404"}},
		"unsafe":    {[]string{"GET", "/api/users/%2e%2e%2fa"}, []string{"refused   400 Bad Request   Unsafe path"}},
		"method":    {[]string{"TRACE", "/api/users/1"}, []string{"refused   405 Method Not Allowed"}},
		"OPTIONS":   {[]string{"--header", "Max-Forwards: 0", "OPTIONS", "/api/users/1"}, []string{"answer   by the gateway itself"}},
		"in a host": {[]string{"--header", "Host: a b", "GET", "/api/users/1"}, []string{"refused   400 Bad Request   Invalid Host field"}},
		"not GET":   {[]string{"POST", "/api/users/1"}, []string{"while nothing has been sent: POST changes something"}},
		"not retryable": {
			[]string{"--set", "zuul.routes.users.retryable=false", "GET", "/api/users/1"},
			[]string{"while nothing has been sent: the route is not retryable"},
		},
		"no retries": {
			[]string{"--set", "ribbon.MaxAutoRetriesNextServer=0", "--set", "users.ribbon.MaxAutoRetries=0", "GET", "/api/users/1"},
			[]string{"retries    none", "the budget has time for them"},
		},
		"zone of the metadata": {
			[]string{"--set", "eureka.instance.metadata-map.zone=rack-a", "GET", "/api/users/1"},
			[]string{"own zone   rack-a ", " eureka.instance.metadata-map.zone (--set)"},
		},
		"zone of the region": {
			[]string{"--set", "eureka.client.region=eu", "--set", "eureka.client.availability-zones.eu=one,two", "GET", "/api/users/1"},
			[]string{"own zone   one ", " eureka.client.availability-zones.eu (--set)"},
		},
		"virtual addresses": {
			[]string{"--set", "ribbon.DeploymentContextBasedVipAddresses=readers,writers", "GET", "/api/users/1"},
			[]string{"looked up as   readers, writers ", " ribbon.DeploymentContextBasedVipAddresses (--set)"},
		},
		"no retry budget": {[]string{"--set", "gateway.retry.users.budget.enabled=false", "GET", "/api/users/1"}, []string{"without a budget"}},
		"pauses": {
			[]string{"--set", "users.ribbon.BackoffInterval=100", "--set", "hystrix.command.users.execution.isolation.thread.timeoutInMilliseconds=0", "GET", "/api/users/1"},
			[]string{"budget                  16.7s", "x 2 x 2 + pauses", "first pause             100ms at most, then twice as long", "the budget has time for them"},
		},
		"formula": {
			[]string{"--set", "hystrix.command.users.execution.isolation.thread.timeoutInMilliseconds=0", "GET", "/api/users/1"},
			[]string{"budget                  16s", "(3s read + 1s connect) x 2 x 2"},
		},
		"no deadline": {
			[]string{"--set", "hystrix.command.default.execution.timeout.enabled=false", "GET", "/api/users/1"},
			[]string{"budget                  none", "hystrix.command.default.execution.timeout.enabled (--set)"},
		},
		"pool": {
			[]string{"--set", "zuul.ribbon-isolation-strategy=THREAD", "GET", "/api/users/1"},
			[]string{"isolation           THREAD", "pool                RibbonCommand", "at once             4", "waiting             5", "hystrix.threadpool.default.maxQueueSize (gateway.yaml:15)"},
		},
		"forced": {
			[]string{"--set", "hystrix.command.users.circuitBreaker.forceOpen=true", "--set", "hystrix.command.users.circuitBreaker.forceClosed=true", "GET", "/api/users/1"},
			[]string{"forced open         true", "forced closed       true"},
		},
		"resilience": {
			[]string{
				"--set", "gateway.resilience.users.failure-status=5xx,429", "--set", "gateway.resilience.default.slow-call.percentage=40",
				"--set", "gateway.resilience.users.eager=true", "--set", "gateway.resilience.default.hedge.delay=50", "--set", "gateway.resilience.users.adaptive-limit.enabled=true", "GET", "/api/users/1",
			},
			[]string{"failures too        500-599 429", "40% longer than 1s", "eager               true", "permits             20 to 200, by latency"},
		},
		"hedged": {
			[]string{"--set", "gateway.resilience.default.hedge.delay=50", "GET", "/api/users/1"},
			[]string{"hedges after", "50ms, to 1 more servers"},
		},
		"not hedged, since the route does not repeat": {
			[]string{"--set", "gateway.resilience.default.hedge.delay=50", "--set", "zuul.routes.users.retryable=false", "GET", "/api/users/1"},
			[]string{"never: the route is not retryable"},
		},
		"not hedged, since it writes": {
			[]string{"--set", "gateway.resilience.default.hedge.delay=50", "POST", "/api/users/1"},
			[]string{"never: POST changes something"},
		},
		"disabled filter": {[]string{"--set", "zuul.DebugFilter.pre.disable=true", "GET", "/nothing"}, []string{"DebugFilter (disabled)"}},
		"custom phase":    {[]string{"GET", "/nothing"}, []string{"late    Spy"}},
		"discovered":      {[]string{"--set", "users.ribbon.listOfServers=", "GET", "/api/users/1"}, []string{"those that discovery finds"}},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errOut := explainWith(t, row.args...)
			for _, part := range row.parts {
				if code != 0 || !strings.Contains(out, part) {
					t.Errorf("code %d, no %q in\n%s%s", code, part, out, errOut)
				}
			}
		})
	}
}

func TestExplainRefuses(t *testing.T) {
	for name, row := range map[string]struct {
		args []string
		code int
		part string
	}{
		"one argument":    {[]string{"GET"}, 2, "an argument is missing"},
		"three arguments": {[]string{"GET", "/a", "now"}, 2, `unexpected argument "now"`},
		"no URL":          {[]string{"GET", "users/1"}, 2, `"users/1" is neither a path nor a URL`},
		"no method":       {[]string{"G T", "/a"}, 2, "invalid method"},
		"no header":       {[]string{"--header", "Cookie", "GET", "/a"}, 2, `header "Cookie" has no colon`},
		"a faulty file":   {[]string{"--set", "server.prot=1", "GET", "/a"}, 1, "unknown key"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errOut := explainWith(t, row.args...)
			if code != row.code || out != "" || !strings.Contains(errOut, row.part) {
				t.Errorf("code %d, %s%s", code, out, errOut)
			}
		})
	}
}

// What is said about TLS names files and keys, and where they are written.
func TestExplainTLS(t *testing.T) {
	t.Chdir(t.TempDir())
	ca := certtest.NewCA(t, "ours")
	authorities := ca.Write()
	certificate, key := ca.Issue("gateway.test").Write()
	yaml := fmt.Sprintf(`zuul:
  ssl-hostname-validation-enabled: false
  routes: {users: /users/**, plain: /plain/**, pay: {path: /pay/**, url: "https://pay.test"}, strict: {path: /strict/**, url: "https://pay.test"}}
users.ribbon.listOfServers: a:8443
plain.ribbon.listOfServers: a:80
gateway.tls:
  users: {trust-certificate: %q, certificate: %q, certificate-private-key: %q, server-name: users.test, min-version: TLSv1.3}
  strict: {verify: true}
`, authorities, certificate, key)
	if err := os.WriteFile("gateway.yaml", []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][]string{
		"/users/1": {
			"trusts " + authorities + " gateway.tls.users.trust-certificate (gateway.yaml:7)", "shows " + certificate + " gateway.tls.users.certificate (gateway.yaml:7)",
			"asks for users.test gateway.tls.users.server-name", "verifies the certificate and its name default", "version TLSv1.3 or later gateway.tls.users.min-version",
		},
		"/pay/1":    {"trusts the system's authorities default", "shows no certificate default", "asks for the host's name default", "verifies nothing zuul.ssl-hostname-validation-enabled (gateway.yaml:2)"},
		"/strict/1": {"verifies the certificate and its name gateway.tls.strict.verify (gateway.yaml:8)"},
		"/plain/1":  nil,
	} {
		var out, errOut strings.Builder
		gozer.Execute(t.Context(), &out, &errOut, []string{"explain", "GET", path}, gozer.WithListen(neverListen(t)))
		said := strings.Join(strings.Fields(out.String()), " ")
		if strings.Contains(said, "TLS to upstreams") != (want != nil) || strings.Contains(said, key) || errOut.Len() > 0 {
			t.Errorf("%s: %s%s", path, &out, &errOut)
		}
		for _, line := range want {
			if !strings.Contains(said, line) {
				t.Errorf("%s: want %q in\n%s", path, line, &out)
			}
		}
	}
}
