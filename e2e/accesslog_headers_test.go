package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// The log shows the fields of every response as its client received them.
func TestAccessLogOfResponseHeaders(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "access.log")
	shown := []string{"Content-Type", "Content-Length", "Date", "X-Request-Id", "X-Saw", "Upgrade"}
	answers := http.NewServeMux()
	answers.Handle("/text", backendtest.Answer(http.StatusOK, "text"))
	answers.Handle("/ws", switching())
	answers.HandleFunc("/sse", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: 1\n\n")
		_ = http.NewResponseController(w).Flush()
	})
	b := backendtest.Start(t, answers)
	g := startGateway(t, upgradeConfig(b)+strings.Replace(strings.ReplaceAll(quickLog, "FILE", file), "enabled", "response-headers: ["+strings.Join(shown, ", ")+"], enabled", 1))
	at := 0
	check := func(what string, received http.Header) {
		t.Helper()
		var got struct {
			Headers map[string]string `json:"response_headers"`
		}
		line := logLines(t, file, at+1)[at]
		at++
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err, line)
		}
		want := map[string]string{}
		for _, name := range shown {
			if values := received[name]; len(values) > 0 {
				want[name] = strings.Join(values, ", ")
			}
		}
		if os.Getenv(engineVariable) == "nethttp" && got.Headers["Date"] == "" {
			delete(want, "Date") // which net/http adds without a word
		}
		if diff := cmp.Diff(want, got.Headers); diff != "" {
			t.Errorf("%s: received (-) and logged (+):\n%s", what, diff)
		}
	}
	for _, target := range []string{"/url/text", "/svc/text", "/url/sse", "/svc/sse", "/none"} {
		a := g.Get(target)
		if a.Header.Get("Content-Type") == "" {
			t.Errorf("%s: %v", target, a.Header)
		}
		check(target, a.Header)
	}
	for _, target := range []string{"/url/ws", "/svc/ws"} {
		u := g.upgrade(target, "Connection: Upgrade", "Upgrade: websocket")
		_ = u.conn.Close()
		check(target, u.response.Header)
	}
}
