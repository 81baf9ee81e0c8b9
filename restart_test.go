package gozer_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/internal/certtest"
	"github.com/gozer-gateway/gozer/internal/memhttp"
)

// logged is a logger whose lines can be read.
func logged() (gozer.Option, *bytes.Buffer) {
	var b bytes.Buffer
	return gozer.WithLogger(slog.New(slog.NewTextHandler(&b, nil))), &b
}

func TestReloadNamesWhatNeedsARestart(t *testing.T) {
	var settings strings.Builder
	values := map[string]string{
		"server.http1.engine": "nethttp", "server.address": "127.0.0.9", "management.server.address": "127.0.0.9",
		"server.http2.enabled": "true", "gateway.http2.max-frame-size": "98760", "gateway.http2.stream-window": "98760", "gateway.http2.connection-window": "98760",
		"server.ssl.enabled": "true", "management.server.ssl.enabled": "true", "gateway.ssl.redirect-port": "9878",
		"server.proxy-protocol.enabled": "true", "server.proxy-protocol.trusted-proxies": "10.0.0.0/8", "server.proxy-protocol.others": "serve",
	}
	var want []string
	for _, k := range config.Keys() {
		if !k.Restart || k.Name == "server.max-http-header-size" || strings.HasPrefix(k.Name, "eureka.") || strings.HasPrefix(k.Name, "management.o") {
			continue
		}
		value := values[k.Name]
		if value == "" {
			value = "9876"
		}
		if k.Name == "management.server.port" {
			value = "9877"
		}
		settings.WriteString(k.Name + ": " + value + "\n")
		want = append(want, k.Name)
	}
	if len(want) < 15 {
		t.Fatalf("only %q need a restart", want)
	}
	cert, key := certtest.NewCA(t, "CA").Issue("g.test").Write()
	for _, listener := range []string{"server", "management.server"} {
		settings.WriteString(listener + ".ssl.certificate: " + cert + "\n" + listener + ".ssl.certificate-private-key: " + key + "\n")
	}
	settings.WriteString("eureka.client.region: r\neureka.instance.appname: a\nmanagement.otlp.tracing.endpoint: http://o\nmanagement.opentelemetry.resource-attributes.a: b\n")
	want = append(want, "eureka.client.*", "eureka.instance.*", "management.otlp.*", "management.opentelemetry.*")
	log, lines := logged()
	g := newGateway(t, "server.port: 8080\n", log)
	reload(t, g, settings.String())
	var got []string
	for line := range strings.Lines(lines.String()) {
		if _, key, ok := strings.Cut(strings.TrimSpace(line), "level=WARN msg=\"needs a restart, the value of the start stays\" key="); ok {
			got = append(got, key)
		}
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}

	lines.Reset()
	reload(t, g, "gateway.shutdown.wait: 9s\nspring.lifecycle.timeout-per-shutdown-phase: 9s\nserver.shutdown: immediate\nmanagement.endpoints.web.base-path: /x\nlogging.level.root: warn\n")
	if lines.Len() > 0 {
		t.Errorf("logged about what a reload applies: %s", lines)
	}
}

func TestReloadMovesTheManagementEndpoints(t *testing.T) {
	g := newGateway(t, "info.app.name: old\n")
	m := g.Management()
	reload(t, g, "management.endpoints.web: {base-path: /manage, exposure.exclude: filters}\ninfo.app: {name: new, password: hunter2}\n")
	for target, status := range map[string]int{
		"/actuator/info": http.StatusNotFound, "/manage/info": http.StatusOK, "/manage/filters": http.StatusNotFound,
	} {
		if got := get(t, m, target); got.Code != status {
			t.Errorf("%s: %d, want %d", target, got.Code, status)
		}
	}
	if got := get(t, m, "/manage/info").Body.String(); !strings.HasPrefix(got, `{"app":{"name":"new","password":"******"},"build":{`) {
		t.Errorf("info: %s", got)
	}
}

func TestReloadSetsTheLogLevel(t *testing.T) {
	level := &slog.LevelVar{}
	g := newGateway(t, "logging.level.ROOT: warn\n", gozer.WithLevel(level))
	for name, want := range map[string]slog.Level{
		"debug": slog.LevelDebug, "trace": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError, "fatal": slog.LevelError,
	} {
		reload(t, g, "logging.level.Root: "+name+"\n")
		if level.Level() != want {
			t.Errorf("%s: %s, want %s", name, level, want)
		}
	}
	reload(t, g, "logging.level.root: off\n")
	if level.Level() <= slog.LevelError+1000 {
		t.Errorf("off: %s", level)
	}
	if err := g.Reload(parse(t, "zuul.ignored-patterns: '/{'\n")); err == nil || level.Level() < slog.LevelError {
		t.Errorf("a refused reload: %v, level %s", err, level)
	}
}

func TestReloadsAreLogged(t *testing.T) {
	next, failure := parse(t, "server.port: 8080\n"), error(nil)
	log, lines := logged()
	g := newGateway(t, "server.port: 8080\n", log, gozer.WithSource(func(context.Context) (*config.Config, error) { return next, failure }))
	for _, test := range []struct {
		failure error
		want    string
	}{
		{nil, `level=INFO msg="configuration reloaded" "asked by"="management endpoint"`},
		{errors.New("gateway.yaml:3: odd"), `level=ERROR msg="reload refused, the running configuration stays" "asked by"="management endpoint" error="gateway.yaml:3: odd"`},
	} {
		lines.Reset()
		failure = test.failure
		ask(t, g.Management(), http.MethodPost, "/actuator/routes")
		if !strings.Contains(lines.String(), test.want) {
			t.Errorf("got %s\nwant %s", lines, test.want)
		}
	}
}

func TestReloadChangesTheShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &place{network: memhttp.NewNetwork()}
		g := newGateway(t, draining, p.listen())
		r := run(t, g)
		synctest.Wait()
		reload(t, g, "server.address: 127.0.0.1\ngateway.shutdown.wait: 2s\n")
		stopped := time.Now()
		r.stop()
		if err := <-r.done; err != nil || time.Since(stopped) != 2*time.Second {
			t.Errorf("Run returned %v after %v, want nil after the new wait of 2s", err, time.Since(stopped))
		}
	})
}

// Whoever asks for the end of a process whose successor serves gets the end of that process
// alone: the registry and the service manager hear nothing of it.
func TestEndIsAskedForWhileTheSuccessorServes(t *testing.T) {
	for range 30 { // both are there when Run looks, which of the two it sees first is chance
		ctx, stop := context.WithCancel(t.Context())
		p := &place{network: memhttp.NewNetwork()}
		var g *gozer.Gateway
		var told []string
		g = newGateway(t, "management.server.port: -1\n", p.listen(), gozer.WithNotify(func(lines ...string) error {
			if told = append(told, lines...); len(told) == 1 {
				g.Succeeded()
				stop()
			}
			return nil
		}))
		_ = g.Run(ctx) // says that it was cut
		stop()
		if !slices.Equal(told, []string{"READY=1"}) {
			t.Fatalf("the service manager was told %q", told)
		}
	}
}
