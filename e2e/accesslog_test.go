package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

const quickLog = "gateway.access-log: {enabled: true, flush-interval: 10ms, file: \"FILE\"}\n"

// logLines reads the access log until it has so many lines.
func logLines(t *testing.T, file string, want int) []string {
	t.Helper()
	var lines []string
	eventually(t, "the access log has its lines", func() bool {
		text, _ := os.ReadFile(file) // it may not be there yet
		lines = strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		return strings.HasSuffix(string(text), "\n") && len(lines) >= want
	})
	if len(lines) != want {
		t.Fatalf("%d lines, want %d:\n%s", len(lines), want, strings.Join(lines, "\n"))
	}
	return lines
}

// One line for each request, whatever became of it: served, refused by the server or a
// filter, failed at the upstream.
func TestAccessLog(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "access.log")
	b := backendtest.Start(t, backendtest.Answer(http.StatusOK, "served"))
	g := startGateway(t, oneYAML(b.Addr, "", "")+"zuul.routes.gone: {path: /gone/**, url: \"http://"+dead(t)+"\"}\n"+strings.ReplaceAll(quickLog, "FILE", file))
	for at, row := range []struct {
		send func()
		want map[string]any
	}{
		{
			func() { g.Get("/one/x?token=hunter2&a=1", "User-Agent: test").wantStatus(t, http.StatusOK) },
			map[string]any{"status": 200.0, "method": "GET", "path": "/one/x", "query": "token=***&a=1", "service": "one", "server": b.Addr, "attempts": 1.0, "bytes_out": 6.0, "upstream_status": 200.0, "client": "127.0.0.1", "user_agent": "test"},
		},
		{func() { g.Get("/none").wantStatus(t, http.StatusNotFound) }, map[string]any{"status": 404.0, "service": nil}},
		{func() { g.Get("/gone/x").wantStatus(t, http.StatusBadGateway) }, map[string]any{"status": 502.0, "route": "gone", "attempts": 1.0, "upstream_status": nil, "cause": "CONNECT_EXCEPTION"}},
		{func() {
			g.wire("GET", "GET /one/..%5cx HTTP/1.1\r\nHost: g.test\r\n\r\n").wantStatus(t, http.StatusBadRequest)
		}, map[string]any{"status": 400.0, "path": "/one/..%5cx", "cause": "Unsafe path"}},
	} {
		row.send()
		var got map[string]any
		line := logLines(t, file, at+1)[at]
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err, line)
		}
		for name, want := range row.want {
			if got[name] != want {
				t.Errorf("%s is %v, want %v, in %s", name, got[name], want, line)
			}
		}
	}
}

// What http1 refuses by itself has a line too, with what is known of it.
func TestAccessLogOfRefusals(t *testing.T) {
	t.Parallel()
	if os.Getenv(engineVariable) == "nethttp" {
		t.Skip("net/http does not tell")
	}
	file := filepath.Join(t.TempDir(), "access.log")
	g := startGateway(t, "zuul.routes: {}\n"+strings.ReplaceAll(quickLog, "FILE", file))
	g.wire("GET", "GET /x HTTP/1.1\r\nHost: g.test\r\nX: a\x00b\r\n\r\n").wantStatus(t, http.StatusBadRequest)
	wantLines(t, logLines(t, file, 1)[0], []string{`"client":"127.0.0.1"`, `"status":400`, `"cause":"`})
}

