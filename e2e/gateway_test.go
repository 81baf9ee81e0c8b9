package e2e_test

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is how long any single thing may take before the test gives up. It is far
// longer than anything should, for machines that are busy with something else.
const patience = time.Minute

// patient are settings in front of those of a test, which prevail: an honest upstream may need
// more than the second of the defaults, on such a machine.
const patient = "ribbon: {ConnectTimeout: 30000, ReadTimeout: 30000}\nzuul.host: {connect-timeout-millis: 30000, socket-timeout-millis: 30000}\n---\n"

// engineVariable is the environment variable that names the engine to test; the
// default is the gateway's.
const engineVariable = "E2E_ENGINE"

// gateway is a running gateway process.
type gateway struct {
	Proxy, Admin string // host:port
	Log          *output

	tb     testing.TB
	config string // the file
	before string // what the file begins with
	cmd    *exec.Cmd
	ended  chan struct{} // closed when the process has ended
}

// start is how a gateway is started; the zero value runs the binary with its file.
type start struct {
	yaml    string
	verb    string   // the command; "" means run
	args    []string // further arguments of run
	env     []string
	program string     // the binary; "" means the one that was built
	passed  []*os.File // descriptors from 3 on
	shell   string     // runs "$@", the command
	custom  bool       // the gateway with the filters of custom_test.go
	files   int        // how many descriptors it may have; 0 means as many as this process
	plain   bool       // the gateway with its own defaults, which are not patient
}

// startGateway runs a gateway with the configuration until the test ends, and returns
// once it is ready. Ports are chosen by the kernel, and told by the log.
func startGateway(tb testing.TB, yaml string) *gateway {
	tb.Helper()
	return start{yaml: yaml}.ready(tb)
}

// startCustom does the same with the filters of custom_test.go.
func startCustom(tb testing.TB, yaml string) *gateway {
	tb.Helper()
	return start{yaml: yaml, custom: true}.ready(tb)
}

func (s start) ready(tb testing.TB) *gateway {
	tb.Helper()
	if engine := os.Getenv(engineVariable); engine != "" {
		s.args = append([]string{"--set", "server.http1.engine=" + engine}, s.args...)
	}
	s.args = append([]string{"--set", "server.port=0", "--set", "server.address=127.0.0.1", "--set", "management.server.port=0"}, s.args...)
	g := s.launch(tb)
	g.Proxy = g.Log.address(tb, "proxy", g.ended)
	g.Admin = g.Log.address(tb, "management", g.ended)
	eventually(tb, "the gateway is ready", func() bool { return g.readiness() == http.StatusOK })
	eventually(tb, "the log says all there is about the start", func() bool { return g.Log.Count("msg=ready") == 1 })
	return g
}

// launch starts the process and waits for nothing.
func (s start) launch(tb testing.TB) *gateway {
	tb.Helper()
	g := &gateway{tb: tb, Log: newOutput(), config: filepath.Join(tb.TempDir(), "gateway.yaml"), ended: make(chan struct{})}
	if !s.plain {
		g.before = patient
	}
	g.Write(s.yaml)
	g.cmd = s.command(append([]string{cmp.Or(s.verb, "run"), "--config", g.config}, s.args...)...)
	g.cmd.Stdout, g.cmd.Stderr = g.Log, g.Log
	if s.program != "" || s.passed != nil {
		pipe := g.Log.pipe(tb) // the end of the process is not that of what is said there
		g.cmd.Stdout, g.cmd.Stderr = pipe, pipe
		defer pipe.Close()
	}
	g.cmd.ExtraFiles = s.passed
	if err := g.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	go func() {
		defer close(g.ended)
		_ = g.cmd.Wait() // ExitCode knows
	}()
	tb.Cleanup(g.cleanUp)
	return g
}

