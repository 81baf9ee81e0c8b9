package e2e_test

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// run executes a command line that ends by itself.
func run(t *testing.T, s start, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := s.command(args...)
	cmd.Dir = t.TempDir()
	if s.yaml != "" {
		if err := os.WriteFile(filepath.Join(cmd.Dir, "gateway.yaml"), []byte(s.yaml), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// faulty has an error of each sort: a value, a name, a route, a filter. A fault that
// only shows when the gateway is built does not wait for the others to be mended.
const faulty = `server.port: eighty
zuul:
  rutes: {users: /users/**}
  routes:
    broken: {path: "/broken{}/**", url: "http://127.0.0.1:1"}
  AuthFilter.pre.disable: true
error.path: /oops
`

func TestBadConfiguration(t *testing.T) {
	t.Parallel()
	wanted := []string{
		`gateway.yaml:1: error: server.port: "eighty" is not a whole number`,
		"gateway.yaml:3: error: zuul.rutes: unknown section; did you mean zuul.routes?",
		`gateway.yaml:5: error: zuul.routes.broken: invalid route: pattern "/broken{}/**"`,
		"gateway.yaml:6: error: zuul.AuthFilter.pre.disable: there is no such filter",
		"gateway.yaml:7: warning: error.path",
		"4 errors, 1 warning",
	}
	t.Run("check lists every finding", func(t *testing.T) {
		t.Parallel()
		code, out, _ := run(t, start{yaml: faulty}, "check")
		wantExit(t, code, 1)
		wantLines(t, out, wanted)
	})
	t.Run("run says the same and opens no port", func(t *testing.T) {
		t.Parallel()
		taken := backendtest.Start(t, identify()) // a port that cannot be opened
		code, out, errs := run(t, start{yaml: faulty}, "run", "--set", "management.server.port="+port(taken.Addr))
		wantExit(t, code, 1)
		wantLines(t, errs, wanted)
		if strings.Contains(errs, "listening") || strings.Contains(errs, "address already in use") || out != "" {
			t.Errorf("it went further than the configuration:\n%s%s", out, errs)
		}
	})
	t.Run("zuul 68 a route that cannot be built", func(t *testing.T) {
		t.Parallel()
		for _, verb := range []string{"check", "run"} {
			code, out, errs := run(t, start{yaml: `zuul.routes.broken: {path: "/broken{}/**", url: "http://127.0.0.1:1"}`}, verb)
			wantExit(t, code, 1)
			if !strings.Contains(out+errs, "/broken{}/**") {
				t.Errorf("%s does not name the pattern:\n%s%s", verb, out, errs)
			}
		}
	})
	t.Run("a filter with a misspelt name", func(t *testing.T) {
		t.Parallel()
		code, out, _ := run(t, start{yaml: "zuul.PreDecorationFiltre.pre.disable: true"}, "check")
		wantExit(t, code, 1)
		wantLines(t, out, []string{"there is no such filter", "did you mean PreDecorationFilter?"})
	})
	t.Run("no file", func(t *testing.T) {
		t.Parallel()
		for _, verb := range []string{"check", "run"} {
			code, out, errs := run(t, start{}, verb, "--config", "nowhere.yaml")
			wantExit(t, code, 1)
			wantLines(t, out+errs, []string{"nowhere.yaml"})
		}
	})
	t.Run("broken YAML", func(t *testing.T) {
		t.Parallel()
		code, out, _ := run(t, start{yaml: "zuul:\n  routes: {a: b\n"}, "check")
		wantExit(t, code, 1)
		wantLines(t, out, []string{"broken YAML"})
	})
}

func TestCheckWithWarningsOnly(t *testing.T) {
	t.Parallel()
	code, out, _ := run(t, start{yaml: "server.tomcat.max-threads: 200\n"}, "check")
	wantExit(t, code, 0)
	wantLines(t, out, []string{"gateway.yaml:1: warning: server.tomcat.max-threads", "0 errors, 1 warning"})
}

func TestCheckOfTheSample(t *testing.T) {
	t.Parallel()
	sample, err := os.ReadFile("../gateway.yaml")
	if err != nil {
		t.Fatal(err)
	}
	code, out, _ := run(t, start{yaml: string(sample)}, "check")
	wantExit(t, code, 0)
	wantLines(t, out, []string{"configuration is valid"})
}

func TestWrongUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"fly"}, {"run", "--fly"}, {"check", "gateway.yaml"}} {
		code, out, errs := run(t, start{}, args...)
		wantExit(t, code, 2)
		if out != "" || errs == "" {
			t.Errorf("%q: %q on stdout, %q on stderr", args, out, errs)
		}
	}
}

