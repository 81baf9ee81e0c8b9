package lb_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/lb"
)

func TestBackoffDoubles(t *testing.T) {
	second := lb.Backoff{Interval: 100 * time.Millisecond, Max: time.Hour}
	for failures, want := range map[int]time.Duration{
		0: 0, 1: 100 * time.Millisecond, 2: 200 * time.Millisecond, 5: 1600 * time.Millisecond,
		11: 102_400 * time.Millisecond, 12: 102_400 * time.Millisecond, 1000: 102_400 * time.Millisecond,
	} {
		if got := second.Longest(failures); got != want {
			t.Errorf("after %d failures %s, want %s", failures, got, want)
		}
	}
	if got := (lb.Backoff{Interval: time.Minute}).Longest(3); got != lb.DefaultMaxBackoff {
		t.Errorf("%s, want at most a second", got)
	}
	if got := (lb.Backoff{Interval: 1 << 62, Max: 1<<63 - 1}).Longest(9); got != 1<<63-1 {
		t.Errorf("%d, want the longest", got)
	}
	if got := (lb.Backoff{Max: time.Hour}).Longest(9); got != 0 {
		t.Errorf("%s without an interval", got)
	}
}

// Ribbon 133 and 135: one pause between every two attempts.
func TestBackoffBetweenAttempts(t *testing.T) {
	for _, tc := range []struct {
		name     string
		answer   script
		longest  time.Duration // all pauses together; the shortest is half of it
		attempts int
	}{
		{"ribbon 133 two errors", failFirst(2, errSilent), 300 * time.Millisecond, 3},
		{"ribbon 135 a status", unavailable("a"), 300 * time.Millisecond, 3},
		{"no error", always(200, nil), 0, 1},
		{"all fail", always(0, errReset), 700 * time.Millisecond, 4},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := &upstreams{answer: tc.answer}
				c := &lb.Command{Balancer: newBalancer(t, "a", "b"), Transport: u, Retry: lb.RetryPolicy{
					MaxSame: 1, MaxNext: 1, StatusCodes: []int{503}, Backoff: lb.Backoff{Interval: 100 * time.Millisecond},
				}}
				start := time.Now()
				_, _ = do(t, c, newRequest(t.Context(), t, "GET", ""), retryable)
				if d := time.Since(start); d < tc.longest/2 || d > tc.longest || len(u.hosts) != tc.attempts {
					t.Errorf("%d attempts in %s, want %d in at most %s", len(u.hosts), d, tc.attempts, tc.longest)
				}
			})
		})
	}
}

// C129: a pause that would outlast the request is not begun, and one that is cut short
// ends the request.
func TestBackoffAndTheEndOfTheRequest(t *testing.T) {
	for _, tc := range []struct {
		name     string
		ctx      func(context.Context) (context.Context, context.CancelFunc)
		took     time.Duration
		kind     lb.Kind
		granted  int64
		deadline bool
	}{
		{"C129 deadline before the end of the pause", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, 400*time.Millisecond)
		}, 0, lb.General, 0, true},
		{"cancelled during the pause", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(400*time.Millisecond, cancel)
			return ctx, cancel
		}, 400 * time.Millisecond, lb.Cancelled, 0, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := tc.ctx(t.Context())
				defer cancel()
				u := &upstreams{answer: always(0, errClosed)}
				c := &lb.Command{
					Balancer: newBalancer(t, "a", "b"), Transport: u, Budget: lb.NewRetryBudget(lb.DefaultBudgetSettings()),
					Retry: lb.RetryPolicy{MaxNext: 1, Backoff: lb.Backoff{Interval: time.Second}},
				}
				start := time.Now()
				_, err := do(t, c, newRequest(ctx, t, "GET", ""), retryable)
				if err == nil || err.Kind != tc.kind || len(err.Attempts) != 1 || len(u.hosts) != 1 || time.Since(start) != tc.took {
					t.Errorf("error %v after %d attempts and %s", err, len(u.hosts), time.Since(start))
				}
				if c.Budget.Granted() != tc.granted {
					t.Errorf("%d retries granted", c.Budget.Granted())
				}
			})
		})
	}
}