// command is the gateway's command line in an environment that holds nothing else.
func (s start) command(args ...string) *exec.Cmd {
	program, env := cmp.Or(s.program, binary), s.env
	if s.custom {
		program, env = os.Args[0], append([]string{customProgram + "=1"}, env...)
	}
	if s.files > 0 {
		args = append([]string{"-c", `ulimit -n "$0" && exec "$@"`, strconv.Itoa(s.files), program}, args...)
		program = "/bin/sh"
	}
	if s.shell != "" {
		args = append([]string{"-c", s.shell, "sh", program}, args...)
		program = "/bin/sh"
	}
	cmd := exec.CommandContext(context.Background(), program, args...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	return cmd
}

// Write replaces the configuration file, as an editor does: all at once.
func (g *gateway) Write(yaml string) {
	g.tb.Helper()
	next := g.config + ".new"
	if err := os.WriteFile(next, []byte(g.before+yaml), 0o600); err != nil {
		g.tb.Fatal(err)
	}
	if err := os.Rename(next, g.config); err != nil {
		g.tb.Fatal(err)
	}
}

// URL is the proxy's address in front of a request target.
func (g *gateway) URL(target string) string { return "http://" + g.Proxy + target }

// AdminURL is the management listener's address in front of a request target.
func (g *gateway) AdminURL(target string) string { return "http://" + g.Admin + target }

// readiness is the status of the readiness endpoint, 0 if nobody answers.
func (g *gateway) readiness() int {
	res, err := g.tryGet(g.AdminURL("/actuator/health/readiness"))
	if err != nil {
		return 0
	}
	return res.Status
}

// Signal sends a signal to the process.
func (g *gateway) Signal(s os.Signal) {
	g.tb.Helper()
	if err := g.cmd.Process.Signal(s); err != nil {
		g.tb.Fatal(err)
	}
}

// Reload replaces the configuration and waits for the log to tell what became of it.
func (g *gateway) Reload(yaml, outcome string) {
	g.tb.Helper()
	before := g.Log.Count(outcome)
	g.Write(yaml)
	g.Signal(syscall.SIGHUP)
	eventually(g.tb, "the log says "+outcome, func() bool { return g.Log.Count(outcome) > before })
}

// ExitCode waits for the end of the process.
func (g *gateway) ExitCode() int {
	g.tb.Helper()
	select {
	case <-g.ended:
	case <-time.After(patience):
		g.tb.Fatalf("the gateway goes on\n%s", g.Log)
	}
	return g.cmd.ProcessState.ExitCode()
}

// Stop asks the gateway to end and waits until it has; it returns the exit code.
func (g *gateway) Stop() int {
	g.tb.Helper()
	g.Signal(syscall.SIGTERM)
	return g.ExitCode()
}

// alive reports that the process has not ended.
func (g *gateway) alive() bool {
	select {
	case <-g.ended:
		return false
	default:
		return true
	}
}

// cleanUp ends the process, and fails the test if it has crashed or raced.
func (g *gateway) cleanUp() {
	if g.alive() {
		if err := g.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			g.tb.Error(err)
		}
		<-g.ended
	}
	log, _, _ := strings.Cut(g.Log.String(), "SIGQUIT: quit") // what follows has been asked for
	for _, bad := range []string{"DATA RACE", "panic", "fatal error"} {
		if strings.Contains(log, bad) {
			g.tb.Errorf("the gateway's log has %q", bad)
		}
	}
	if g.tb.Failed() {
		g.tb.Logf("log of the gateway:\n%s", tail(log, 8<<10))
	}
}

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

var listening = regexp.MustCompile(`msg=listening for=(\w+) address=(\S+)`)

// address waits until the log tells where a listener is.
func (o *output) address(tb testing.TB, listener string, ended <-chan struct{}) string {
	tb.Helper()
	var address string
	eventually(tb, "the "+listener+" listens", func() bool {
		select {
		case <-ended:
			tb.Fatalf("the gateway has ended:\n%s", o)
		default:
		}
		for _, found := range listening.FindAllStringSubmatch(o.String(), -1) {
			if found[1] == listener {
				address = found[2]
			}
		}
		return address != ""
	})
	return address
}
