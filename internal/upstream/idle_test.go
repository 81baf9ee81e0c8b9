package upstream_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/upstream"
)

// A connection that its server closed between two requests costs the second nothing,
// whatever its method, and the body arrives as a whole.
func TestConnectionClosedWhileIdle(t *testing.T) {
	b := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		w.Write(body)
	}))
	transport := upstream.New(upstream.Settings{})
	t.Cleanup(transport.CloseIdle)
	for n := range 100 {
		body := strings.Repeat("x", n%3*5000)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.URL(), strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.GetBody = nil // as the load balancer does, so that net/http repeats nothing
		res, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatalf("request %d: %v", n, err)
		}
		got, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || string(got) != body {
			t.Errorf("request %d: %d bytes came back, %v; want %d", n, len(got), err, len(body))
		}
		b.Crash()
		b.Revive()
	}
}
