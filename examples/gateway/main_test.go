package main

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/internal/backendtest"
)

func start(t *testing.T, set ...string) http.Handler {
	t.Helper()
	cfg, report := config.Load("gateway.yaml", config.Options{Set: set})
	gozer.Validate(cfg, report, ownFilters())
	if findings := report.Findings(); len(findings) > 0 {
		t.Fatal(findings)
	}
	g, err := gozer.New(cfg, ownFilters(), gozer.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestRequests(t *testing.T) {
	upstream := backendtest.Start(t, backendtest.Echo("legacy"))
	gateway := start(t, "zuul.routes.legacy=/legacy/**="+upstream.URL())
	tests := []struct {
		name, key string
		status    int
	}{
		{"without a key", "", http.StatusUnauthorized},
		{"with the default of the placeholder", "acme-demo-key", http.StatusOK},
		{"with the key of the digest", "globex-demo-key", http.StatusOK},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/legacy/a", http.NoBody)
			r.Header.Set("X-Api-Key", tt.key)
			r.Header.Set("X-Tenant", "forged")
			w := httptest.NewRecorder()
			gateway.ServeHTTP(w, r)
			if w.Code != tt.status {
				body, _ := io.ReadAll(w.Body)
				t.Fatalf("status %d, want %d: %s", w.Code, tt.status, body)
			}
			if tt.status != http.StatusOK {
				return
			}
			saw := backendtest.ReadEcho(t, w.Body).Header
			if saw.Get("X-Api-Key") != "" || saw.Get("X-Tenant") == "" || saw.Get("X-Tenant") == "forged" {
				t.Errorf("the upstream saw %v", saw)
			}
			if w.Header().Get("X-Served-By") != "gozer" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("the client saw %v", w.Header())
			}
		})
	}
}