func TestVersionAndHelp(t *testing.T) {
	t.Parallel()
	code, out, _ := run(t, start{}, "version")
	wantExit(t, code, 0)
	if out != "dev\n" {
		t.Errorf("version %q", out)
	}
	code, out, _ = run(t, start{}, "help")
	wantExit(t, code, 0)
	wantLines(t, out, []string{"usage: gateway", "check"})
}

// A port that is taken ends the start; the listener that was open already is closed.
func TestPortTaken(t *testing.T) {
	t.Parallel()
	taken := backendtest.Start(t, identify())
	code, _, errs := run(t, start{yaml: "server: {port: 0, address: 127.0.0.1}"}, "run", "--set", "management.server.port="+port(taken.Addr))
	wantExit(t, code, 1)
	wantLines(t, errs, []string{"address already in use", port(taken.Addr)})
}

// layered has one route per source of its target, from the weakest to the strongest.
const layered = `
zuul.routes:
  file: {path: /file/**, url: "http://UPSTREAM/file"}
  profile: {path: /profile/**, url: "http://UPSTREAM/file"}
  env: {path: /env/**, url: "http://UPSTREAM/file"}
  set: {path: /set/**, url: "http://UPSTREAM/file"}
---
spring.config.activate.on-profile: stage
zuul.routes:
  profile.url: http://UPSTREAM/profile
  env.url: http://UPSTREAM/profile
  set.url: http://UPSTREAM/profile
`

func TestPrecedence(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	at := func(s string) string { return strings.ReplaceAll(s, "UPSTREAM", m.Addr) }
	g := start{
		yaml: at(layered),
		args: []string{"--profile", "stage", "--set", at("zuul.routes.set.url=http://UPSTREAM/set")},
		env:  []string{at("ZUUL_ROUTES_ENV_URL=http://UPSTREAM/env"), at("ZUUL_ROUTES_SET_URL=http://UPSTREAM/env")},
	}.ready(t)
	for _, source := range []string{"file", "profile", "env", "set"} {
		g.Get("/"+source+"/x").reflected(t).wantTarget(t, "/"+source+"/x")
	}
}

func TestProfileFromTheEnvironmentAndPlaceholder(t *testing.T) {
	t.Parallel()
	m := startMirror(t)
	g := start{
		yaml: `
zuul.routes.a: {path: /a/**, url: "http://${WHERE:nowhere}/${BASE:${OTHER:default}}"}
---
spring.config.activate.on-profile: stage
zuul.prefix: /stage
`,
		env: []string{"WHERE=" + m.Addr, "SPRING_PROFILES_ACTIVE=stage"},
	}.ready(t)
	g.Get("/stage/a/x").reflected(t).wantTarget(t, "/default/x")
	g.Get("/a/x").wantStatus(t, http.StatusNotFound)
}

func wantExit(t *testing.T, got, want int) {
	t.Helper()
	if got != want {
		t.Errorf("exit code %d, want %d", got, want)
	}
}

func wantLines(t *testing.T, text string, parts []string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("lacks %q:\n%s", part, text)
		}
	}
}

var afterColon = regexp.MustCompile(`\d+$`)

func port(address string) string { return afterColon.FindString(address) }