func TestRetryHandlers(t *testing.T) {
	reset := lb.Failure{Kind: lb.General, Err: errReset}
	closed := lb.Failure{Kind: lb.General, Err: errClosed}
	silent := lb.Failure{Kind: lb.ReadTimeout, Err: errSilent}
	refused := lb.Failure{Kind: lb.Connect, Err: errRefused, Unsent: true}
	pool := lb.Failure{Kind: lb.Connect, Err: errHandshake, Unsent: true}
	unknown := lb.Failure{Kind: lb.UnknownHost, Err: errUnknownHost, Unsent: true}
	throttled := lb.Failure{Kind: lb.ServerThrottled, Status: 503}
	status := lb.Failure{Status: 404}
	other := lb.Failure{Kind: lb.General, Err: errors.New("garbage")}
	connectOnly := lb.RequestSpecificRetryHandler{ConnectErrors: true}
	for _, tc := range []struct {
		name                 string
		handler              lb.RetryHandler
		failure              lb.Failure
		same, next, tripping bool
	}{
		{"default: refused", lb.DefaultRetryHandler{}, refused, true, true, true},
		{"default: read time-out", lb.DefaultRetryHandler{}, silent, true, true, true},
		{"default: reset", lb.DefaultRetryHandler{}, reset, false, true, true},
		{"default: closed", lb.DefaultRetryHandler{}, closed, false, true, false},
		{"default: unknown host", lb.DefaultRetryHandler{}, unknown, false, true, false},
		{"default: throttled", lb.DefaultRetryHandler{}, throttled, false, true, true},
		{"default: a status", lb.DefaultRetryHandler{}, status, true, true, false},
		{"http: refused", lb.HTTPRetryHandler{}, refused, true, true, true},
		{"http: reset", lb.HTTPRetryHandler{}, reset, true, true, true},
		{"http: closed", lb.HTTPRetryHandler{}, closed, true, true, false},
		{"http: no connection was free", lb.HTTPRetryHandler{}, pool, true, true, true},
		{"http: unknown host", lb.HTTPRetryHandler{}, unknown, false, true, false},
		{"http: garbage", lb.HTTPRetryHandler{}, other, false, true, false},
		{"http: throttled", lb.HTTPRetryHandler{}, throttled, false, true, true},
		{"ribbon 126 connect errors only: reset", connectOnly, reset, true, true, true},
		{"ribbon 126 connect errors only: read time-out", connectOnly, silent, false, false, true},
		{"ribbon 126 connect errors only: throttled", connectOnly, throttled, false, true, true},
		{"ribbon 126 connect errors only: another error", connectOnly, other, false, false, false},
		{"everything: another error", lb.RequestSpecificRetryHandler{AllErrors: true}, other, true, true, false},
		{"nothing: reset", lb.RequestSpecificRetryHandler{}, reset, false, false, true},
		{"a base of one's own", lb.RequestSpecificRetryHandler{Base: never{}}, reset, false, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			same, next, tripping := tc.handler.Retriable(&tc.failure, true), tc.handler.Retriable(&tc.failure, false), tc.handler.CircuitTripping(&tc.failure)
			if same != tc.same || next != tc.next || tripping != tc.tripping {
				t.Errorf("same %t, next %t, tripping %t; want %t, %t, %t", same, next, tripping, tc.same, tc.next, tc.tripping)
			}
		})
	}
}

// never finds nothing worth a retry, and no server ill.
type never struct{}

func (never) Retriable(*lb.Failure, bool) bool { return false }
func (never) CircuitTripping(*lb.Failure) bool { return false }

// Cases ribbon Q35 and ribbon Q40: a handler narrows what method and route allow, and never widens it.
func TestHandlerInACommand(t *testing.T) {
	for _, tc := range []struct {
		name     string
		handler  lb.RetryHandler
		method   string
		answer   script
		hosts    string
		failures int64 // of server a
	}{
		{"default: closed goes to the next server", lb.DefaultRetryHandler{}, "GET", always(0, errClosed), "a b", 0},
		{"default: a time-out is repeated first", lb.DefaultRetryHandler{}, "GET", always(0, errSilent), "a a b b", 2},
		{"default: a status is repeated first", lb.DefaultRetryHandler{}, "GET", always(404, nil), "a a b b", 0},
		{"ribbon Q40 connect errors only: a time-out stands", lb.RequestSpecificRetryHandler{ConnectErrors: true}, "GET", always(0, errSilent), "a", 1},
		{"ribbon Q35 everything: POST is not repeated", lb.RequestSpecificRetryHandler{AllErrors: true}, "POST", always(0, errReset), "a", 1},
		{"everything: POST that was not sent", lb.RequestSpecificRetryHandler{AllErrors: true}, "POST", always(0, errRefused), "a a b b", 2},
		{"nothing, and nobody is ill", never{}, "GET", always(0, errReset), "a", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			u := &upstreams{answer: tc.answer}
			c := &lb.Command{Balancer: newBalancer(t, "a", "b"), Transport: u, Retry: lb.RetryPolicy{MaxSame: 1, MaxNext: 1, Handler: tc.handler, StatusCodes: []int{404}}}
			_, _ = do(t, c, newRequest(t.Context(), t, tc.method, ""), retryable)
			if got := strings.Join(u.hosts, " "); got != tc.hosts {
				t.Errorf("attempts on %s, want %s", got, tc.hosts)
			}
			if n := find(t, c.Balancer, "a").Stats().SuccessiveFailures(); n != tc.failures {
				t.Errorf("%d failures, want %d", n, tc.failures)
			}
			checkCounters(t, c.Balancer, u.count)
		})
	}
}

