package e2e_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
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

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// installed is a gateway whose program is a file of the test's own, to be replaced.
func (s start) installed(t *testing.T) (g *gateway, program string) {
	t.Helper()
	s.program = ownProgram(t)
	return s.ready(t), s.program
}

func ownProgram(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "gateway")
	copyFile(t, binary, program)
	return program
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	putProgram(t, to, data)
}

// putProgram does it as an installation does: the file that runs stays as it is. It is
// written by another process, since a program cannot be started while a child that is about
// to be has it open.
func putProgram(t *testing.T, path string, data []byte) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `cat >"$0.new" && chmod 700 "$0.new" && mv "$0.new" "$0"`, path)
	cmd.Stdin = bytes.NewReader(data)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

var successorServes = regexp.MustCompile(`msg="hand-over: the successor serves" pid=(\d+)`)

// pipe is a file whose text comes here until all its writers have ended.
func (o *output) pipe(tb testing.TB) *os.File {
	tb.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _, _ = io.Copy(o, r) }()
	tb.Cleanup(func() {
		select {
		case <-ended:
		case <-time.After(patience):
			tb.Error("somebody still holds the log")
		}
		_ = r.Close()
	})
	return w
}

// handOver asks the gateway to hand over and returns the process that has taken its place,
// which ends with the test.
func (g *gateway) handOver(t *testing.T) *os.Process {
	t.Helper()
	g.Signal(syscall.SIGUSR2)
	return g.successor(t, 1)
}

// successor waits until the nth process after the first one serves.
func (g *gateway) successor(t *testing.T, n int) *os.Process {
	t.Helper()
	var found [][]string
	eventually(t, "the successor serves", func() bool {
		found = successorServes.FindAllStringSubmatch(g.Log.String(), -1)
		return len(found) == n
	})
	pid, err := strconv.Atoi(found[n-1][1])
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill(); awaitEnd(t, p) })
	return p
}

// wantsLine waits for a line of the log, which may come after the end of the process.
func (g *gateway) wantsLine(t *testing.T, line string) {
	t.Helper()
	eventually(t, "the log says "+line, func() bool { return g.Log.Count(line) > 0 })
}

// awaitEnd waits for a process that is no child.
func awaitEnd(t *testing.T, p *os.Process) {
	t.Helper()
	eventually(t, "the successor ends", func() bool { return p.Signal(syscall.Signal(0)) != nil || zombie(p.Pid) })
}

func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

// The program is replaced under load, twice: neither on kept connections nor on new ones a
// request fails, be it one that may be repeated or not, and a WebSocket stays with the old
// process until its grace ends.
func TestHandOverUnderLoad(t *testing.T) {
	t.Parallel()
	quick, switched := backendtest.Start(t, identify()), backendtest.Start(t, switching())
	g, program := start{yaml: fmt.Sprintf("zuul.routes: {a: {path: /a/**, url: \"http://%s\"}, url: {path: /url/**, url: \"%s\"}}\n", quick.Addr, switched.URL()) +
		"gateway.shutdown.stream-grace: 3s\n"}.installed(t)
	kept := startLoad(t, g.URL("/a/x"), http.MethodGet, http.MethodPost)
	once := newClient(t)
	once.Transport.(*http.Transport).DisableKeepAlives = true
	fresh := startLoadBy(t, once, g.URL("/a/y"), http.MethodPost, http.MethodGet)
	kept.Progress(100)
	socket := g.upgrade("/url/ws", "Connection: Upgrade", "Upgrade: websocket")

	copyFile(t, binary, program)
	next := g.handOver(t)
	write(t, socket.conn, "a")
	if b, err := socket.reader.ReadByte(); err != nil || b != 'A' {
		t.Errorf("the WebSocket says %q, %v while its process drains", b, err)
	}
	kept.Progress(200)
	fresh.Progress(50)
	if _, err := io.ReadAll(socket.reader); err != nil {
		t.Errorf("the WebSocket ends with %v", err)
	}
	wantExit(t, g.ExitCode(), 0)
	g.wantsLine(t, "shutdown: streams are cut")
	g.wantsLine(t, "shutdown: done, the successor goes on")
	if g.readiness() != http.StatusOK {
		t.Error("the successor is not ready")
	}

	if err := next.Signal(syscall.SIGUSR2); err != nil {
		t.Fatal(err)
	}
	last := g.successor(t, 2)
	awaitEnd(t, next)
	kept.Progress(100)
	fresh.Progress(50)
	t.Logf("%d requests on kept connections, %d on new ones", kept.Stop(), fresh.Stop())
	if err := last.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, last)
	eventually(t, "new connections are refused", func() bool { return isRefused(t, g.Proxy) })
}

