package gozer_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/lb"
)

// The composition of fallback, breaker, bulkhead, deadline and retries, in all
// combinations, against a plain model of what should happen: how many servers are picked
// and how many attempts are made, what the client gets and when, and that every permit
// comes back.

// upstreamBehaviour is what the n-th attempt of a request meets, counted from 1.
type upstreamBehaviour struct {
	name string
	does func(n int) attemptResult
}

type attemptResult struct {
	takes  time.Duration
	err    error
	status int // that the client sees, if this was the last attempt
}

const attemptTimeout = 400 * time.Millisecond // of a silent server

func behaviours() []upstreamBehaviour {
	ok := attemptResult{0, nil, http.StatusOK}
	lost := attemptResult{0, errLost, http.StatusBadGateway}
	refused := attemptResult{0, lb.NotSent(errors.New("connection refused")), http.StatusBadGateway}
	silent := attemptResult{attemptTimeout, &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}, http.StatusGatewayTimeout}
	always := func(r attemptResult) func(int) attemptResult { return func(int) attemptResult { return r } }
	once := func(r attemptResult) func(int) attemptResult {
		return func(n int) attemptResult {
			if n == 1 {
				return r
			}
			return ok
		}
	}
	return []upstreamBehaviour{
		{"good", always(ok)},
		{"slow", always(attemptResult{attemptTimeout - 1, nil, http.StatusOK})},
		{"lost", always(lost)},
		{"refused", always(refused)},
		{"silent", always(silent)},
		{"lost once", once(lost)},
		{"refused once", once(refused)},
		{"silent once", once(silent)},
	}
}

// gate is what keeps a call out.
type gate string

const (
	free          gate = "free"
	circuitOpen   gate = "circuit open"
	semaphoreFull gate = "semaphore full"
	poolFull      gate = "pool full"
)

type composition struct {
	upstream   upstreamBehaviour
	gate       gate
	same, next int
	retryable  bool
	deadline   time.Duration
	fallback   bool
}

func (c composition) String() string {
	return fmt.Sprintf("%s, %s, retries %d/%d retryable %t, deadline %s, fallback %t", c.upstream.name, c.gate, c.same, c.next, c.retryable, c.deadline, c.fallback)
}

func (c composition) yaml() string {
	y := fmt.Sprintf(`
zuul.routes.users: {path: /users/**, retryable: %t}
zuul.semaphore.max-semaphores: 1
users.ribbon: {listOfServers: "a:1,b:1,c:1", MaxAutoRetries: %d, MaxAutoRetriesNextServer: %d}
hystrix.command.default.execution.isolation.thread.timeoutInMilliseconds: %d
`, c.retryable, c.same, c.next, c.deadline.Milliseconds())
	switch c.gate {
	case free, semaphoreFull:
	case circuitOpen:
		y += "hystrix.command.users.circuitBreaker.forceOpen: true\n"
	case poolFull:
		y += "zuul.ribbon-isolation-strategy: THREAD\nhystrix.threadpool.default.coreSize: 1\n"
	}
	if c.fallback {
		y += "gateway.fallback.users: {status: 203, body: instead}\n"
	}
	return y
}

// course is what a request has led to.
type course struct {
	picks, attempts, status int
	took                    time.Duration
}

// model follows a request by the book.
func (c composition) model() course {
	if c.gate != free {
		return c.answered(course{status: http.StatusServiceUnavailable})
	}
	var w course
	for range c.next + 1 {
		w.picks++
		for range c.same + 1 {
			w.attempts++
			r := c.upstream.does(w.attempts)
			if w.took += r.takes; w.took >= c.deadline {
				w.took, w.status = c.deadline, http.StatusGatewayTimeout
				return c.answered(w)
			}
			w.status = r.status
			unsent := strings.HasPrefix(c.upstream.name, "refused")
			if r.err == nil || !c.retryable && !unsent {
				return c.answered(w)
			}
		}
	}
	return c.answered(w)
}

func (c composition) answered(w course) course {
	if c.fallback && w.status != http.StatusOK {
		w.status = http.StatusNonAuthoritativeInfo
	}
	return w
}

// play sends the request, with another one in its way if the bulkhead is to be full.
func (c composition) play(t *testing.T) course {
	t.Helper()
	var w course
	var counting atomic.Bool
	listener := lb.ExecutionListener{ServerStart: func(e *lb.Execution) error {
		if counting.Load() {
			w.attempts++
			if e.PastAttempts == 0 {
				w.picks++
			}
		}
		return nil
	}}
	g := newGateway(t, c.yaml(), gozer.WithExecutionListener(listener))
	g.SetTransport("users", roundTrip(func(r *http.Request) (*http.Response, error) { return c.roundTrip(r, w.attempts) }))
	stop := func() {}
	if c.gate == semaphoreFull || c.gate == poolFull {
		stop = c.occupy(t, g)
	}
	counting.Store(true)
	start := time.Now()
	w.status = get(t, g, "/users/1").Code
	w.took = time.Since(start)
	counting.Store(false)
	stop()
	checkPermits(t, g, c.gate)
	return w
}

func (c composition) roundTrip(r *http.Request, n int) (*http.Response, error) {
	result := attemptResult{takes: c.deadline / 2}
	if strings.HasSuffix(r.URL.Opaque, "/1") {
		result = c.upstream.does(n)
	}
	select {
	case <-time.After(result.takes):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if result.err != nil {
		return nil, result.err
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

// occupy holds the only permit until the returned function has been called.
func (c composition) occupy(t *testing.T, g *gozer.Gateway) (stop func()) {
	t.Helper()
	var wg sync.WaitGroup
	wg.Go(func() { get(t, g, "/users/occupant") })
	synctest.Wait()
	return wg.Wait
}

// checkPermits: nothing is held any more, and the only permit is there for another request.
func checkPermits(t *testing.T, g *gozer.Gateway, at gate) {
	t.Helper()
	for _, s := range g.Commands().Snapshots() {
		if s.Concurrent != 0 || s.Waiting != 0 || s.Fallbacks != 0 {
			t.Errorf("%d calls, %d waiting, %d fallbacks", s.Concurrent, s.Waiting, s.Fallbacks)
		}
	}
	for _, s := range g.Servers("users") {
		if n := s.Stats().Active(time.Now()); n != 0 {
			t.Errorf("%d attempts active on %s", n, s)
		}
	}
	if got := get(t, g, "/users/another"); at != circuitOpen && got.Code != http.StatusOK {
		t.Errorf("another request gets %d", got.Code)
	}
}

func TestComposition(t *testing.T) {
	for _, upstream := range behaviours() {
		for _, at := range []gate{free, circuitOpen, semaphoreFull, poolFull} {
			for _, deadline := range []time.Duration{attemptTimeout * 3 / 2, time.Minute} {
				for bits := range 16 {
					c := composition{upstream, at, bits & 1, bits >> 1 & 1, bits>>2&1 == 1, deadline, bits>>3&1 == 1}
					t.Run(c.String(), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							if got, want := c.play(t), c.model(); got != want {
								t.Errorf("got %+v, want %+v", got, want)
							}
						})
					})
				}
			}
		}
	}
}
