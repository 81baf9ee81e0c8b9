package lb_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/lb"
)

// pace is how a server behaves: it answers after a time, and heeds the end of the
// request's context unless it is deaf.
type pace struct {
	after  time.Duration
	status int
	err    error
	deaf   bool
	panics bool
}

// paced is a transport of servers with a pace each. It keeps account of bodies.
type paced struct {
	servers map[string]pace

	mu        sync.Mutex
	asked     []string
	cancelled []string
	open      int                     // bodies
	ended     map[string]func() error // of the requests' contexts
	requests  []*http.Request
}

func (p *paced) RoundTrip(r *http.Request) (*http.Response, error) {
	host := r.URL.Hostname()
	s := p.servers[host]
	p.note(&p.asked, host)
	p.mu.Lock()
	p.ended[host] = r.Context().Err
	p.requests = append(p.requests, r)
	p.mu.Unlock()
	stop := r.Context().Done()
	if s.deaf {
		stop = nil
	}
	select {
	case <-time.After(s.after):
	case <-stop:
		p.note(&p.cancelled, host)
		return nil, r.Context().Err()
	}
	switch {
	case s.panics:
		panic("no such thing")
	case s.err != nil:
		return nil, s.err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open++
	return &http.Response{StatusCode: s.status, Header: http.Header{}, ContentLength: -1, Body: &pacedBody{strings.NewReader(host), p}}, nil
}

func (p *paced) note(list *[]string, host string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*list = append(*list, host)
}

type pacedBody struct {
	io.Reader
	paced *paced
}

func (b *pacedBody) Close() error {
	b.paced.mu.Lock()
	defer b.paced.mu.Unlock()
	b.paced.open--
	return nil
}

// hedging is a command on servers a, b and c of which every request goes to a first.
func hedging(tb testing.TB, servers map[string]pace, h lb.HedgePolicy) (*lb.Command, *paced) {
	tb.Helper()
	p := &paced{servers: servers, ended: map[string]func() error{}}
	var ids []string
	for id := range servers {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return &lb.Command{Balancer: newBalancer(tb, ids...), Transport: p, Retry: lb.RetryPolicy{MaxNext: 1}, Hedge: h}, p
}

const ms = time.Millisecond

func TestHedge(t *testing.T) {
	usual := lb.HedgePolicy{Delay: 50 * ms, Max: 1}
	for _, row := range []struct {
		name    string
		servers map[string]pace
		policy  lb.HedgePolicy
		change  func(c *lb.Command)
		method  string
		call    lb.Call

		want      string // body; "" means an error
		took      time.Duration
		asked     string
		cancelled string
	}{
		{name: "quick enough", servers: map[string]pace{"a": {after: 40 * ms, status: 200}, "b": {status: 200}}, policy: usual, call: retryable, want: "a", took: 40 * ms, asked: "a"},
		{name: "first is silent", servers: map[string]pace{"a": {after: time.Hour, status: 200}, "b": {after: 10 * ms, status: 200}}, policy: usual, call: retryable, want: "b", took: 60 * ms, asked: "ab", cancelled: "a"},
		{name: "first wins all the same", servers: map[string]pace{"a": {after: 70 * ms, status: 200}, "b": {after: 30 * ms, status: 200}}, policy: usual, call: retryable, want: "a", took: 70 * ms, asked: "ab", cancelled: "b"},
		{name: "both are silent, a third is not asked", servers: map[string]pace{"a": {after: 400 * ms, status: 200}, "b": {after: time.Hour, status: 200}, "c": {status: 200}}, policy: usual, call: retryable, want: "a", took: 400 * ms, asked: "ab", cancelled: "b"},
		{name: "unless it may be", servers: map[string]pace{"a": {after: 400 * ms, status: 200}, "b": {after: time.Hour, status: 200}, "c": {status: 200}}, policy: lb.HedgePolicy{Delay: 50 * ms, Max: 2}, call: retryable, want: "c", took: 100 * ms, asked: "abc", cancelled: "ab"},
		{name: "only one server", servers: map[string]pace{"a": {after: 400 * ms, status: 200}}, policy: usual, call: retryable, want: "a", took: 400 * ms, asked: "a"},
		{name: "failure moves on at once", servers: map[string]pace{"a": {err: errReset}, "b": {after: 10 * ms, status: 200}}, policy: usual, call: retryable, want: "b", took: 10 * ms, asked: "ab"},
		{name: "all fail", servers: map[string]pace{"a": {err: errReset}, "b": {after: 10 * ms, err: errReset}}, policy: usual, call: retryable, took: 10 * ms, asked: "ab"},
		{name: "a status to be repeated", servers: map[string]pace{"a": {status: 503}, "b": {after: 10 * ms, status: 200}}, policy: usual, call: retryable, change: func(c *lb.Command) { c.Retry.StatusCodes = []int{503} }, want: "b", took: 10 * ms, asked: "ab"},
		{name: "everywhere", servers: map[string]pace{"a": {status: 503}, "b": {after: 10 * ms, status: 503}}, policy: usual, call: retryable, change: func(c *lb.Command) { c.Retry.StatusCodes = []int{503} }, want: "b", took: 10 * ms, asked: "ab"},
		{name: "no retries, hedging only", servers: map[string]pace{"a": {err: errReset}, "b": {status: 200}}, policy: usual, call: retryable, change: func(c *lb.Command) { c.Retry.MaxNext = 0 }, asked: "a"},
		{name: "not retryable", servers: map[string]pace{"a": {after: 400 * ms, status: 200}, "b": {status: 200}}, policy: usual, want: "a", took: 400 * ms, asked: "a"},
		{name: "not read-only", servers: map[string]pace{"a": {after: 400 * ms, status: 200}, "b": {status: 200}}, policy: usual, method: "POST", call: retryable, change: func(c *lb.Command) { c.Retry.AllOperations = true }, want: "a", took: 400 * ms, asked: "a"},
		{name: "off", servers: map[string]pace{"a": {after: 400 * ms, status: 200}, "b": {status: 200}}, call: retryable, want: "a", took: 400 * ms, asked: "a"},
		{name: "budget is used up", servers: map[string]pace{"a": {after: 400 * ms, status: 200}, "b": {status: 200}}, policy: usual, call: retryable, change: func(c *lb.Command) { c.Budget = lb.NewRetryBudget(lb.BudgetSettings{}) }, want: "a", took: 400 * ms, asked: "a"},
		{name: "loser answers nevertheless", servers: map[string]pace{"a": {after: 400 * ms, status: 200, deaf: true}, "b": {status: 200}}, policy: usual, call: retryable, want: "b", took: 50 * ms, asked: "ab"},
		{name: "a transport that panics", servers: map[string]pace{"a": {panics: true}, "b": {status: 200}}, policy: usual, call: retryable, want: "b", asked: "ab"},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, p := hedging(t, row.servers, row.policy)
				if row.change != nil {
					row.change(c)
				}
				if row.method == "" {
					row.method = http.MethodGet
				}
				begin := time.Now()
				resp, err := c.Do(newRequest(t.Context(), t, row.method, ""), row.call)
				took := time.Since(begin)
				got := read(t, resp, err)
				<-time.After(time.Second) // for the losers
				synctest.Wait()
				slices.Sort(p.cancelled)
				if got != row.want || took != row.took || strings.Join(p.asked, "") != row.asked || strings.Join(p.cancelled, "") != row.cancelled {
					t.Errorf("got %q (%v) after %v, asked %q, cancelled %q", got, err, took, p.asked, p.cancelled)
				}
				if p.open != 0 {
					t.Errorf("%d bodies were left open", p.open)
				}
				for _, s := range c.Balancer.Servers() {
					if n := s.Stats().Active(time.Now()); n != 0 {
						t.Errorf("%s has %d requests in progress", s.ID, n)
					}
				}
			})
		})
	}
}

