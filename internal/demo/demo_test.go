package demo_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gozer-gateway/gozer/internal/demo"
)

func TestUpstreams(t *testing.T) {
	tests := []struct {
		handler              http.Handler
		method, target, body string
		status               int
		want                 string
	}{
		{demo.Users("users-1", 0), http.MethodGet, "/7", "", http.StatusOK, `{"id":7,"instance":"users-1","name":"user 7"}`},
		{demo.Users("users-1", 0), http.MethodGet, "/x", "", http.StatusBadRequest, `"error"`},
		{demo.Users("users-2", 0), http.MethodPost, "/", `{"name":"Ada"}`, http.StatusCreated, `{"created":{"name":"Ada"},"instance":"users-2"}`},
		{demo.Users("users-2", 0), http.MethodPost, "/", `nonsense`, http.StatusBadRequest, `"error"`},
		{demo.OldHandler(), http.MethodGet, "/app/orders?x=1&y", "", http.StatusOK, `"saw":"GET /app/orders?x=1&y"`},
		{demo.Hello(), http.MethodGet, "/hello/you", "", http.StatusOK, `"/hello/you"`},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.target, func(t *testing.T) {
			w := httptest.NewRecorder()
			tt.handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), tt.method, tt.target, strings.NewReader(tt.body)))
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
				t.Errorf("%d %s, want %d with %s", w.Code, w.Body, tt.status, tt.want)
			}
		})
	}
}

// TestSlowInstance holds the fifth request back, which ends with the request's own context.
func TestSlowInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		handler := demo.Users("users-2", 5)
		for i := 1; i <= 5; i++ {
			ctx, cancel := context.WithTimeout(t.Context(), demo.Pause/2)
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/1", nil))
			cancel()
			if answered := w.Body.Len() > 0; answered != (i < 5) {
				t.Errorf("request %d: answered %v", i, answered)
			}
		}
	})
}
