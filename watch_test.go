package gozer_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/internal/memhttp"
)

// watched is a running gateway with a file of its own.
type watched struct {
	*gozer.Gateway
	path  string
	lines <-chan string
	tb    testing.TB
}

func quick(yaml string) string { return "gateway.reload.delay: 20ms\n" + yaml }

func startWatched(t *testing.T, yaml string, profiles ...string) *watched {
	t.Helper()
	w := &watched{path: filepath.Join(t.TempDir(), "gateway.yaml"), tb: t}
	w.write(w.path, yaml)
	load := func() (*config.Config, error) {
		cfg, report := config.Load(w.path, config.Options{Profiles: profiles})
		gozer.Validate(cfg, report, localEcho())
		return cfg, report.Err()
	}
	cfg, err := load()
	if err != nil {
		t.Fatal(err)
	}
	logger, lines := messages(1000)
	w.lines = lines
	p := &place{network: memhttp.NewNetwork()}
	g, err := gozer.New(cfg, gozer.WithLogger(logger), p.listen(), localEcho(), gozer.WithSource(func(context.Context) (*config.Config, error) { return load() }))
	if err != nil {
		t.Fatal(err)
	}
	w.Gateway = g
	run(t, g)
	return w
}

func (w *watched) write(path, yaml string) {
	w.tb.Helper()
	if err := os.WriteFile(path+".new", []byte(yaml), 0o600); err != nil {
		w.tb.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		w.tb.Fatal(err)
	}
}

// logs waits for a line with these words, and returns how many refusals and reloads came before.
func (w *watched) logs(words ...string) (reloads int) {
	w.tb.Helper()
	late := time.After(20 * time.Second)
	for {
		select {
		case line := <-w.lines:
			if containsAll(line, words) {
				return reloads
			}
			if strings.Contains(line, "reload") {
				reloads++
			}
		case <-late:
			w.tb.Fatalf("the log never says %q", words)
		}
	}
}

func containsAll(line string, words []string) bool {
	for _, word := range words {
		if !strings.Contains(line, word) {
			return false
		}
	}
	return true
}

func TestChangedFilesAreLoaded(t *testing.T) {
	t.Parallel()
	w := startWatched(t, quick("zuul.routes.a: /a/**=forward:/\n"), "prod")
	w.write(w.path, quick("zuul.routes.b: /b/**=forward:/\n"))
	w.logs("configuration reloaded", `"asked by"=file`, `routes="+b -a"`)
	wantAnswer(t, get(t, w, "/b/1"), http.StatusOK, "/1")

	profile := strings.TrimSuffix(w.path, ".yaml") + "-prod.yaml"
	w.write(profile, "zuul.prefix: /api\n")
	w.logs("configuration reloaded", "keys=zuul.prefix")
	wantAnswer(t, get(t, w, "/api/b/1"), http.StatusOK, "/1")

	if err := os.Remove(profile); err != nil {
		t.Fatal(err)
	}
	w.logs("configuration reloaded", "keys=zuul.prefix")
	wantAnswer(t, get(t, w, "/b/1"), http.StatusOK, "/1")
}

// The inputs of case C202, each over a running gateway. What is only worth a warning there (a path
// without a slash, a route with two targets or none) has its tests in routing and config.
func TestC202ABrokenFileChangesNothing(t *testing.T) {
	t.Parallel()
	const good = "zuul.routes.a: /a/**=forward:/\n"
	broken := []struct{ name, yaml, says string }{
		{"invalid YAML", "zuul: {routes: [\n", "gateway.yaml:"},
		{"bad pattern", "zuul.routes.b: {path: \"/b{/**\", url: \"http://h\"}\n", "zuul.routes.b"},
		{"scheme missing", "zuul.routes.b: {path: /b/**, url: \"localhost:9001\"}\n", "zuul.routes.b"},
		{"duplicate key", "zuul.prefix: /a\nzuul.prefix: /b\n", "zuul.prefix"},
		{"unknown property", "zuul.rutes.b: /b/**\n", "zuul.rutes"},
		{"truncated", "zuul.routes:\n  b: {path: /b/**, url: \"http", "gateway.yaml:"},
		{"0 bytes", "", "the file is empty"},
		{"deleted", "-", "cannot be read"},
	}
	w := startWatched(t, quick(good))
	failures := 0
	for _, test := range broken {
		if test.yaml == "-" {
			if err := os.Remove(w.path); err != nil {
				t.Fatal(err)
			}
		} else {
			w.write(w.path, test.yaml)
		}
		w.logs("level=ERROR", "reload refused", `"asked by"=file`, test.says)
		failures++
		wantAnswer(t, get(t, w, "/a/1"), http.StatusOK, "/1")
		if part, whole := configurationHealth(t, w.Gateway); part["status"] != "REFUSED" || whole != http.StatusOK {
			t.Errorf("%s: health is %d %v", test.name, whole, part)
		}
		if got := get(t, w.Management(), "/actuator/metrics/gateway.reloads?tag=outcome:failure").Body.String(); !strings.Contains(got, fmt.Sprintf(`"value":%d}`, failures)) {
			t.Errorf("%s: %s, want %d", test.name, got, failures)
		}
	}
	w.write(w.path, quick(good+"zuul.routes.b: /b/**=forward:/\n"))
	if extra := w.logs("configuration reloaded"); extra != 0 {
		t.Errorf("%d further lines about one content", extra)
	}
	wantAnswer(t, get(t, w, "/b/1"), http.StatusOK, "/1")
}

// A content that was refused is not tried again, however often the file is looked at.
func TestARefusedContentIsToldOnce(t *testing.T) {
	t.Parallel()
	w := startWatched(t, "gateway.reload: {delay: 10ms, poll-interval: 10ms}\n")
	w.write(w.path, "zuul.rutes: 1\n")
	w.logs("reload refused")
	for range 5 {
		w.write(w.path, "zuul.rutes: 1\n")
		time.Sleep(20 * time.Millisecond) //nolint:forbidigo // nothing is to happen
	}
	w.write(w.path, "zuul.prefix: /x\n")
	if again := w.logs("configuration reloaded"); again != 0 {
		t.Errorf("told %d times more", again)
	}
}

func TestNoWatch(t *testing.T) {
	t.Parallel()
	const off, on = "gateway.reload: {watch: false, delay: 10ms}\n", "gateway.reload: {watch: true, delay: 10ms}\n"
	w := startWatched(t, off)
	w.write(w.path, off+"zuul.prefix: /x\n")
	ask(t, w.Management(), http.MethodPost, "/actuator/refresh")
	if n := w.logs("configuration reloaded", "management endpoint", "zuul.prefix"); n != 0 {
		t.Error("the file was loaded although it is not watched")
	}
	w.write(w.path, on)
	ask(t, w.Management(), http.MethodPost, "/actuator/refresh")
	w.logs("management endpoint", "gateway.reload.watch")
	w.write(w.path, off)
	if n := w.logs(`"asked by"=file`, "gateway.reload.watch"); n != 0 {
		t.Error("what the endpoint had loaded was loaded again")
	}
}
