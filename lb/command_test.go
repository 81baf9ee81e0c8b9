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

	"github.com/gozer-gateway/gozer/internal/race"
	"github.com/gozer-gateway/gozer/lb"
)

func TestAttempts(t *testing.T) {
	for _, tc := range []struct {
		name      string
		servers   string
		method    string
		same      int
		next      int
		all       bool
		oneShot   bool // the route is not retryable
		answer    script
		hosts     string
		kind      lb.Kind // General for success
		succeeded bool
	}{
		{name: "ribbon 109 pinned server", servers: "a", same: 3, answer: failFirst(2, errReset), hosts: "a a a", succeeded: true},
		{name: "ribbon 110 same, then next", servers: "a,b,c", same: 1, next: 5, answer: failFirst(2, errReset), hosts: "a a b", succeeded: true},
		{name: "ribbon 111 corrected: never the bad one again", servers: "bad,bad,bad,good", same: 1, next: 3, answer: failing(errRefused, "bad"), hosts: "bad bad good", succeeded: true},
		{name: "ribbon 112 same server only", servers: "bad,bad,good", same: 1, answer: failing(errRefused, "bad"), hosts: "bad bad", kind: lb.NumberOfRetriesExceeded},
		{name: "ribbon 113 read timeouts", servers: "bad,bad,good", same: 1, next: 3, answer: failing(errSilent, "bad"), hosts: "bad bad good", succeeded: true},
		{name: "ribbon 114 POST refused", servers: "bad,bad,bad,good", method: http.MethodPost, next: 3, answer: failing(errRefused, "bad"), hosts: "bad good", succeeded: true},
		{name: "ribbon 115 three bad servers, the fourth try not on the last", servers: "a,b,c", same: 1, next: 3, answer: always(0, errReset), hosts: "a a b b c c a a", kind: lb.NumberOfRetriesNextServerExceeded},
		{name: "ribbon 118 GET read timeout", servers: "a", next: 2, answer: always(0, errSilent), hosts: "a a a", kind: lb.NumberOfRetriesNextServerExceeded},
		{name: "ribbon 118 POST read timeout", servers: "a", method: http.MethodPost, next: 2, answer: always(0, errSilent), hosts: "a", kind: lb.ReadTimeout},
		{name: "ribbon 118 POST read timeout, all operations", servers: "a", method: http.MethodPost, next: 2, all: true, answer: always(0, errSilent), hosts: "a a a", kind: lb.NumberOfRetriesNextServerExceeded},
		{name: "ribbon 119 dead twice in the list", servers: "dead,dead,ok", next: 2, answer: failing(errRefused, "dead"), hosts: "dead ok", succeeded: true},
		{name: "ribbon 128 sixteen failures, four on each", servers: "a,b,c,d", same: 3, next: 3, answer: always(0, errReset), hosts: "a a a a c c c c b b b b d d d d", kind: lb.NumberOfRetriesNextServerExceeded},
		{name: "ribbon 131 0/0", servers: "a,b", answer: always(0, errReset), hosts: "a"},
		{name: "ribbon 131 0/1", servers: "a,b", next: 1, answer: always(0, errReset), hosts: "a b", kind: lb.NumberOfRetriesNextServerExceeded},
		{name: "ribbon 131 1/0", servers: "a,b", same: 1, answer: always(0, errReset), hosts: "a a", kind: lb.NumberOfRetriesExceeded},
		{name: "ribbon 131 1/1", servers: "a,b", same: 1, next: 1, answer: always(0, errReset), hosts: "a a b b", kind: lb.NumberOfRetriesNextServerExceeded},
		{name: "ribbon 131 2/1", servers: "a,b", same: 2, next: 1, answer: always(0, errReset), hosts: "a a a b b b", kind: lb.NumberOfRetriesNextServerExceeded},
		{name: "ribbon 132 error, then success", servers: "a,b", same: 1, answer: failFirst(1, errSilent), hosts: "a a", succeeded: true},
		{name: "ribbon 133 two errors, then success", servers: "a,b", same: 1, next: 1, answer: failFirst(2, errSilent), hosts: "a a b", succeeded: true},
		{name: "ribbon 133 POST with all operations", servers: "a,b", method: http.MethodPost, same: 1, next: 1, all: true, answer: failFirst(2, errSilent), hosts: "a a b", succeeded: true},
		{name: "ribbon 134 POST", servers: "a,b", method: http.MethodPost, same: 1, next: 1, answer: failFirst(2, errSilent), hosts: "a", kind: lb.ReadTimeout},
		{name: "C137 six deliveries at most", servers: "a,b,c", same: 1, next: 2, answer: always(0, errClosed), hosts: "a a b b c c", kind: lb.NumberOfRetriesNextServerExceeded},
		{name: "C135 POST closed without an answer", servers: "a,b", method: http.MethodPost, same: 1, next: 1, answer: always(0, errClosed), hosts: "a"},
		{name: "route not retryable", servers: "a,b", oneShot: true, same: 1, next: 1, answer: always(0, errClosed), hosts: "a"},
		{name: "refused, route not retryable", servers: "a,b,c", oneShot: true, next: 1, answer: failing(errRefused, "a"), hosts: "a b", succeeded: true},
		{name: "refused everywhere, bounded", servers: "a,b,c,d", oneShot: true, next: 2, answer: always(0, errRefused), hosts: "a b c", kind: lb.NumberOfRetriesNextServerExceeded},
		{name: "refused is no reason to try the only server again", servers: "a", oneShot: true, next: 3, answer: always(0, errRefused), hosts: "a", kind: lb.Connect},
		{name: "refused and moving not allowed", servers: "a,b", oneShot: true, answer: always(0, errRefused), hosts: "a", kind: lb.Connect},
		{name: "ribbon Q38 kept: the number of servers names the kind, whatever the last failure was", servers: "a,b,c", method: http.MethodPost, oneShot: true, next: 1, answer: func(host string, _ int) reply {
			if host == "a" {
				return reply{err: errRefused}
			}
			return reply{err: errClosed}
		}, hosts: "a b", kind: lb.NumberOfRetriesNextServerExceeded},
		{name: "refused, then sent and lost", servers: "a,b,c", method: http.MethodPost, oneShot: true, next: 2, answer: func(host string, _ int) reply {
			if host == "a" {
				return reply{err: errRefused}
			}
			return reply{err: errClosed}
		}, hosts: "a b"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			u := &upstreams{answer: tc.answer}
			c := &lb.Command{
				Balancer:  newBalancer(t, strings.Split(tc.servers, ",")...),
				Transport: u,
				Retry:     lb.RetryPolicy{MaxSame: tc.same, MaxNext: tc.next, AllOperations: tc.all},
			}
			method := tc.method
			if method == "" {
				method = http.MethodGet
			}
			status, err := do(t, c, newRequest(t.Context(), t, method, ""), lb.Call{Retryable: !tc.oneShot})
			if got := strings.Join(u.hosts, " "); got != tc.hosts {
				t.Errorf("attempts on %s, want %s", got, tc.hosts)
			}
			switch {
			case tc.succeeded && (err != nil || status != http.StatusOK):
				t.Errorf("status %d, error %v; want 200", status, err)
			case !tc.succeeded && (err == nil || err.Kind != tc.kind || len(err.Attempts) != len(u.hosts)):
				t.Errorf("error %v, want %v after %d attempts", err, tc.kind, len(u.hosts))
			}
			checkCounters(t, c.Balancer, u.count)
		})
	}
}