// read returns the body, and checks that closing it ends the context of the call.
func read(t *testing.T, resp *http.Response, err error) string {
	t.Helper()
	if err != nil {
		if _, ok := errors.AsType[*lb.Error](err); !ok {
			t.Errorf("error is a %T", err)
		}
		return ""
	}
	var text strings.Builder
	if _, err := io.Copy(&text, resp.Body); err != nil {
		t.Error(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	return text.String()
}

func TestHedgedCopies(t *testing.T) {
	silentFirst := map[string]pace{"a": {after: time.Hour, status: 200}, "b": {status: 200}}
	policy := lb.HedgePolicy{Delay: 50 * ms, Max: 1}
	bubble := func(name string, play func(t *testing.T)) {
		t.Run(name, func(t *testing.T) { synctest.Test(t, play) })
	}
	bubble("have memory of their own", func(t *testing.T) { //nolint:thelper // a test of its own
		c, p := hedging(t, silentFirst, policy)
		req := newRequest(t.Context(), t, http.MethodGet, "")
		req.Header.Set("X-A", "1")
		before := *req.URL
		resp, err := c.Do(req, retryable)
		read(t, resp, err)
		req.Header.Set("X-A", "2")
		for _, sent := range p.requests {
			if sent == req || sent.URL == req.URL || sent.Header.Get("X-A") != "1" {
				t.Errorf("%s shares memory with the request", sent.URL)
			}
		}
		if *req.URL != before {
			t.Errorf("the request was changed to %s", req.URL)
		}
	})
	bubble("the winner's context lasts as long as its body", func(t *testing.T) { //nolint:thelper // a test of its own
		c, p := hedging(t, silentFirst, policy)
		resp, err := c.Do(newRequest(t.Context(), t, http.MethodGet, ""), retryable)
		if err != nil {
			t.Fatal(err)
		}
		if p.ended["b"]() != nil {
			t.Error("it has ended before the body was read")
		}
		read(t, resp, nil)
		if p.ended["b"]() == nil {
			t.Error("it goes on")
		}
	})
	bubble("nobody blames a loser", func(t *testing.T) { //nolint:thelper // a test of its own
		c, _ := hedging(t, silentFirst, policy)
		resp, err := c.Do(newRequest(t.Context(), t, http.MethodGet, ""), retryable)
		read(t, resp, err)
		synctest.Wait()
		if n := c.Balancer.Servers()[0].Stats().SuccessiveFailures(); n != 0 {
			t.Errorf("%d failures", n)
		}
	})
	bubble("the client goes away", func(t *testing.T) { //nolint:thelper // a test of its own
		c, p := hedging(t, map[string]pace{"a": {after: time.Hour}, "b": {after: time.Hour}}, policy)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, failure := do(t, c, newRequest(ctx, t, http.MethodGet, ""), retryable)
		synctest.Wait()
		if failure == nil || failure.Kind != lb.Cancelled || len(p.cancelled) != 2 {
			t.Errorf("error %v, cancelled %q", failure, p.cancelled)
		}
	})
	bubble("the error tells of all attempts", func(t *testing.T) { //nolint:thelper // a test of its own
		c, _ := hedging(t, map[string]pace{"a": {after: 60 * ms, err: errReset}, "b": {after: 60 * ms, err: errSilent}}, policy)
		_, failure := do(t, c, newRequest(t.Context(), t, http.MethodGet, ""), retryable)
		var servers []string
		for _, a := range failure.Attempts {
			servers = append(servers, a.Server)
		}
		if diff := cmp.Diff([]string{"a", "b"}, servers); diff != "" {
			t.Errorf("%v: %s", failure, diff)
		}
	})
	bubble("draw on the budget", func(t *testing.T) { //nolint:thelper // a test of its own
		c, _ := hedging(t, silentFirst, policy)
		c.Budget = lb.NewRetryBudget(lb.BudgetSettings{Percent: 20, Burst: 1})
		for range 3 {
			c.Balancer = newBalancer(t, "a", "b")
			resp, err := c.Do(newRequest(t.Context(), t, http.MethodHead, ""), lb.Call{Retryable: true, Key: nil})
			read(t, resp, err)
			if c.Budget.Granted() > 0 {
				break
			}
		}
		if c.Budget.Granted() != 1 || c.Budget.Denied() != 0 {
			t.Errorf("%d granted, %d denied", c.Budget.Granted(), c.Budget.Denied())
		}
	})
	bubble("no server at all", func(t *testing.T) { //nolint:thelper // a test of its own
		c, _ := hedging(t, map[string]pace{}, policy)
		if _, failure := do(t, c, newRequest(t.Context(), t, http.MethodGet, ""), retryable); failure == nil || failure.Kind != lb.NoServer {
			t.Errorf("error %v", failure)
		}
	})
}
