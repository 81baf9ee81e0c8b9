package e2e_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A reader of the gateway's output that goes away takes lines with it, never the gateway.
func TestReaderOfTheOutputGoesAway(t *testing.T) {
	t.Parallel()
	const yaml = "zuul.routes: {a: {path: /a%d/**, url: \"http://127.0.0.1:1\"}}\ngateway.access-log: {enabled: true, flush-interval: 100ms}\n"
	// The shell gives the gateway a pipe, and somebody who reads from it up to a line.
	readTo := func(t *testing.T, last, redirection string) *gateway {
		t.Helper()
		pipe := filepath.Join(t.TempDir(), "pipe")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		return start{
			yaml: fmt.Sprintf(yaml, 0), env: []string{"PIPE=" + pipe, "LAST=" + last},
			shell: `sed "/$LAST/q" <"$PIPE" >&2 & exec "$@" ` + redirection,
		}.ready(t)
	}
	admin := func(t *testing.T, g *gateway, endpoint string) string {
		t.Helper()
		a, err := g.tryGet(g.AdminURL("/actuator/" + endpoint))
		if err != nil {
			t.Fatal(err)
		}
		return a.Body
	}
	t.Run("of standard output", func(t *testing.T) {
		t.Parallel()
		g := readTo(t, "last of all", `>"$PIPE"`)
		g.Get("/x", "User-Agent: last of all")
		eventually(t, "lines are lost", func() bool {
			g.Get("/x")
			return !strings.Contains(admin(t, g, "prometheus"), "\ngozer_access_log_lost_total 0\n")
		})
		for _, line := range []string{"last of all", `msg="the access log cannot be written" error="write /dev/stdout: broken pipe"`} {
			g.wantsLine(t, line)
		}
		wantExit(t, g.Stop(), 0)
	})
	t.Run("of standard error", func(t *testing.T) {
		t.Parallel()
		g := readTo(t, "msg=ready", `2>"$PIPE"`)
		n := 0
		eventually(t, "lines are lost and counted", func() bool {
			n++
			g.Write(fmt.Sprintf(yaml, n))
			g.Signal(syscall.SIGHUP)
			path := fmt.Sprintf("/a%d/**", n)
			eventually(t, "the routes are "+path, func() bool { return strings.Contains(admin(t, g, "routes"), path) })
			metrics := admin(t, g, "prometheus")
			return n >= 3 && strings.Contains(metrics, "\ngozer_log_lost_total ") && !strings.Contains(metrics, "\ngozer_log_lost_total 0\n")
		})
		wantExit(t, g.Stop(), 0)
	})
}
