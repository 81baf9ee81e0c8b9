package lb_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/lb"
)

// storm sends requests, one after the other with a pause behind each, to servers that all
// fail, and gives the number of attempts beyond the first ones.
func storm(t *testing.T, budget *lb.RetryBudget, requests int, pause time.Duration) int {
	t.Helper()
	u := &upstreams{answer: always(0, errReset)}
	c := &lb.Command{
		Balancer: newBalancer(t, "a", "b", "c"), Transport: u, Budget: budget,
		Retry: lb.RetryPolicy{MaxSame: 1, MaxNext: 2},
	}
	for range requests {
		if _, err := do(t, c, newRequest(t.Context(), t, "GET", ""), retryable); err == nil {
			t.Fatal("a request succeeded")
		}
		pass(pause)
	}
	return len(u.hosts) - requests
}

// C137: all servers fail, and each request could be repeated five times.
func TestStorm(t *testing.T) {
	const requests = 1000
	for _, tc := range []struct {
		name     string
		settings lb.BudgetSettings
		pause    time.Duration
		retries  int
	}{
		{"the defaults, at once", lb.DefaultBudgetSettings(), 0, 100 + 10 + requests/5},
		{"the defaults, in ten seconds", lb.DefaultBudgetSettings(), 10 * time.Millisecond, 100 + 10 + 97 + requests/5},
		{"a share only", lb.BudgetSettings{Percent: 20, Burst: 1}, time.Millisecond, 1 + (requests-1)/5},
		{"a small share", lb.BudgetSettings{Percent: 3, Burst: 10}, time.Millisecond, 10 + 29},
		{"as many as requests", lb.BudgetSettings{Percent: 100, Burst: 1}, time.Millisecond, requests},
		{"no share, but two each second", lb.BudgetSettings{PerSecond: 2}, 10 * time.Millisecond, 2 + 19},
		{"nothing", lb.BudgetSettings{}, time.Millisecond, 0},
		{"switched off", lb.BudgetSettings{Percent: 20, Burst: 1, Off: true}, 0, 5 * requests},
	} {
		t.Run("C137 "+tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				budget := lb.NewRetryBudget(tc.settings)
				if n := storm(t, budget, requests, tc.pause); n < tc.retries-tc.retries/100 || n > tc.retries {
					t.Errorf("%d retries of %d requests, want %d", n, requests, tc.retries)
				}
			})
		})
	}
	t.Run("without a budget", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			if n := storm(t, nil, 100, 0); n != 500 {
				t.Errorf("%d retries, want 500", n)
			}
		})
	})
}

// A few failing requests among many good ones are all repeated, for ever.
func TestBudgetIsRefilledByTraffic(t *testing.T) {
	failed := 0
	n := 0
	u := &upstreams{answer: func(string, int) reply {
		if n++; n%6 == 1 { // one request of five fails at first
			return reply{err: errReset}
		}
		return reply{status: http.StatusOK}
	}}
	c := &lb.Command{
		Balancer: newBalancer(t, "a", "b"), Transport: u, Retry: lb.RetryPolicy{MaxNext: 1},
		Budget: lb.NewRetryBudget(lb.BudgetSettings{Percent: 20, Burst: 2}),
	}
	for range 1000 {
		if _, err := do(t, c, newRequest(t.Context(), t, "GET", ""), retryable); err != nil {
			failed++
		}
	}
	if failed != 0 || c.Budget.Granted() != 200 || c.Budget.Denied() != 0 {
		t.Errorf("%d failed, %d retries granted, %d denied; want 0, 200, 0", failed, c.Budget.Granted(), c.Budget.Denied())
	}
}

// After a storm the budget comes back with the traffic.
func TestBudgetRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := lb.NewRetryBudget(lb.BudgetSettings{Percent: 20, Burst: 10})
		storm(t, budget, 100, 0)
		u := &upstreams{answer: always(200, nil)}
		c := &lb.Command{Balancer: newBalancer(t, "a", "b"), Transport: u, Retry: lb.RetryPolicy{MaxNext: 1}, Budget: budget}
		for range 100 {
			if status, err := do(t, c, newRequest(t.Context(), t, "GET", ""), retryable); status != 200 {
				t.Fatal(err)
			}
		}
		if n := storm(t, budget, 11, 0); n != 10+2 {
			t.Errorf("%d retries, want the burst and a share of 11 requests", n)
		}
	})
}

