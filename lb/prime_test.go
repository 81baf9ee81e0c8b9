package lb_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/lb"
)

// primer counts its calls per server; those in fails fail so often first.
type primer struct {
	mu    sync.Mutex
	calls map[string]int
	fails map[string]int
}

func (p *primer) Prime(ctx context.Context, s *lb.Server) error {
	p.mu.Lock()
	p.calls[s.ID]++
	n := p.calls[s.ID]
	p.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-time.After(50 * time.Millisecond):
	}
	if n <= p.fails[s.ID] {
		return errors.New("refused")
	}
	return nil
}

func TestPriming(t *testing.T) {
	for name, tc := range map[string]struct {
		policy lb.PrimePolicy
		fails  map[string]int
		after  time.Duration // the new servers get requests
		calls  int           // for b
	}{
		"at once":                           {lb.PrimePolicy{}, nil, 50 * time.Millisecond, 1},
		"at the third try":                  {lb.PrimePolicy{}, map[string]int{"b": 2}, 450 * time.Millisecond, 3},
		"a failure is waited for, not more": {lb.PrimePolicy{Retries: 1}, map[string]int{"b": 9}, 200 * time.Millisecond, 2},
		"without retries":                   {lb.PrimePolicy{Retries: -1}, map[string]int{"b": 9}, 50 * time.Millisecond, 1},
		"no longer than this":               {lb.PrimePolicy{MaxTime: time.Second}, map[string]int{"b": 99}, time.Second, 4},
		"half of them are enough":           {lb.PrimePolicy{MinRatio: 0.5}, map[string]int{"b": 99}, 50 * time.Millisecond, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &primer{calls: map[string]int{}, fails: tc.fails}
				tc.policy.Primer = p
				b := lb.NewBalancer("users", lb.BalancerSettings{Prime: &tc.policy})
				list(t, b, "a")
				run(t, b)
				synctest.Wait()
				list(t, b, "a", "b", "c")
				pass(tc.after - time.Millisecond)
				if find(t, b, "b").Ready() {
					t.Error("ready too early")
				}
				if got := shares(b, nil, 10); got["b"] != 0 {
					t.Errorf("unprimed servers are chosen: %v", got)
				}
				pass(2 * time.Millisecond)
				if got := shares(b, nil, 30); len(got) != 3 {
					t.Errorf("primed servers are not chosen: %v", got)
				}
				if p.calls["b"] != tc.calls || p.calls["a"] != 0 {
					t.Errorf("calls %v, want %d for b", p.calls, tc.calls)
				}
			})
		})
	}
	t.Run("without Run nobody waits", func(t *testing.T) {
		b := lb.NewBalancer("users", lb.BalancerSettings{Prime: &lb.PrimePolicy{Primer: &primer{}}})
		list(t, b, "a")
		list(t, b, "a", "b")
		want(t, choose(b, 2), "a", "b")
	})
	t.Run("a new server is better than none", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			b := lb.NewBalancer("users", lb.BalancerSettings{Prime: &lb.PrimePolicy{Primer: &primer{calls: map[string]int{}}}})
			list(t, b, "a")
			run(t, b)
			synctest.Wait()
			list(t, b, "b")
			want(t, choose(b, 1), "b")
			pass(time.Second)
		})
	})
}

// Ribbon 28: ten reachable servers are all primed.
func TestHTTPPrimer(t *testing.T) {
	backend := backendtest.Start(t, backendtest.Answer(http.StatusNotFound, "any answer will do"))
	p := &lb.HTTPPrimer{Transport: &http.Transport{DisableKeepAlives: true}, Path: "/warm"}
	s, err := lb.ParseServer(backend.Addr)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if err := p.Prime(t.Context(), &s); err != nil {
			t.Error(err)
		}
	}
	if n := backend.Requests(); n != 10 {
		t.Errorf("%d requests", n)
	}
	if err := (&lb.HTTPPrimer{}).Prime(t.Context(), &s); err != nil {
		t.Error("with the transport of net/http:", err)
	}
	closeIdle()
	nobody := lb.Server{Host: "127.0.0.1", Port: 1}
	if err := p.Prime(t.Context(), &nobody); err == nil {
		t.Error("primed a server that is not there")
	}
}
