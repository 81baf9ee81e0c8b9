package gozer_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/certtest"
)

// file writes a configuration.
func file(t *testing.T, yaml string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gateway.yaml")
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCommandLine(t *testing.T) {
	good := file(t, usersAndBooks)
	bad := file(t, "server.prot: 1\ngateway.filters.Baner.text: hi\n")
	odd := file(t, "zuul.ignored-patterns: [/ok, '/a/{']\ngateway.fallback.users: {status: 204, body: x}\n"+
		"management.endpoints.web.exposure: {include: 'health, env', exclude: 'beans, helth, *'}\n"+
		"gateway.service-route-mapper: {service-pattern: '(?<a>x)', route-pattern: '${b}'}\n")
	certificate, key := certtest.NewCA(t, "ca").Issue("g.test").Write()
	pair := []string{"--set", "server.ssl.certificate=" + certificate, "--set", "server.ssl.certificate-private-key=" + key}
	healthy := backendtest.Start(t, says("{}"))
	ill := backendtest.Start(t, backendtest.Answer(http.StatusServiceUnavailable, "{}"))
	tests := []struct {
		name     string
		args     []string
		code     int
		out, err string // parts of them; empty: nothing at all
	}{
		{"version", []string{"version"}, 0, "1.2.3", ""},
		{"help", []string{"help"}, 0, "usage: gateway [run]", ""},
		{"help flag", []string{"--help"}, 0, "gateway health [--url", ""},
		{"short help flag", []string{"-h"}, 0, "gateway health [--url", ""},
		{"empty file name", []string{"check", "--config", ""}, 2, "", "--config is empty; was a variable not set?\nusage: gateway"},
		{"empty file name to run", []string{"--config="}, 2, "", "--config is empty"},
		{"empty profile", []string{"check", "--config", good, "--profile", "a", "--profile", ""}, 2, "", "--profile is empty"},
		{"empty address", []string{"health", "--url", ""}, 2, "", "--url is empty"},
		{"commas are no empty setting", []string{"check", "--config", good, "--set", "zuul.ignored-headers=a,,b"}, 0, "configuration is valid", ""},
		{"help of a command", []string{"check", "-h"}, 0, "", "Usage of gateway check"},
		{"unknown command", []string{"chek"}, 2, "", `unknown command "chek"`},
		{"unknown flag", []string{"--confg", "x"}, 2, "", "-confg"},
		{"unknown flag of a command", []string{"check", "--confg", "x"}, 2, "", "-confg"},
		{"argument too many", []string{"check", "--config", good, "now"}, 2, "", `unexpected argument "now"`},
		{"check", []string{"check", "--config", good}, 0, "configuration is valid", ""},
		{"check finds everything", []string{"check", "--config", bad}, 1, "gateway.yaml:1: error: server.prot: unknown key", ""},
		{"check looks at filters", []string{"check", "--config", good, "--set", "gateway.filters.Banner.txt=x"}, 1, "unknown setting; did you mean text?", ""},
		{"check only warns of servlet filters", []string{"check", "--config", good, "--set", "zuul.FormBodyWrapperFilter.pre.disable=true"}, 0, "warning: zuul.FormBodyWrapperFilter.pre.disable: has no effect", ""},
		{"check places ignored patterns", []string{"check", "--config", odd}, 1, odd + `:1: error: zuul.ignored-patterns: ignored pattern "/a/{"`, ""},
		{
			"check knows the phases of filters",
			[]string{"check", "--config", good, "--set", "zuul.predecorationfilter.post.disable=true"},
			1, "--set: error: zuul.predecorationfilter.post.disable: the filter is of another phase; write zuul.PreDecorationFilter.pre.disable\n1 error", "",
		},
		{
			"check reports a bad registry once",
			[]string{"check", "--config", good, "--set", "eureka.client.service-url.defaultZone=eureka:8761/eureka/"},
			1, "--set: error: eureka.client.service-url.defaultZone: not an http or https URL with a host (the value may hold a password and is not shown)\n1 error", "",
		},
		{
			"check reports a bad prefix once",
			[]string{"check", "--config", good, "--set", "zuul.prefix=/a*"},
			1, "--set: error: zuul.prefix: must be a plain path, without wildcards\n1 error", "",
		},
		{"check places fallbacks", []string{"check", "--config", odd}, 1, odd + ":2: error: gateway.fallback.users: status 204 has no body", ""},
		{
			"check knows what fallbacks ignore",
			[]string{"check", "--config", good, "--set", "gateway.fallback.users.headers.content-length=9", "--set", "gateway.fallback.users.headers.X-A=9"},
			0, "warning: gateway.fallback.users.headers.content-length: has no effect: the gateway sets it or leaves it out", "",
		},
		{"check places mappers", []string{"check", "--config", odd}, 1, odd + ":4: error: gateway.service-route-mapper.route-pattern: ", ""},
		{"check knows Spring's endpoints", []string{"check", "--config", odd}, 1, odd + `:3: warning: management.endpoints.web.exposure.include: "env" is an endpoint of Spring that is not served; there are circuitbreakers, filters, health, hystrix.stream, info, loggers, metrics, prometheus, refresh, routes, servers`, ""},
		{"check knows its endpoints", []string{"check", "--config", odd}, 1, odd + `:3: warning: management.endpoints.web.exposure.exclude: "helth" is no endpoint; there are`, ""},
		{
			"check wants authorities once", append([]string{"check", "--config", good, "--set", "server.ssl.client-auth=need"}, pair...),
			1, "--set: error: server.ssl.client-auth: needs server.ssl.trust-certificate: the authorities that clients' certificates are from\n1 error, 0 warnings", "",
		},
		{"check counts endpoints", []string{"check", "--config", odd}, 1, "3 errors, 2 warnings", ""},
		{"check without a file", []string{"check", "--config", good + "x"}, 1, "cannot be read", ""},
		{"run refuses a bad file", []string{"--config", bad}, 1, "", "gateway.yaml:1: error: server.prot: unknown key"},
		{"run by name", []string{"run", "--config", bad}, 1, "", "server.prot"},
		{"health", []string{"health", "--url", healthy.URL()}, 0, "200 OK", ""},
		{"ill health", []string{"health", "--url", ill.URL()}, 1, "503 Service Unavailable", ""},
		{"health of nobody", []string{"health", "--url", "http://127.0.0.1:1"}, 1, "", "connection refused"},
		{"health of nonsense", []string{"health", "--url", "http://%"}, 1, "", "invalid URL"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out, errOut strings.Builder
			code := gozer.Execute(t.Context(), &out, &errOut, tt.args,
				gozer.WithVersion("1.2.3"), gozer.WithFilters(banner(new(int))), gozer.WithListen(neverListen(t)), gozer.WithHealthPatience(time.Minute))
			if code != tt.code {
				t.Errorf("code %d, want %d", code, tt.code)
			}
			wantPart(t, "standard output", out.String(), tt.out)
			wantPart(t, "standard error", errOut.String(), tt.err)
		})
	}
}