// Whatever is wrong with the new program or its configuration, the old process goes on, and
// can still hand over, and drain.
func TestHandOverToABrokenProgram(t *testing.T) {
	t.Parallel()
	quick := backendtest.Start(t, identify())
	yaml := fmt.Sprintf("zuul.routes.a: {path: /a/**, url: \"http://%s\"}\ngateway.reload.watch: false\n", quick.Addr)
	for name, row := range map[string]struct {
		program, yaml string
		why           string
	}{
		"no program":     {"what is this", yaml, "exec format error"},
		"ends":           {"#!/bin/sh\nexit 7\n", yaml, "exit status 7"},
		"is never ready": {"#!/bin/sh\nexec sleep 60\n", yaml, "the new process is not ready after 500ms"},
		"bad file":       {"", "zuul.routes.a: {pathh: /a/**}\nserver.port: none\n", "exit status 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := time.Minute
			if name == "is never ready" {
				limit = 500 * time.Millisecond
			}
			g, program := start{yaml: yaml, args: []string{"--set", "gateway.restart.ready-timeout=" + strconv.FormatInt(limit.Milliseconds(), 10)}}.installed(t)
			l := startLoad(t, g.URL("/a/x"), http.MethodGet, http.MethodPost)
			l.Progress(20)
			if row.program != "" {
				putProgram(t, program, []byte(row.program))
			}
			g.Write(row.yaml)
			for n := 1; n <= 2; n++ {
				g.Signal(syscall.SIGUSR2)
				eventually(t, "the log says that it failed", func() bool { return g.Log.Count("hand-over failed, this process goes on") == n })
			}
			g.wantsLine(t, row.why)
			l.Progress(50)
			l.Stop()
			if g.readiness() != http.StatusOK {
				t.Error("not ready any more")
			}
			wantExit(t, g.Stop(), 0)
		})
	}
}

// The registry sees one instance all the time, and never that it goes.
func TestHandOverKeepsTheRegistration(t *testing.T) {
	t.Parallel()
	_, url := startRegistry(t)
	user := startUser(t, url)
	g, _ := start{yaml: "eureka.client: {service-url.defaultZone: \"" + url + "\", registry-fetch-interval-seconds: 1}\nspring.application.name: front\n" +
		"eureka.instance: {instance-id: front-1, lease-renewal-interval-in-seconds: 1}\n"}.installed(t)
	eventually(t, "the gateway is registered", func() bool { return g.Log.Count("eureka: registered") == 1 })
	eventually(t, "the instance is found", func() bool { a, err := g.tryGet(g.URL("/users/x")); return err == nil && a.Status == http.StatusOK })
	l := startLoad(t, g.URL("/users/x"), http.MethodGet)
	registered := func() string {
		a, err := g.tryGet(strings.TrimSuffix(url, "/") + "/apps/FRONT/front-1")
		if err != nil {
			return err.Error()
		}
		return strconv.Itoa(a.Status) + " " + a.Body
	}
	g.handOver(t)
	for g.alive() {
		if now := registered(); !strings.HasPrefix(now, "200") || !strings.Contains(now, "UP") || strings.Contains(now, "OUT_OF_SERVICE") {
			t.Fatalf("the registry says %s", now)
		}
	}
	wantExit(t, g.ExitCode(), 0)
	l.Progress(50)
	l.Stop()
	if now := registered(); !strings.HasPrefix(now, "200") {
		t.Errorf("after the end of the predecessor the registry says %s", now)
	}
	if g.Log.Count("left the registry") > 0 || user.Requests() == 0 {
		t.Error("the predecessor has left the registry")
	}
}