// A status that stands for a throttled server, 503 with Ribbon's RestClient.
func TestThrottled(t *testing.T) {
	for _, tc := range []struct {
		name     string
		policy   lb.RetryPolicy
		method   string
		pinned   bool
		hosts    string
		kind     lb.Kind
		failures int64
	}{
		{"ribbon 116 pinned", lb.RetryPolicy{MaxNext: 1}, "GET", true, "a", lb.ServerThrottled, 1},
		{"ribbon 117 the next server too", lb.RetryPolicy{MaxNext: 1}, "GET", false, "a a", lb.NumberOfRetriesNextServerExceeded, 2},
		{"ribbon 118 no retry", lb.RetryPolicy{}, "GET", false, "a", lb.ServerThrottled, 1},
		{"ribbon 118 same server", lb.RetryPolicy{MaxSame: 1}, "GET", false, "a a", lb.NumberOfRetriesExceeded, 2},
		{"ribbon 118 two further servers", lb.RetryPolicy{MaxNext: 2}, "GET", false, "a a a", lb.NumberOfRetriesNextServerExceeded, 3},
		{"not on the same server", lb.RetryPolicy{MaxSame: 1, Handler: lb.HTTPRetryHandler{}}, "GET", false, "a", lb.ServerThrottled, 1},
		{"POST", lb.RetryPolicy{MaxNext: 2}, "POST", false, "a", lb.ServerThrottled, 1},
		{"a status of both kinds", lb.RetryPolicy{StatusCodes: []int{503}}, "GET", false, "a", lb.ServerThrottled, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			u := &upstreams{answer: always(503, nil)}
			tc.policy.ThrottledStatus = []int{503}
			c := &lb.Command{Balancer: newBalancer(t, "a"), Transport: u, Retry: tc.policy}
			call := retryable
			if tc.pinned {
				call.Server = find(t, c.Balancer, "a")
			}
			_, err := do(t, c, newRequest(t.Context(), t, tc.method, ""), call)
			if err == nil || err.Kind != tc.kind || strings.Join(u.hosts, " ") != tc.hosts {
				t.Fatalf("error %v after attempts on %s", err, u.hosts)
			}
			if n := find(t, c.Balancer, "a").Stats().SuccessiveFailures(); n != tc.failures {
				t.Errorf("%d failures, want %d", n, tc.failures)
			}
			if last := err.Attempts[len(err.Attempts)-1]; last.Kind != lb.ServerThrottled || last.Err.Error() != "lb: server answered 503" {
				t.Errorf("last attempt %+v", last)
			}
			for i, body := range u.responses {
				if !body.closed {
					t.Errorf("response %d is left open", i)
				}
			}
			checkCounters(t, c.Balancer, u.count)
		})
	}
}

// A pinned server takes all attempts, and no other one is asked (ribbon 109, 121).
func TestPinnedServer(t *testing.T) {
	u := &upstreams{answer: failFirst(2, errReset)}
	c := &lb.Command{Balancer: newBalancer(t, "a", "b"), Transport: u, Retry: lb.RetryPolicy{MaxSame: 3}}
	status, err := do(t, c, newRequest(t.Context(), t, "GET", ""), lb.Call{Retryable: true, Server: find(t, c.Balancer, "b")})
	if status != http.StatusOK || strings.Join(u.hosts, " ") != "b b b" {
		t.Errorf("ribbon 109: status %d, %v, attempts on %s", status, err, u.hosts)
	}
	_, err = do(t, c, newRequest(t.Context(), t, "GET", ""), lb.Call{Server: &lb.Server{Host: "c", Port: 1}})
	if !errors.Is(err, lb.ErrForeignServer) || len(u.hosts) != 3 {
		t.Errorf("a server from elsewhere: %v", err)
	}
}

