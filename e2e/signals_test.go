package e2e_test

import (
	"bufio"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A signal that comes before the configuration has been read is obeyed once there is
// something to reload; it does not end the process.
func TestReloadIsAskedForDuringTheStart(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ verb, outcome string }{
		{"run", `msg="configuration reloaded" "asked by"=SIGHUP`},
		{"registry", `msg="peers reloaded"`},
	} {
		t.Run(row.verb, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "pipe.yaml")
			if err := syscall.Mkfifo(file, 0o600); err != nil {
				t.Fatal(err)
			}
			g := start{verb: row.verb, args: []string{
				"--config", file, "--set", "server.port=0", "--set", "server.address=127.0.0.1", "--set", "management.server.port=-1",
			}}.launch(t)
			pipe := awaitReader(t, file)
			g.Signal(syscall.SIGHUP)
			g.Write("zuul.routes: {a: /a/**}\n")
			if err := os.Rename(g.config, file); err != nil {
				t.Fatal(err)
			}
			if _, err := pipe.WriteString("zuul.routes: {}\n"); err != nil {
				t.Fatal(err)
			}
			if err := pipe.Close(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the log says "+row.outcome, func() bool { return g.Log.Count(row.outcome) == 1 })
			wantExit(t, g.Stop(), 0)
		})
	}
}

// awaitReader opens a named pipe for writing once somebody reads it.
func awaitReader(t *testing.T, file string) (pipe *os.File) {
	t.Helper()
	eventually(t, "the configuration is read", func() bool {
		var err error
		pipe, err = os.OpenFile(file, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		return err == nil
	})
	return pipe
}

// Who turns the logs over need not know that the gateway is about to end.
func TestSignalsDuringTheShutdown(t *testing.T) {
	t.Parallel()
	s := startSlow(t)
	g := startGateway(t, s.yaml(0, patience))
	c := s.begin(t, g)
	g.Signal(syscall.SIGTERM)
	eventually(t, "new connections are refused", func() bool { return isRefused(t, g.Proxy) })
	g.Signal(syscall.SIGHUP)
	g.Signal(syscall.SIGUSR2)
	close(s.finish)
	nextAnswer(t, bufio.NewReader(c), http.MethodGet).wantStatus(t, http.StatusOK)
	wantExit(t, g.ExitCode(), 0)
}