// A signal to end, while the old process drains, ends it at once; the successor goes on.
func TestSignalAfterAHandOver(t *testing.T) {
	t.Parallel()
	slow := startSlow(t)
	g, _ := start{yaml: slow.yaml(0, patience)}.installed(t)
	slow.begin(t, g)
	g.handOver(t)
	g.Signal(syscall.SIGTERM)
	wantExit(t, g.ExitCode(), 1)
	if g.readiness() != http.StatusOK {
		t.Error("the successor is not ready")
	}
}

// passed is a socket of systemd's, and the descriptor to start a gateway with.
func passed(t *testing.T) (net.Addr, *os.File) {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close(); _ = f.Close() })
	return l.Addr(), f
}

// manager is what systemd hears of a service.
type manager struct {
	path   string
	socket *net.UnixConn
	t      *testing.T
}

func newManager(t *testing.T) *manager {
	t.Helper()
	m := &manager{path: filepath.Join(t.TempDir(), "notify"), t: t}
	var err error
	if m.socket, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: m.path, Net: "unixgram"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.socket.Close() })
	return m
}

func (m *manager) hears(want string) {
	m.t.Helper()
	text := make([]byte, 200)
	if err := m.socket.SetReadDeadline(time.Now().Add(patience)); err != nil {
		m.t.Fatal(err)
	}
	n, err := m.socket.Read(text)
	if got := string(text[:n]); err != nil || got != want {
		m.t.Errorf("systemd hears %q, %v; want %q", got, err, want)
	}
}

// followsLife hears of a reload, of a restart and of the end.
func (m *manager) followsLife(g *gateway) {
	m.t.Helper()
	g.Signal(syscall.SIGHUP)
	m.hears("RELOADING=1")
	m.hears("READY=1")
	g.Signal(syscall.SIGUSR2)
	m.hears("RELOADING=1")
	next := g.successor(m.t, 1)
	m.hears(fmt.Sprintf("MAINPID=%d\nREADY=1", next.Pid))
	wantExit(m.t, g.ExitCode(), 0)
	if err := next.Signal(syscall.SIGTERM); err != nil {
		m.t.Fatal(err)
	}
	m.hears("STOPPING=1")
}

// systemd's protocol: sockets by name or port, and the word that the service is ready.
func TestSocketActivation(t *testing.T) {
	t.Parallel()
	proxy, proxyFile := passed(t)
	admin, adminFile := passed(t)
	_, adminPort, _ := net.SplitHostPort(admin.String())
	systemd := newManager(t)
	g := start{
		yaml: "zuul.routes: {}\n", passed: []*os.File{proxyFile, adminFile},
		env:  []string{"LISTEN_FDS=2", "LISTEN_FDNAMES=proxy:gateway.socket", "NOTIFY_SOCKET=" + systemd.path},
		args: []string{"--set", "server.port=1", "--set", "management.server.port=" + adminPort, "--set", "management.server.address=127.0.0.1"},
	}.activated(t)
	if got := g.Log.address(t, "proxy", g.ended); got != proxy.String() {
		t.Errorf("listens at %s, want %s", got, proxy)
	}
	g.Proxy, g.Admin = proxy.String(), admin.String()
	systemd.hears("READY=1")
	if g.readiness() != http.StatusOK {
		t.Error("not ready")
	}
	systemd.followsLife(g)
}

func TestSocketActivationWithoutAListener(t *testing.T) {
	t.Parallel()
	socket, f := passed(t)
	g := start{
		yaml: "zuul.routes: {}\n", passed: []*os.File{f}, env: []string{"LISTEN_FDS=1", "LISTEN_FDNAMES=web"},
		args: []string{"--set", "server.port=0", "--set", "management.server.port=0"},
	}.activated(t)
	wantExit(t, g.ExitCode(), 1)
	g.wantsLine(t, "sockets were passed on that belong to no listener (web "+socket.String()+")")
}

// activated starts a process as systemd does, which knows its id before it runs.
func (s start) activated(t *testing.T) *gateway {
	t.Helper()
	s.shell = `LISTEN_PID=$$ exec "$@"`
	return s.launch(t)
}