// checkCounters: every attempt was begun and ended once (ribbon Q43).
func checkCounters(t *testing.T, b *lb.Balancer, attempts map[string]int) {
	t.Helper()
	for _, s := range b.Servers() {
		if total := s.Stats().Total(); total != int64(attempts[s.Host]) || s.Stats().Active(time.Now()) != 0 {
			t.Errorf("%s: total %d, active %d; want %d and 0", s, total, s.Stats().Active(time.Now()), attempts[s.Host])
		}
	}
}

// How often each method is delivered, for every kind of failure, setting and size of body.
func TestMatrix(t *testing.T) {
	bodies := []int{0, 1, 64 << 10, 64<<10 + 1}
	failures := map[string]error{
		"refused": errRefused, "unreachable": errUnreachable, "dial timeout": errDialTimeout,
		"unknown host": errUnknownHost, "handshake": errHandshake,
		"reset": errReset, "silent": errSilent, "closed": errClosed,
	}
	for name, failure := range failures {
		for _, method := range []string{"GET", "HEAD", "OPTIONS", "PUT", "DELETE", "POST", "PATCH"} {
			for _, size := range bodies {
				for i := range 4 {
					marked, all := i&1 != 0, i&2 != 0
					t.Run(fmt.Sprintf("%s/%s/%d bytes/retryable %t/all %t", name, method, size, marked, all), func(t *testing.T) {
						readOnly := method == "GET" || method == "HEAD" || method == "OPTIONS"
						repeated := marked && (all || readOnly) && size <= 64<<10 || unsent(failure)
						checkDeliveries(t, failure, repeated, newRequest(t.Context(), t, method, strings.Repeat("x", size)), marked, all)
					})
				}
			}
		}
	}
}