// It tells the truth about what was sent, and about the connection's end.
func TestAccessLogOfWhatRefusalsSend(t *testing.T) {
	t.Parallel()
	if os.Getenv(engineVariable) == "nethttp" {
		t.Skip("net/http does not tell")
	}
	file := filepath.Join(t.TempDir(), "access.log")
	g := startGateway(t, "zuul.routes: {}\n"+strings.ReplaceAll(strings.Replace(quickLog, "enabled", `format: pattern, pattern: "%s %B %X %{Content-Length}o %{Content-Type}o %{Connection}o %{Date}o", enabled`, 1), "FILE", file))
	for at, request := range []string{"GARBAGE\r\n\r\n", "GET /" + strings.Repeat("x", 20000) + " HTTP/1.1\r\nHost: g\r\n\r\n"} {
		a := g.wire("GET", request)
		want := fmt.Sprintf("%d %d - %d %s close %s", a.Status, len(a.Body), len(a.Body), a.Header.Get("Content-Type"), a.Header.Get("Date"))
		if line := logLines(t, file, at+1)[at]; line != want || a.Status < 400 {
			t.Errorf("logged %s, want %s", line, want)
		}
	}
	a := g.wire("GET", "GET /x HTTP/1.1\r\nHost: g.test\r\nConnection: keep-alive\r\n\r\n")
	wantLines(t, logLines(t, file, 3)[2], []string{"404 " + strconv.Itoa(len(a.Body)) + " + "})
}

// So has a request in HTTP/2 that is refused before any filter runs.
func TestAccessLogOfRefusalsInHTTP2(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "access.log")
	g := startGateway(t, "zuul.routes: {}\n"+withH2+strings.ReplaceAll(quickLog, "FILE", file))
	if a := g.dialH2().ask(get2("/x", "content-length: 1x")...); a.Status != http.StatusBadRequest {
		t.Errorf("answered with %d", a.Status)
	}
	wantLines(t, logLines(t, file, 1)[0], []string{`"client":"127.0.0.1"`, `"status":400`, `"cause":"invalid content-length"`})
}

// Whoever rotates the log moves the file away and sends SIGHUP, with or without a good
// configuration; a reload moves the log to another file and switches it off.
func TestAccessLogIsRotated(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, moved, second := filepath.Join(dir, "a.log"), filepath.Join(dir, "a.log.1"), filepath.Join(dir, "b.log")
	yaml := func(file string) string { return "zuul.routes: {}\n" + strings.ReplaceAll(quickLog, "FILE", file) }
	g := startGateway(t, yaml(first))
	g.Get("/one")
	logLines(t, first, 1)
	if err := os.Rename(first, moved); err != nil {
		t.Fatal(err)
	}
	g.Reload("nonsense: [\n", refused)
	eventually(t, "the file is made anew", func() bool { _, err := os.Stat(first); return err == nil })
	g.Get("/two")
	wantLines(t, logLines(t, first, 1)[0], []string{"/two"})
	wantLines(t, logLines(t, moved, 1)[0], []string{"/one"})
	g.Reload(yaml(second), reloaded)
	g.Get("/three")
	wantLines(t, logLines(t, second, 1)[0], []string{"/three"})
	g.Reload("zuul.routes: {}\n", reloaded)
	g.Get("/four")
	wantExit(t, g.Stop(), 0)
	logLines(t, first, 1)
	logLines(t, second, 1)
}

// The lines on standard output are complete when the process has ended.
func TestAccessLogOnStandardOutput(t *testing.T) {
	t.Parallel()
	g := startGateway(t, "zuul.routes: {}\ngateway.access-log: {enabled: true, format: combined, flush-interval: 1h}\n")
	g.Get("/one", "User-Agent: a\"b")
	wantExit(t, g.Stop(), 0)
	wantLines(t, g.Log.String(), []string{`"GET /one HTTP/1.1" 404 `, `"a\x22b"`})
}

func TestAccessLogThatCannotBe(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string]string{
		"gateway.access-log: {enabled: true, format: pattern, pattern: \"%h %Z\"}\n": `gateway.yaml:1`,
		"gateway.access-log: {enabled: true, file: /nonexistent/dir/access.log}\n":   "no such file",
		"gateway.access-log: {enabled: true, format: xml}\n":                         "is none of json, combined, common, pattern",
		"server.tomcat.accesslog.enabled: true\ngateway.access-log.enabeld: true\n":  "gateway.access-log.enabled",
	} {
		code, out, errs := run(t, start{yaml: yaml}, "run", "--set", "server.port=0", "--set", "management.server.port=0")
		wantExit(t, code, 1)
		wantLines(t, out+errs, []string{want})
	}
}
