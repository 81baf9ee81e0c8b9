package e2e_test

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/demo"
)

// step is one command of the README with the output that stands below it.
type step struct{ command, want string }

// readmeSteps reads the fenced blocks of the README: "$ " begins a command.
func readmeSteps(tb testing.TB) []step {
	tb.Helper()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		tb.Fatal(err)
	}
	var steps []step
	for i, block := range strings.Split(string(text), "```") {
		if i%2 == 0 {
			continue
		}
		for _, part := range strings.Split("\n"+block, "\n$ ")[1:] {
			command, want, _ := strings.Cut(part, "\n")
			steps = append(steps, step{command, strings.TrimSpace(want)})
		}
	}
	return steps
}

// TestREADMESays runs every command of the README's tour, in order, against the
// demo, and compares the output but for times, ids and ports.
func TestREADMESays(t *testing.T) {
	yaml, err := os.ReadFile("../gateway.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{demo.UsersOne, demo.UsersTwo, demo.Legacy} {
		if c, err := net.DialTimeout("tcp", address, time.Second); err == nil { //nolint:noctx // has a timeout
			_ = c.Close()
			t.Skipf("%s is taken, perhaps by another demo", address)
		}
	}
	// An instance that takes a second because the machine is busy would be given up for the other.
	g := start{yaml: string(yaml), args: []string{"--demo", "--set", "users.ribbon.ConnectTimeout=1m", "--set", "users.ribbon.ReadTimeout=1m"}}.ready(t)
	ports := strings.NewReplacer("127.0.0.1:8080", g.Proxy, "127.0.0.1:8081", g.Admin)
	steps := readmeSteps(t)
	if len(steps) < 8 {
		t.Fatalf("found only %d commands in the README", len(steps))
	}
	for _, s := range steps {
		t.Run(s.command, func(t *testing.T) {
			got := runStep(t, ports.Replace(s.command))
			if want := ports.Replace(s.want); steady(got) != steady(want) {
				t.Errorf("printed\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func runStep(tb testing.TB, command string) string {
	tb.Helper()
	if args, found := strings.CutPrefix(command, "bin/gateway "); found {
		cmd := start{}.command(strings.Fields(args)...)
		cmd.Dir = ".."
		out, _ := cmd.CombinedOutput() // exits with 1 when it has found something
		return strings.TrimSpace(string(out))
	}
	return curl(tb, command)
}

var (
	curlLine  = regexp.MustCompile(`^curl (?:--path-as-is )?(?:-d '([^']*)' )?"?(http://[^" ]+)"?$`)
	timestamp = regexp.MustCompile(`"(timestamp|lastLoaded)":"[^"]*"`)
	requestID = regexp.MustCompile(`[0-9a-f]{32}`)
	curlAgent = regexp.MustCompile(`curl/[0-9.]+`)
)

// curl does what the few forms of curl commands in the README do.
func curl(tb testing.TB, command string) string {
	tb.Helper()
	parts := curlLine.FindStringSubmatch(command)
	if parts == nil {
		tb.Fatalf("a command of another form: %s", command)
	}
	method, body := http.MethodGet, io.Reader(http.NoBody)
	if parts[1] != "" {
		method, body = http.MethodPost, strings.NewReader(parts[1])
	}
	req, err := http.NewRequestWithContext(tb.Context(), method, parts[2], body)
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("User-Agent", "curl/1.0")
	req.Header.Set("Accept", "*/*")
	client := &http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// steady replaces what differs from run to run.
func steady(s string) string {
	s = timestamp.ReplaceAllString(s, `"$1":""`)
	s = requestID.ReplaceAllString(s, "")
	s = curlAgent.ReplaceAllString(s, "curl")
	return regexp.MustCompile(`"X-Forwarded-Port":\["\d+"\]`).ReplaceAllString(s, "")
}

// TestREADMEFilter builds the README's whole gateway with a filter.
func TestREADMEFilter(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, code, found := strings.Cut(string(text), "```go\n")
	code, _, closed := strings.Cut(code, "```")
	if !found || !closed {
		t.Fatal("the README has no Go block")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	program, overlay := filepath.Join(t.TempDir(), "main.go"), filepath.Join(t.TempDir(), "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "readme", "main.go"): program}})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(program, []byte(code), 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay, "-o", os.DevNull, "./readme")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("it does not build: %v\n%s", err, out)
	}
}