func checkDeliveries(t *testing.T, failure error, repeated bool, req *http.Request, marked, all bool) {
	t.Helper()
	u := &upstreams{answer: always(0, failure)}
	policy := lb.DefaultRetryPolicy()
	policy.AllOperations = all
	c := &lb.Command{Balancer: newBalancer(t, "a", "b", "c"), Transport: u, Retry: policy}
	size := req.ContentLength
	_, err := do(t, c, req, lb.Call{Retryable: marked})
	wanted := 1
	if repeated {
		wanted = 2
	}
	if err == nil || !errors.Is(err, failure) || len(u.hosts) != wanted {
		t.Errorf("%d attempts and %v, want %d and %v", len(u.hosts), err, wanted, failure)
	}
	for i, body := range u.bodies {
		if int64(len(body)) != size {
			t.Errorf("attempt %d sent %d bytes, want %d", i, len(body), size)
		}
	}
}

func TestStatusRetries(t *testing.T) {
	codes := []int{http.StatusNotFound, http.StatusServiceUnavailable}
	t.Run("ribbon 135 a listed status, then 200", func(t *testing.T) {
		u := &upstreams{answer: unavailable("a")}
		c := &lb.Command{Balancer: newBalancer(t, "a", "b"), Transport: u, Retry: lb.RetryPolicy{MaxNext: 1, StatusCodes: codes}}
		status, err := do(t, c, newRequest(t.Context(), t, "GET", ""), retryable)
		if status != http.StatusOK || err != nil || !u.responses[0].closed {
			t.Errorf("status %d, error %v, first body closed %t", status, err, u.responses[0].closed)
		}
	})
	t.Run("ribbon 136 C133 the last response is returned as it is", func(t *testing.T) {
		n := 0
		u := &upstreams{answer: func(string, int) reply {
			n++
			return reply{status: 503, body: fmt.Sprint("answer ", n), header: http.Header{"Retry-After": {strconv.Itoa(n)}}}
		}}
		c := &lb.Command{Balancer: newBalancer(t, "a", "b"), Transport: u, Retry: lb.RetryPolicy{MaxSame: 1, MaxNext: 1, StatusCodes: codes}}
		resp, err := c.Do(newRequest(t.Context(), t, "GET", ""), retryable)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if resp.StatusCode != http.StatusServiceUnavailable || string(body) != "answer 4" || resp.Header.Get("Retry-After") != "4" || err != nil {
			t.Errorf("%d %q %v, want 503 and answer 4", resp.StatusCode, body, resp.Header)
		}
	})
	for _, tc := range []struct {
		name, method string
		status       int
		call         lb.Call
		attempts     int
	}{
		{"ribbon 127 status not listed", "GET", 400, retryable, 1},
		{"route not retryable", "GET", 503, lb.Call{}, 1},
		{"POST", "POST", 503, retryable, 1},
		{"HEAD", "HEAD", 503, retryable, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			u := &upstreams{answer: always(tc.status, nil)}
			c := &lb.Command{Balancer: newBalancer(t, "a", "b"), Transport: u, Retry: lb.RetryPolicy{MaxNext: 1, StatusCodes: codes}}
			status, err := do(t, c, newRequest(t.Context(), t, tc.method, ""), tc.call)
			if status != tc.status || err != nil || len(u.hosts) != tc.attempts {
				t.Errorf("status %d, error %v, attempts %d; want %d and %d", status, err, len(u.hosts), tc.status, tc.attempts)
			}
		})
	}
	t.Run("a status, then an error", func(t *testing.T) {
		u := &upstreams{answer: func(host string, _ int) reply {
			if host == "a" {
				return reply{status: 503, body: "no"}
			}
			return reply{err: errClosed}
		}}
		c := &lb.Command{Balancer: newBalancer(t, "a", "b"), Transport: u, Retry: lb.RetryPolicy{MaxNext: 1, StatusCodes: codes}}
		_, err := do(t, c, newRequest(t.Context(), t, "GET", ""), retryable)
		if err == nil || len(err.Attempts) != 2 || err.Attempts[0].Status != 503 || err.Attempts[0].Err != nil || err.Attempts[1].Server != "b" {
			t.Errorf("error %+v", err)
		}
	})
}

