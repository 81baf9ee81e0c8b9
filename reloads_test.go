package gozer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/config"
)

// configurationHealth is the part of the health endpoint, and its status as a whole.
func configurationHealth(tb testing.TB, g *gozer.Gateway) (part map[string]any, whole int) {
	tb.Helper()
	got := get(tb, g.Management(), "/actuator/health")
	var health struct {
		Components map[string]map[string]any
	}
	if err := json.Unmarshal(got.Body.Bytes(), &health); err != nil {
		tb.Fatal(err)
	}
	return health.Components["configuration"], got.Code
}

// C202: a bad configuration changes nothing and shows.
func TestHealthShowsARefusedConfiguration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRefreshable(t, "server.port: 8080\n")
		want := func(status, loaded, refused, message string) {
			t.Helper()
			part, _ := configurationHealth(t, g.Gateway)
			details := map[string]any{"lastLoaded": loaded}
			if refused != "" {
				details["refused"], details["error"] = refused, message
			}
			if diff := cmp.Diff(map[string]any{"status": status, "details": details}, part); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		}
		want("UP", "2000-01-01T00:00:00Z", "", "")
		after(time.Minute)
		g.next = "server.port: 8080\nserver.prt: 1\n"
		if err := g.Refresh(t.Context()); err == nil {
			t.Error("accepted")
		}
		want("REFUSED", "2000-01-01T00:00:00Z", "2000-01-01T00:01:00Z",
			"config: invalid configuration\ngateway.yaml:2: error: server.prt: unknown key; did you mean server.port?\n1 error, 0 warnings")
		for path, status := range map[string]int{"liveness": http.StatusOK, "readiness": http.StatusServiceUnavailable} { // it does not run yet
			if got := get(t, g.Management(), "/actuator/health/"+path); got.Code != status || strings.Contains(got.Body.String(), "REFUSED") {
				t.Errorf("%s: %d %s", path, got.Code, got.Body)
			}
		}
		after(time.Minute)
		g.refresh(t, "server.port: 8080\n")
		want("UP", "2000-01-01T00:02:00Z", "", "")
		for outcome, n := range map[string]string{"success": "1", "failure": "1"} {
			if got := get(t, g.Management(), "/actuator/metrics/gateway.reloads?tag=outcome:"+outcome); !strings.Contains(got.Body.String(), `"value":`+n) {
				t.Errorf("%s: %s", outcome, got.Body)
			}
		}
	})
}

func TestAReloadIsOneLine(t *testing.T) {
	many := func(n int) string {
		var b strings.Builder
		b.WriteString("zuul.routes.users: /users/**\n")
		for i := range n {
			fmt.Fprintf(&b, "zuul.routes.r%02d: /r%02d/**=forward:/x\n", i, i)
		}
		return b.String()
	}
	log, lines := logged()
	g := newRefreshable(t, many(0), log)
	for _, test := range []struct{ name, yaml, want string }{
		{"changes", many(2), `msg="configuration reloaded" "asked by"="management endpoint" routes="+r00 +r01" keys="zuul.routes.r00 zuul.routes.r01"$`},
		{"none", many(2), `msg="configuration reloaded" "asked by"="management endpoint"$`},
		{
			"many", many(90),
			`routes="+r02 +r03 +r04 +r05 +r06 +r07 +r08 +r09 +r10 +r11 … and 78 more" keys="zuul.routes.r02 zuul.routes.r03 zuul.routes.r04 zuul.routes.r05 ` +
				`zuul.routes.r06 zuul.routes.r07 zuul.routes.r08 zuul.routes.r09 zuul.routes.r10 zuul.routes.r11 … and 78 more"`,
		},
		{"restart", many(90) + "server.port: 9\n", `keys=server.port "need a restart"=server.port`},
		{"long names", many(90) + "server.port: 9\nzuul.routes." + strings.Repeat("é", 200) + ": {path: /x, url: \"forward:/\"}\n", `routes=+` + strings.Repeat("é", 79) + `… keys=`},
		{"order", "zuul.routes: {b: /b=forward:/, a: /a=forward:/}\n", ""},
		{"order", "zuul.routes: {a: /a=forward:/, b: /b=forward:/}\n", `"order of routes"=changed`},
	} {
		lines.Reset()
		g.refresh(t, test.yaml)
		for line := range strings.Lines(lines.String()) {
			if line = strings.TrimSpace(line); strings.Contains(line, "reloaded") && !strings.Contains(line+"$", test.want) {
				t.Errorf("%s:\n got %s\nwant %s", test.name, line, test.want)
			}
		}
		if strings.Count(lines.String(), "msg=\"configuration reloaded\"") != 1 {
			t.Errorf("%s: %s", test.name, lines)
		}
	}
}

func TestDetailsOfAReloadAreForDebugging(t *testing.T) {
	logger, lines := messages(100)
	level := &slog.LevelVar{}
	g := newRefreshable(t, "logging.level.root: debug\n", gozer.WithLogger(logger), gozer.WithLevel(level))
	g.refresh(t, "zuul.prefix: /x\n")
	if line := <-lines; !strings.Contains(line, "configuration reloaded") {
		t.Error(line)
	}
}

// An error may be as long as the file that it is about.
func TestLongErrorsAreCut(t *testing.T) {
	failure := errors.New(strings.Repeat("gateway.yaml:1: "+strings.Repeat("é", 500)+"\n", 1000))
	log, lines := logged()
	g := newGateway(t, "server.port: 8080\n", log, gozer.WithSource(func(context.Context) (*config.Config, error) { return nil, failure }))
	ask(t, g.Management(), http.MethodPost, "/actuator/refresh")
	part, _ := configurationHealth(t, g)
	if text := fmt.Sprint(part); len(text) > 10_000 || !strings.Contains(text, "gateway.yaml:1") || strings.ContainsRune(text, '\uFFFD') {
		t.Errorf("health has %d bytes", len(text))
	}
	if lines.Len() > 20_000 {
		t.Errorf("the log has %d bytes", lines.Len())
	}
}