func wantPart(t *testing.T, where, got, part string) {
	t.Helper()
	if part == "" && got != "" || !strings.Contains(got, part) {
		t.Errorf("%s: got %q, want %q", where, got, part)
	}
}

func neverListen(t *testing.T) func(context.Context, string) (net.Listener, error) {
	t.Helper()
	return func(_ context.Context, address string) (net.Listener, error) {
		t.Errorf("%s was opened", address)
		return nil, net.ErrClosed
	}
}

func TestRunCommand(t *testing.T) {
	logger, lines := messages(100)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	opened := make(chan string, 2)
	listen := func(ctx context.Context, address string) (net.Listener, error) {
		var c net.ListenConfig
		l, err := c.Listen(ctx, "tcp", address)
		if err == nil {
			opened <- l.Addr().String()
		}
		return l, err
	}
	code := make(chan int, 1)
	path := file(t, "server: {port: 0, address: 127.0.0.1}\nmanagement.server: {port: 0, address: 127.0.0.1}\ninfo.id: ${random.uuid}\n")
	var out, errOut strings.Builder
	go func() {
		code <- gozer.Execute(ctx, &out, &errOut, []string{"--config", path, "--set", "zuul.routes.hello=/hello/**=forward:/"},
			gozer.WithLogger(logger), gozer.WithListen(listen), localEcho())
	}()
	address := <-opened
	for line := range lines {
		if strings.Contains(line, "for=management") {
			break
		}
	}
	wantServed(t, http.MethodGet, "http://"+address+"/hello/you", "/you")
	wantServed(t, http.MethodPost, "http://"+<-opened+"/actuator/refresh", "[]") // random values are still the same
	stop()
	if got := <-code; got != 0 {
		t.Errorf("code %d", got)
	}
	if out.Len()+errOut.Len() > 0 {
		t.Errorf("printed %q and %q", out.String(), errOut.String())
	}
}

func wantServed(t *testing.T, method, url, want string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	rt := &http.Transport{DisableKeepAlives: true}
	res, err := rt.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK || string(body) != want {
		t.Errorf("got %d %q, %v; want %q", res.StatusCode, body, err, want)
	}
}

func TestRunCommandThatCannotListen(t *testing.T) {
	var out, errOut strings.Builder
	refuse := func(context.Context, string) (net.Listener, error) { return nil, net.ErrClosed }
	code := gozer.Execute(t.Context(), &out, &errOut, []string{"run", "--config", file(t, usersAndBooks)},
		gozer.WithListen(refuse), gozer.WithLogger(slog.New(slog.DiscardHandler)))
	if code != 1 || !strings.Contains(errOut.String(), "gateway: gozer: proxy listener") {
		t.Errorf("code %d, %s", code, errOut.String())
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signals := make(chan os.Signal, 2)
		code := -1
		ctx := gozer.UntilSignal(t.Context(), signals, func(c int) { code = c })
		synctest.Wait()
		if ctx.Err() != nil {
			t.Fatal("ended without a signal")
		}
		signals <- syscall.SIGTERM
		synctest.Wait()
		if ctx.Err() == nil || code != -1 {
			t.Fatalf("first signal: %v, exit %d", ctx.Err(), code)
		}
		signals <- os.Interrupt
		synctest.Wait()
		if code != 1 {
			t.Errorf("second signal: exit %d, want 1", code)
		}
	})
}