func TestOutcomes(t *testing.T) {
	for _, tc := range []struct {
		name     string
		answer   script
		failures int64 // after one earlier failure
		kind     lb.Kind
		timeout  bool
	}{
		{"ribbon 97 and Q42 reset", always(0, errReset), 2, lb.General, false},
		{"ribbon 97 read timeout", always(0, errSilent), 2, lb.ReadTimeout, true},
		{"ribbon 97 unknown host", always(0, errUnknownHost), 0, lb.UnknownHost, false},
		{"ribbon 97 HTTP 500", always(500, nil), 0, lb.General, false},
		{"ribbon 129 and Q45 other I/O error", always(0, errClosed), 0, lb.General, false},
		{"ribbon 129 refused", always(0, errRefused), 2, lb.Connect, false},
		{"ribbon Q36 dial timeout", always(0, errDialTimeout), 2, lb.Connect, true},
		{"unreachable", always(0, errUnreachable), 2, lb.NoRouteToHost, false},
		{"handshake", always(0, errHandshake), 2, lb.Connect, false},
		{"full pool", always(0, errFullPool), 1, lb.Connect, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := &lb.Command{Balancer: newBalancer(t, "a"), Transport: &upstreams{answer: tc.answer}}
			end(t, c.Balancer, "a", lb.Unhealthy, 1)
			_, err := do(t, c, newRequest(t.Context(), t, "GET", ""), retryable)
			if n := find(t, c.Balancer, "a").Stats().SuccessiveFailures(); n != tc.failures {
				t.Errorf("%d successive failures, want %d", n, tc.failures)
			}
			if err != nil && (err.Kind != tc.kind || err.Timeout() != tc.timeout) {
				t.Errorf("kind %v, timeout %t; want %v, %t", err.Kind, err.Timeout(), tc.kind, tc.timeout)
			}
		})
	}
}

// C145: an error at once, and servers that come are used at once.
func TestNoServerToSendTo(t *testing.T) {
	u := &upstreams{answer: always(200, nil)}
	c := &lb.Command{Balancer: newBalancer(t), Transport: u, Retry: lb.DefaultRetryPolicy()}
	_, err := do(t, c, newRequest(t.Context(), t, "GET", ""), retryable)
	if !errors.Is(err, lb.ErrNoServer) || err.Kind != lb.NoServer || len(err.Attempts) != 0 {
		t.Fatalf("error %v", err)
	}
	if text := err.Error(); text != `lb: no server available for service "users"` {
		t.Errorf("text %q", text)
	}
	list(t, c.Balancer, "a")
	if status, err := do(t, c, newRequest(t.Context(), t, "GET", ""), retryable); status != 200 {
		t.Errorf("after the list was filled: %v", err)
	}
}

