package gozer_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/fallback"
	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/backendtest"
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

// TestHedgeOverSockets sends requests through the gateway's own HTTP on both sides to a
// server that answers and one that never does.
func TestHedgeOverSockets(t *testing.T) {
	for _, engine := range []string{"native", "nethttp"} {
		t.Run(engine, func(t *testing.T) {
			silent, quick := backendtest.Start(t, backendtest.Hang()), backendtest.Start(t, says("quick"))
			address := make(chan string, 1)
			listen := gozer.WithListen(func(ctx context.Context, _ string) (net.Listener, error) {
				l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
				if err == nil {
					address <- l.Addr().String()
				}
				return l, err
			})
			g := newGateway(t, usersAt(patient+`
zuul.retryable: true
management.server.port: -1
server.http1.engine: `+engine+`
gateway.resilience.users.hedge.delay: 5ms
gateway.retry.users.budget.enabled: false
users.ribbon.NFLoadBalancerRuleClassName: RoundRobinRule
`, silent.Addr, quick.Addr), listen)
			r := run(t, g)
			url := "http://" + <-address + "/users/1"
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					client := &http.Client{Transport: &http.Transport{}}
					defer client.CloseIdleConnections()
					for range 25 {
						wantQuick(t, client, url)
					}
				})
			}
			all.Wait()
			r.stop()
			if err := <-r.done; err != nil {
				t.Error(err)
			}
		})
	}
}

func wantQuick(t *testing.T, client *http.Client, url string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Error(err)
		return
	}
	res, err := client.Do(req)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = res.Body.Close() }()
	if body, err := io.ReadAll(res.Body); string(body) != "quick" || err != nil {
		t.Errorf("%d %q, %v", res.StatusCode, body, err)
	}
}
