//go:build unix

package handover_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/handover"
	"github.com/gozer-gateway/gozer/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func TestNothingIsInherited(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"nothing":                    {},
		"sockets of another process": {"LISTEN_PID": "1", "LISTEN_FDS": "1"},
	} {
		t.Run(name, func(t *testing.T) {
			for key, value := range env {
				t.Setenv(key, value)
			}
			s, err := handover.Inherited()
			if s != nil || err != nil {
				t.Errorf("inherited %v, %v", s, err)
			}
			if _, there := os.LookupEnv("LISTEN_FDS"); there {
				t.Error("children would inherit the variables")
			}
			if s.HandedOver() || s.Take("proxy", ":80") != nil || len(s.Unused()) > 0 || s.Ready() != nil || s.ReadState(nil) != nil || s.Close() != nil {
				t.Error("nothing is something")
			}
		})
	}
}

func TestBadInheritance(t *testing.T) {
	pid := strconv.Itoa(os.Getpid())
	for want, env := range map[string]map[string]string{
		"is no number of sockets": {"LISTEN_PID": pid, "LISTEN_FDS": "many"},
		"is no descriptor":        {"GOZER_HANDOVER_SOCKETS": "proxy=:80", "GOZER_HANDOVER_READY": "x"},
		`STATE="1" is no`:         {"GOZER_HANDOVER_SOCKETS": "", "GOZER_HANDOVER_READY": "4", "GOZER_HANDOVER_STATE": "1"},
	} {
		t.Run(want, func(t *testing.T) {
			for key, value := range env {
				t.Setenv(key, value)
			}
			if _, err := handover.Inherited(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func listener(t *testing.T) net.Listener {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// A successor that says the word lives on; whatever else it does ends it, and leaves the
// listener as it was: it accepts, and its Close wakes whoever accepts.
func TestStart(t *testing.T) {
	for name, row := range map[string]struct {
		script string
		want   string // part of the error
	}{
		"ready":         {`echo ready >&$GOZER_HANDOVER_READY; [ "$GOZER_HANDOVER_SOCKETS" = "proxy=:80;management=:81" ] && exec sleep 10`, ""},
		"reads state":   {`[ "$(head -c 300000 <&$GOZER_HANDOVER_STATE | wc -c)" = 300000 ] && echo ready >&$GOZER_HANDOVER_READY; exec sleep 10`, ""},
		"ends":          {"exit 3", "exit status 3"},
		"ends well":     {"exit 0", "with status 0"},
		"another word":  {"echo hello >&$GOZER_HANDOVER_READY; exec sleep 10", "has not become ready"},
		"never ready":   {"exec sleep 10", "not ready after 300ms"},
		"no such thing": {"", "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			proxy, management := listener(t), listener(t)
			program := "/bin/sh"
			if row.script == "" {
				program = "/no/such/program"
			}
			state := func(w io.Writer) error { _, err := w.Write(make([]byte, 300_000)); return err } // more than a pipe holds
			limit := 300 * time.Millisecond
			if row.want != "not ready after 300ms" {
				limit = time.Minute
			}
			pid, err := handover.Successor{
				Path: program, Args: []string{"-c", row.script}, Limit: limit, State: state,
				Listeners: []handover.Listener{{"proxy", ":80", proxy}, {"management", ":81", management}},
			}.Start(t.Context())
			switch {
			case row.want == "" && err != nil, row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)):
				t.Errorf("Start returned %v", err)
			case err == nil:
				p, _ := os.FindProcess(pid)
				if err := p.Kill(); err != nil {
					t.Errorf("the successor does not live: %v", err)
				}
			}
			accepted := make(chan error, 2)
			go func() {
				for range 2 {
					_, err := proxy.Accept()
					accepted <- err
				}
			}()
			var d net.Dialer
			c, err := d.DialContext(t.Context(), "tcp", proxy.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if err := <-accepted; err != nil {
				t.Error(err)
			}
			_ = proxy.Close()
			if err := <-accepted; !errors.Is(err, net.ErrClosed) {
				t.Errorf("Accept ends with %v", err)
			}
		})
	}
}

func TestStartGivenUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := (handover.Successor{Path: "/bin/sh", Args: []string{"-c", "exec sleep 10"}, Limit: time.Minute}).Start(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Start returned %v", err)
	}
}

func TestNotify(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := handover.Notify(t.Context(), "READY=1"); err != nil {
		t.Errorf("without systemd: %v", err)
	}
	t.Setenv("NOTIFY_SOCKET", path)
	if err := handover.Notify(t.Context(), "MAINPID=7", "READY=1"); err != nil {
		t.Error(err)
	}
	text := make([]byte, 100)
	if n, err := c.Read(text); err != nil || string(text[:n]) != "MAINPID=7\nREADY=1" {
		t.Errorf("systemd hears %q, %v", text[:n], err)
	}
}