// The list is emptied while the request is under way: the error that it met stands.
func TestServersVanish(t *testing.T) {
	b := newBalancer(t, "a", "b")
	u := &upstreams{answer: func(string, int) reply {
		b.SetServers(nil)
		return reply{err: errRefused}
	}}
	c := &lb.Command{Balancer: b, Transport: u, Retry: lb.RetryPolicy{MaxNext: 3}}
	if _, err := do(t, c, newRequest(t.Context(), t, "GET", ""), retryable); err == nil || err.Kind != lb.Connect {
		t.Errorf("error %v, want the refused connection", err)
	}
}

// hanging never answers.
type hanging struct{ attempts int }

func (h *hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	h.attempts++
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}

func TestContextEnds(t *testing.T) {
	elapsed := errors.New("command time-out")
	for _, tc := range []struct {
		name     string
		context  func(context.Context) (context.Context, context.CancelFunc)
		kind     lb.Kind
		timeout  bool
		failures int64
	}{
		{"deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, lb.SocketTimeout, true, 1},
		{"deadline with a cause", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeoutCause(ctx, time.Second, elapsed)
		}, lb.SocketTimeout, true, 1},
		{"cancelled for lack of time", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(time.Second, func() { cancel(context.DeadlineExceeded) })
			return ctx, func() { cancel(nil) }
		}, lb.SocketTimeout, true, 1},
		{"the client went away", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		}, lb.Cancelled, false, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := tc.context(t.Context())
				defer cancel()
				h := new(hanging)
				c := &lb.Command{Balancer: newBalancer(t, "a", "b"), Transport: h, Retry: lb.RetryPolicy{MaxSame: 2, MaxNext: 2}}
				_, err := do(t, c, newRequest(ctx, t, "GET", ""), retryable)
				if err == nil || err.Kind != tc.kind || err.Timeout() != tc.timeout || h.attempts != 1 || len(err.Attempts) != 1 {
					t.Errorf("error %v after %d attempts, want %v after 1", err, h.attempts, tc.kind)
				}
				s := find(t, c.Balancer, "a").Stats()
				if s.SuccessiveFailures() != tc.failures || s.Total() != 1 || s.Active(time.Now()) != 0 {
					t.Errorf("%d failures, total %d, active %d; want %d, 1, 0", s.SuccessiveFailures(), s.Total(), s.Active(time.Now()), tc.failures)
				}
				if _, err := do(t, c, newRequest(ctx, t, "GET", ""), retryable); err == nil || err.Kind != tc.kind || h.attempts != 1 {
					t.Errorf("on the context that is over: error %v, attempts %d", err, h.attempts)
				}
			})
		})
	}
}

// full is a transport without a free connection.
type full func(context.Context) error

func (f full) RoundTrip(r *http.Request) (*http.Response, error) { return nil, f(r.Context()) }

// A request that got no connection, since the gateway allows no more of them, says nothing
// about its server.
func TestFullPool(t *testing.T) {
	waits := func(ctx context.Context) error {
		<-ctx.Done()
		return unasked{context.Cause(ctx)}
	}
	refuses := func(context.Context) error { return errFullPool }
	for _, tc := range []struct {
		name    string
		fail    func(context.Context) error
		handler lb.RetryHandler
		kind    lb.Kind
	}{
		{"refuses", refuses, nil, lb.Connect},
		{"refuses, with a handler that takes that for a bad connection", refuses, lb.HTTPRetryHandler{}, lb.Connect},
		{"until the deadline", waits, nil, lb.SocketTimeout},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &lb.Command{
					Balancer: newBalancer(t, "a"), Retry: lb.RetryPolicy{Handler: tc.handler},
					Transport: full(tc.fail),
				}
				for range 20 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					_, err := do(t, c, newRequest(ctx, t, "GET", ""), retryable)
					if err == nil || err.Kind != tc.kind {
						t.Fatalf("error %v, want %v", err, tc.kind)
					}
					client := lb.NewLoadBalancerClient(usersOnly(c))
					if err := client.Execute(ctx, "users", nil, func(ctx context.Context, _ *lb.Server) error { return tc.fail(ctx) }); err == nil {
						t.Fatal("no error")
					}
					cancel()
				}
				if s := find(t, c.Balancer, "a").Stats(); s.SuccessiveFailures() != 0 || s.Errors() != 0 || s.Active(time.Now()) != 0 {
					t.Errorf("%d failures, %d errors, %d active; want none", s.SuccessiveFailures(), s.Errors(), s.Active(time.Now()))
				}
			})
		})
	}
}