// Per call another policy may hold.
func TestPolicyOfACall(t *testing.T) {
	u := &upstreams{answer: always(0, errReset)}
	c := &lb.Command{Balancer: newBalancer(t, "a", "b"), Transport: u, Retry: lb.DefaultRetryPolicy()}
	_, err := do(t, c, newRequest(t.Context(), t, "GET", ""), lb.Call{Retryable: true, Retry: &lb.RetryPolicy{MaxSame: 2}})
	if err == nil || err.Kind != lb.NumberOfRetriesExceeded || strings.Join(u.hosts, " ") != "a a a" {
		t.Errorf("error %v, attempts on %s", err, u.hosts)
	}
}

// counting notes what it hears.
type counting struct{ heard []string }

func (l *counting) listener() lb.ExecutionListener {
	note := func(what string, e *lb.Execution) {
		server := "-"
		if e.Server != nil {
			server = e.Server.Host
		}
		l.heard = append(l.heard, fmt.Sprintf("%s %s %d %d", what, server, e.PastAttempts, e.PastServers))
	}
	return lb.ExecutionListener{
		ExecutionStart:   func(e *lb.Execution) error { note("start", e); return nil },
		ServerStart:      func(e *lb.Execution) error { note("server", e); return nil },
		ServerException:  func(e *lb.Execution, _ error) { note("exception", e) },
		ExecutionSuccess: func(e *lb.Execution, _ *http.Response) { note("success", e) },
		ExecutionFailed:  func(e *lb.Execution, _ error) { note("failed", e) },
	}
}

