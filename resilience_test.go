package gozer_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/fallback"
	"github.com/gozer-gateway/gozer/filters"
)

// unwell answers with a status after a while.
func unwell(status int, after time.Duration) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		select {
		case <-time.After(after):
		case <-r.Context().Done():
			return nil, context.Cause(r.Context())
		}
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
	})
}

func TestResilience(t *testing.T) {
	const lively = "hystrix.command.default.circuitBreaker.requestVolumeThreshold: 2\n"
	for _, row := range []struct {
		name, yaml string
		upstream   http.RoundTripper
		want       int // status of the request after the snapshot
	}{
		{"500 is a success", "", unwell(500, 0), 500},
		{"unless it is not", "gateway.resilience.users.failure-status: 5xx\n", unwell(500, 0), 503},
		{"404 is a success all the same", "gateway.resilience.users.failure-status: 5xx\n", unwell(404, 0), 404},
		{"for all services", "gateway.resilience.default.failure-status: [429, 500-504]\n", unwell(429, 0), 503},
		{"slow calls", "gateway.resilience.users.slow-call: {duration: 100ms, percentage: 100}\n", unwell(200, 200*time.Millisecond), 503},
		{"eager", "gateway.resilience.users: {eager: true, failure-status: 500}\n", unwell(500, 0), 503},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGateway(t, usersAt(lively+row.yaml, "one:80"))
				g.SetTransport("users", row.upstream)
				go g.RunCommands(t.Context())
				for range 2 {
					get(t, g, "/users/1")
				}
				if row.name != "eager" {
					<-time.After(time.Second)
				}
				if got := get(t, g, "/users/1"); got.Code != row.want {
					t.Errorf("status %d, want %d", got.Code, row.want)
				}
			})
		})
	}
}

// TestFallbackIsAnAnswerLikeAnother is C172: a fallback passes the post filters, so
// that it has the fields that a good answer would have, and none can go in a circle.
func TestFallbackIsAnAnswerLikeAnother(t *testing.T) {
	cors := filters.Func("Cors", filters.Post, 10, func(c *filters.Context) error {
		c.Response.Header.Set("Access-Control-Allow-Origin", c.Request.Header.Get("Origin"))
		return nil
	})
	const origin = "https://a.test"
	refused := roundTrip(func(*http.Request) (*http.Response, error) { return nil, syscall.ECONNREFUSED })
	t.Run("C172 static", func(t *testing.T) {
		g := newGateway(t, usersAt("gateway.fallback.users: {status: 503, body: sorry}\n", "one:80"), gozer.WithFilters(cors))
		g.SetTransport("users", refused)
		got := ask(t, g, http.MethodGet, "/users/1", "Origin", origin)
		wantAnswer(t, got, http.StatusServiceUnavailable, "sorry")
		if h := got.Header().Get("Access-Control-Allow-Origin"); h != origin {
			t.Errorf("Access-Control-Allow-Origin %q", h)
		}
	})
	t.Run("C172 a provider that asks the failing route again", func(t *testing.T) {
		var g *gozer.Gateway
		depth := 0
		again := fallback.Func(func(ctx context.Context, _ string, _ error) (*http.Response, error) {
			if depth++; depth > 100 {
				t.Fatal("it goes in a circle")
			}
			w := httptest.NewRecorder()
			g.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, "/users/1", http.NoBody))
			return w.Result(), nil
		})
		g = newGateway(t, usersAt("", "one:80"), gozer.WithFilters(cors), gozer.WithFallback("users", again))
		g.SetTransport("users", refused)
		got := ask(t, g, http.MethodGet, "/users/1", "Origin", origin)
		if got.Code != http.StatusServiceUnavailable || !strings.Contains(got.Body.String(), "REJECTED_SEMAPHORE_FALLBACK") {
			t.Errorf("%d %s", got.Code, got.Body)
		}
		if depth != 10 {
			t.Errorf("%d fallbacks within each other", depth)
		}
	})
}
