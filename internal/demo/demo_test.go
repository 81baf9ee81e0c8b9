package demo_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/gozer-gateway/gozer/internal/demo"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestUpstreams uses the demo's fixed addresses, so it must stay the only test
// that does.
func TestUpstreams(t *testing.T) {
	u, err := demo.Listen(t.Context())
	if err != nil {
		t.Skipf("the demo's addresses are taken: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { u.Run(ctx) })
	defer running.Wait()
	defer stop()

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	tests := []struct {
		method, url, body string
		status            int
		want              string
	}{
		{http.MethodGet, "http://" + demo.UsersOne + "/7", "", http.StatusOK, `{"id":7,"instance":"users-1","name":"user 7"}`},
		{http.MethodGet, "http://" + demo.UsersTwo + "/7", "", http.StatusOK, `"instance":"users-2"`},
		{http.MethodGet, "http://" + demo.UsersOne + "/x", "", http.StatusBadRequest, `"error"`},
		{http.MethodPost, "http://" + demo.UsersOne + "/", `{"name":"Ada"}`, http.StatusCreated, `"created":{"name":"Ada"}`},
		{http.MethodPost, "http://" + demo.UsersOne + "/", `nonsense`, http.StatusBadRequest, `"error"`},
		{http.MethodGet, "http://" + demo.Legacy + "/app/orders?x=1&y", "", http.StatusOK, `"saw":"GET /app/orders?x=1&y"`},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.url, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), tt.method, tt.url, strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			res, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			if res.StatusCode != tt.status || !strings.Contains(string(body), tt.want) {
				t.Errorf("%d %s, want %d with %s", res.StatusCode, body, tt.status, tt.want)
			}
		})
	}
}