// Many goroutines never get more than the formula allows, and never less than the burst.
func TestStormOfManyGoroutines(t *testing.T) {
	const goroutines, requests = 8, 250
	s := lb.BudgetSettings{Percent: 20, Burst: 50}
	c := &lb.Command{
		Balancer: newBalancer(t, "a", "b", "c"), Transport: roundTripper(func(*http.Request) (*http.Response, error) { return nil, errReset }),
		Budget: lb.NewRetryBudget(s), Retry: lb.RetryPolicy{MaxSame: 1, MaxNext: 2},
	}
	var attempts atomic.Int64
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for range requests {
				resp, err := c.Do(newRequest(t.Context(), t, "GET", ""), retryable)
				if err == nil {
					resp.Body.Close()
				}
				if e, ok := errors.AsType[*lb.Error](err); ok {
					attempts.Add(int64(len(e.Attempts)))
				}
			}
		})
	}
	wg.Wait()
	retries, most := attempts.Load()-goroutines*requests, int64(s.Burst+goroutines*requests*s.Percent/100)
	if retries > most || retries < most-goroutines || c.Budget.Granted() != retries {
		t.Errorf("%d retries and %d granted, want %d", retries, c.Budget.Granted(), most)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A retry that does not come about costs nothing.
func TestBudgetIsGivenBack(t *testing.T) {
	t.Run("no other server", func(t *testing.T) {
		c := &lb.Command{
			Balancer: newBalancer(t, "a"), Transport: &upstreams{answer: always(0, errRefused)},
			Budget: lb.NewRetryBudget(lb.BudgetSettings{Burst: 1}), Retry: lb.RetryPolicy{MaxNext: 1},
		}
		for range 5 {
			_, _ = do(t, c, newRequest(t.Context(), t, "GET", ""), lb.Call{})
		}
		if c.Budget.Granted() != 0 || c.Budget.Denied() != 0 {
			t.Errorf("%d granted, %d denied", c.Budget.Granted(), c.Budget.Denied())
		}
	})
	t.Run("a body that cannot be sent again", func(t *testing.T) {
		c := &lb.Command{
			Balancer: newBalancer(t, "a", "b"), Transport: &upstreams{answer: always(0, errReset)},
			Budget: lb.NewRetryBudget(lb.BudgetSettings{Burst: 1}), Retry: lb.RetryPolicy{MaxNext: 1, AllOperations: true, MaxReplayBytes: 1},
		}
		_, err := do(t, c, newRequest(t.Context(), t, "PUT", "long"), retryable)
		if err == nil || len(err.Attempts) != 1 || c.Budget.Granted() != 0 {
			t.Errorf("%v, %d granted", err, c.Budget.Granted())
		}
	})
}

// New settings apply to what is saved up.
func TestBudgetIsConfigured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := lb.NewRetryBudget(lb.BudgetSettings{Burst: 100})
		b.Configure(lb.BudgetSettings{Burst: 3})
		if n := storm(t, b, 10, 0); n != 3 {
			t.Errorf("%d retries after the burst was made smaller, want 3", n)
		}
		b.Configure(lb.BudgetSettings{Burst: 100, Percent: 100})
		if n := storm(t, b, 10, 0); n != 10 {
			t.Errorf("%d retries after the share was made larger, want 10", n)
		}
		b.Configure(lb.BudgetSettings{Off: true})
		if n := storm(t, b, 10, 0); n != 50 {
			t.Errorf("%d retries after it was switched off, want 50", n)
		}
	})
}

// A denied retry leaves the failure that there was, and the response as it was.
func TestDeniedRetry(t *testing.T) {
	for _, tc := range []struct {
		name   string
		answer script
		status int
		kind   lb.Kind
	}{
		{"an error", always(0, errReset), 0, lb.General},
		{"a status", unavailable("a"), http.StatusServiceUnavailable, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			u := &upstreams{answer: tc.answer}
			c := &lb.Command{
				Balancer: newBalancer(t, "a", "b"), Transport: u, Budget: lb.NewRetryBudget(lb.BudgetSettings{}),
				Retry: lb.RetryPolicy{MaxNext: 1, StatusCodes: []int{503}, AllOperations: true, MaxReplayBytes: 10},
			}
			status, err := do(t, c, newRequest(t.Context(), t, "PUT", "body"), retryable)
			if status != tc.status || err != nil && err.Kind != tc.kind || len(u.hosts) != 1 || c.Budget.Denied() != 1 {
				t.Errorf("status %d, %v after %d attempts, %d denied", status, err, len(u.hosts), c.Budget.Denied())
			}
		})
	}
}

// Failures count for the ejection of outliers whether or not a retry was to be had.
func TestEjectionWithoutABudget(t *testing.T) {
	for name, budget := range map[string]*lb.RetryBudget{"none": nil, "used up": lb.NewRetryBudget(lb.BudgetSettings{})} {
		t.Run(name, func(t *testing.T) {
			b := lb.NewBalancer("users", lb.BalancerSettings{Outliers: &lb.OutlierPolicy{}})
			list(t, b, "a", "b", "c")
			c := &lb.Command{
				Balancer: b, Transport: &upstreams{answer: unavailable("a")}, Budget: budget,
				Retry: lb.RetryPolicy{MaxNext: 1, StatusCodes: []int{503}},
			}
			for range 60 {
				_, _ = do(t, c, newRequest(t.Context(), t, "GET", ""), retryable)
			}
			a := find(t, b, "a")
			if n := a.Stats().Total(); n != 5 || !a.Ejected(time.Now()) {
				t.Errorf("%d requests met the server that fails, want 5", n)
			}
		})
	}
}

// A failed server is never met again while another one is up, whatever others do at the
// same time to the turn of the servers.
func TestRetriesNeverMeetTheServerThatFailed(t *testing.T) {
	for _, servers := range []string{"a,b", "a,b,c", "a,a,a,b", "a,b,c,d,e"} {
		t.Run(servers, func(t *testing.T) {
			c := &lb.Command{
				Balancer: newBalancer(t, strings.Split(servers, ",")...), Retry: lb.RetryPolicy{MaxNext: 4},
				Transport: roundTripper(func(*http.Request) (*http.Response, error) { return nil, errClosed }),
			}
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for range 100 {
						checkNeighbours(t, c)
					}
				})
			}
			wg.Wait()
		})
	}
}

func checkNeighbours(t *testing.T, c *lb.Command) {
	t.Helper()
	resp, err := c.Do(newRequest(t.Context(), t, "GET", ""), retryable)
	if err == nil {
		resp.Body.Close()
	}
	e, ok := errors.AsType[*lb.Error](err)
	if !ok || len(e.Attempts) != 5 {
		t.Errorf("error %v", err)
		return
	}
	for i := range e.Attempts[1:] {
		if e.Attempts[i].Server == e.Attempts[i+1].Server {
			t.Errorf("attempts %s", fmt.Sprint(e.Attempts))
		}
	}
}