func TestPanicCompletesStatistics(t *testing.T) {
	u := &upstreams{answer: func(string, int) reply { panic("transport") }}
	c := &lb.Command{Balancer: newBalancer(t, "a"), Transport: u}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_, _ = do(t, c, newRequest(t.Context(), t, "GET", ""), retryable)
	}()
	if n := find(t, c.Balancer, "a").Stats().Active(time.Now()); n != 0 {
		t.Errorf("%d active, want 0", n)
	}
}

func TestErrorText(t *testing.T) {
	c := &lb.Command{Balancer: newBalancer(t, "a", "b"), Transport: &upstreams{answer: always(0, errReset)}, Retry: lb.DefaultRetryPolicy()}
	_, err := do(t, c, newRequest(t.Context(), t, "GET", ""), retryable)
	const text = `lb: service "users": NUMBEROF_RETRIES_NEXTSERVER_EXCEEDED: attempt 2 on b: read tcp: read: connection reset by peer`
	if err.Error() != text {
		t.Errorf("got %s\nwant %s", err, text)
	}
}

func TestKinds(t *testing.T) {
	names := []string{
		"GENERAL", "CONFIGURATION", "NUMBEROF_RETRIES_EXEEDED", "NUMBEROF_RETRIES_NEXTSERVER_EXCEEDED",
		"SOCKET_TIMEOUT_EXCEPTION", "READ_TIMEOUT_EXCEPTION", "UNKNOWN_HOST_EXCEPTION", "CONNECT_EXCEPTION",
		"CLIENT_THROTTLED", "SERVER_THROTTLED", "NO_ROUTE_TO_HOST_EXCEPTION", "CACHE_MISSING", "GENERAL", "GENERAL",
	}
	for code, name := range names {
		if got := lb.Kind(code).String(); got != name {
			t.Errorf("code %d is %s, want %s", code, got, name)
		}
	}
}

// constant answers with the same response every time, without allocating.
type constant struct{ response http.Response }

func (c *constant) RoundTrip(*http.Request) (*http.Response, error) { return &c.response, nil }

func (c *constant) Carry(context.Context, *http.Request, http.Header) (*http.Response, error) {
	return &c.response, nil
}

func TestCommandAllocates(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	do := func(c *lb.Command, req *http.Request) (*http.Response, error) { return c.Do(req, retryable) }
	send := func(c *lb.Command, req *http.Request) (*http.Response, error) {
		return c.Send(req.Context(), req, retryable)
	}
	for _, tc := range []struct {
		name, method, body string
		call               func(c *lb.Command, req *http.Request) (*http.Response, error)
		most               float64
	}{
		{"Do GET", "GET", "", do, 1},
		{"Do POST", "POST", "body", do, 3},
		{"Send GET", "GET", "", send, 0},
		{"Send POST", "POST", "body", send, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := &lb.Command{
				Balancer:  newBalancer(t, "a", "b", "c"),
				Transport: &constant{http.Response{StatusCode: http.StatusOK, Body: http.NoBody}},
				Retry:     lb.DefaultRetryPolicy(),
			}
			req := newRequest(t.Context(), t, tc.method, tc.body)
			n := testing.AllocsPerRun(1000, func() {
				resp, err := tc.call(c, req)
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
			})
			if n > tc.most {
				t.Errorf("%v allocations, want at most %v", n, tc.most)
			}
		})
	}
}