func TestExecutionListeners(t *testing.T) {
	for _, tc := range []struct {
		name    string
		servers string
		pinned  string
		answer  script
		heard   []string
	}{
		{"ribbon 120 two bad servers", "a,b", "", always(0, errReset), []string{
			"start - 0 0",
			"server a 0 0", "exception a 0 0", "server a 1 0", "exception a 1 0",
			"server b 0 1", "exception b 0 1", "server b 1 1", "exception b 1 1",
			"failed b 2 1",
		}},
		{"ribbon 121 pinned to a bad one", "a,b", "a", always(0, errReset), []string{
			"start - 0 0", "server a 0 0", "exception a 0 0", "server a 1 0", "exception a 1 0", "failed a 2 0",
		}},
		{"ribbon 122 the second one is good", "bad,good", "", failing(errReset, "bad"), []string{
			"start - 0 0",
			"server bad 0 0", "exception bad 0 0", "server bad 1 0", "exception bad 1 0",
			"server good 0 1", "success good 0 1",
		}},
		{"ribbon 122 pinned to the good one", "bad,good", "good", failing(errReset, "bad"), []string{
			"start - 0 0", "server good 0 0", "success good 0 0",
		}},
		{"a status that is repeated", "a,b", "", unavailable("a"), []string{
			"start - 0 0",
			"server a 0 0", "exception a 0 0", "server a 1 0", "exception a 1 0",
			"server b 0 1", "success b 0 1",
		}},
		{"the last response is a success", "c", "", unavailable("c"), []string{
			"start - 0 0",
			"server c 0 0", "exception c 0 0", "server c 1 0", "exception c 1 0",
			"server c 0 1", "exception c 0 1", "server c 1 1", "success c 1 1",
		}},
		{"no server", "", "", always(200, nil), []string{"start - 0 0", "failed - 0 0"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var l counting
			c := &lb.Command{Balancer: newBalancer(t), Transport: &upstreams{answer: tc.answer}, Listeners: []lb.ExecutionListener{{}, l.listener()}}
			c.Retry = lb.RetryPolicy{MaxSame: 1, MaxNext: 1, StatusCodes: []int{503}}
			if tc.servers != "" {
				list(t, c.Balancer, strings.Split(tc.servers, ",")...)
			}
			call := retryable
			if tc.pinned != "" {
				call.Server = find(t, c.Balancer, tc.pinned)
			}
			_, _ = do(t, c, newRequest(t.Context(), t, "GET", ""), call)
			if diff := cmp.Diff(tc.heard, l.heard); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// Cases ribbon 123 and ribbon Q37: a listener ends the call; nothing stays counted.
func TestExecutionListenerAborts(t *testing.T) {
	no := errors.New("not today")
	for _, tc := range []struct {
		name     string
		listener lb.ExecutionListener
		heard    []string // by another listener behind it
		attempts int
	}{
		{"ribbon 123 at the start", lb.ExecutionListener{ExecutionStart: func(*lb.Execution) error { return no }}, nil, 0},
		{"ribbon 123 at a server", lb.ExecutionListener{ServerStart: func(*lb.Execution) error { return no }}, []string{"start - 0 0", "failed a 0 0"}, 0},
		{"at the second attempt", lb.ExecutionListener{ServerStart: func(e *lb.Execution) error {
			if e.PastAttempts > 0 {
				return no
			}
			return nil
		}}, []string{"start - 0 0", "server a 0 0", "exception a 0 0", "failed a 1 0"}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var l counting
			u := &upstreams{answer: always(0, errReset)}
			c := &lb.Command{Balancer: newBalancer(t, "a", "b"), Transport: u, Retry: lb.RetryPolicy{MaxSame: 1, MaxNext: 1}, Listeners: []lb.ExecutionListener{tc.listener, l.listener()}}
			_, err := do(t, c, newRequest(t.Context(), t, "GET", ""), retryable)
			if !errors.Is(err, no) || err.Kind != lb.Aborted || len(err.Attempts) != tc.attempts {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(tc.heard, l.heard); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			checkCounters(t, c.Balancer, u.count)
		})
	}
}

// Case ribbon 125: what a listener keeps is its own, what the request carries is everybody's.
func TestExecutionListenersKeepTheirOwnValues(t *testing.T) {
	type shared struct{}
	var got []any
	keeping := func(value string) lb.ExecutionListener {
		return lb.ExecutionListener{
			ExecutionStart: func(e *lb.Execution) error { e.Set("key", value); return nil },
			ExecutionSuccess: func(e *lb.Execution, _ *http.Response) {
				got = append(got, e.Value("key"), e.Value(shared{}), e.Context().Value(shared{}), e.Service)
			},
		}
	}
	c := &lb.Command{Balancer: newBalancer(t, "a"), Transport: &upstreams{answer: always(200, nil)}, Listeners: []lb.ExecutionListener{keeping("1"), keeping("2")}}
	if _, err := do(t, c, newRequest(context.WithValue(t.Context(), shared{}, "all"), t, "GET", ""), retryable); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{"1", nil, "all", "users", "2", nil, "all", "users"}, got); diff != "" {
		t.Error(diff)
	}
}

// The listener of a response finds its body unread.
func TestExecutionListenerAndTheResponse(t *testing.T) {
	var seen string
	wrap := lb.ExecutionListener{ExecutionSuccess: func(_ *lb.Execution, resp *http.Response) { seen = resp.Status + strconv.Itoa(resp.StatusCode) }}
	c := &lb.Command{Balancer: newBalancer(t, "a"), Transport: &upstreams{answer: always(200, nil)}, Listeners: []lb.ExecutionListener{wrap}}
	resp, err := c.Do(newRequest(t.Context(), t, "GET", ""), retryable)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); seen != "200" || string(text) != "ok" || err != nil {
		t.Errorf("listener saw %q, caller %q", seen, text)
	}
}

// Case ribbon Q41: a server is picked for an attempt only, not after the last one.
func TestPicks(t *testing.T) {
	for _, tc := range []struct {
		name            string
		same, next      int
		answer          script
		budget          *lb.RetryBudget
		picks, attempts int
	}{
		{"ribbon 132 one retry on the server", 1, 0, failFirst(1, errSilent), nil, 1, 2},
		{"ribbon 133 two errors", 1, 1, failFirst(2, errSilent), nil, 2, 3},
		{"ribbon Q41 all fail", 1, 1, always(0, errReset), nil, 2, 4},
		{"ribbon Q41 no retries", 0, 0, always(0, errReset), nil, 1, 1},
		{"ribbon Q41 three servers", 0, 2, always(0, errReset), nil, 3, 3},
		{"ribbon Q41 no budget", 1, 1, always(0, errReset), lb.NewRetryBudget(lb.BudgetSettings{Burst: 1}), 1, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			picks := 0
			b := newBalancer(t, "a", "b", "c", "d")
			b.Configure(lb.BalancerSettings{NewRule: func() lb.Rule {
				return lb.RuleFunc(func(_ any, servers []*lb.Server) *lb.Server {
					picks++
					return servers[picks%len(servers)]
				})
			}})
			u := &upstreams{answer: tc.answer}
			c := &lb.Command{Balancer: b, Transport: u, Retry: lb.RetryPolicy{MaxSame: tc.same, MaxNext: tc.next}, Budget: tc.budget}
			_, _ = do(t, c, newRequest(t.Context(), t, "GET", ""), retryable)
			if picks != tc.picks || len(u.hosts) != tc.attempts {
				t.Errorf("%d picks for %d attempts, want %d for %d", picks, len(u.hosts), tc.picks, tc.attempts)
			}
		})
	}
}
