package lb_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/memhttp"
	"github.com/gozer-gateway/gozer/lb"
)

// These tests run net/http's transport against real sockets, or, where time counts, over
// pipes in a bubble: there no server is silent because the machine is slow.

func overSockets(t *testing.T, retry lb.RetryPolicy, addrs ...string) *lb.Command {
	t.Helper()
	rt := &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(rt.CloseIdleConnections)
	return over(t, rt, retry, addrs...)
}

// overPipes is overSockets in a bubble, with a server for each handler; one that is silent
// for a second has not answered in time.
func overPipes(t *testing.T, retry lb.RetryPolicy, handlers ...http.Handler) *lb.Command {
	t.Helper()
	network := memhttp.NewNetwork()
	var addrs []string
	for i, h := range handlers {
		addrs = append(addrs, fmt.Sprintf("%c.test:80", 'a'+i))
		network.Serve(t, addrs[i], h)
	}
	rt := network.Transport(t)
	rt.ResponseHeaderTimeout = time.Second
	return over(t, rt, retry, addrs...)
}

func over(t *testing.T, rt *http.Transport, retry lb.RetryPolicy, addrs ...string) *lb.Command {
	t.Helper()
	b := lb.NewBalancer("users", lb.BalancerSettings{})
	servers, err := lb.ParseServers(addrs...)
	if err != nil {
		t.Fatal(err)
	}
	b.SetServers(servers)
	return &lb.Command{Balancer: b, Transport: rt, Retry: retry}
}

// counted is a handler that counts its requests.
type counted struct {
	http.Handler
	requests atomic.Int64
}

func (c *counted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.requests.Add(1)
	c.Handler.ServeHTTP(w, r)
}

func TestOneDelivery(t *testing.T) {
	policy := lb.RetryPolicy{MaxSame: 1, MaxNext: 1, MaxReplayBytes: 100}
	once := func(then http.Handler) *counted {
		return &counted{Handler: backendtest.Sequence(backendtest.Answer(200, "ok"), then)}
	}
	for _, method := range []string{"POST", "PATCH"} {
		for _, field := range []string{"X-Any", "Idempotency-Key", "X-Idempotency-Key"} {
			for _, body := range []string{"", "body"} {
				name := fmt.Sprintf("%s/%s/body %q", method, field, body)
				check := func(t *testing.T, c *lb.Command, servers ...*counted) {
					t.Helper()
					for range servers { // net/http repeats only on connections that were used before
						if status, err := do(t, c, newRequest(t.Context(), t, "GET", ""), retryable); status != 200 {
							t.Fatal(err)
						}
					}
					req := newRequest(t.Context(), t, method, body)
					req.Header.Set(field, "k")
					if _, err := do(t, c, req, retryable); err == nil || len(err.Attempts) != 1 {
						t.Errorf("error %v, want one failed attempt", err)
					}
					if n := servers[0].requests.Load() + servers[1].requests.Load() - 2; n != 1 {
						t.Errorf("%d deliveries, want 1", n)
					}
				}
				for end, behaviour := range map[string]http.Handler{"closed after reading": backendtest.HangUp(), "reset after reading": backendtest.Reset()} {
					t.Run(fmt.Sprintf("C135 %s/%s", end, name), func(t *testing.T) {
						t.Parallel()
						a, b := once(behaviour), once(behaviour)
						check(t, overSockets(t, policy, backendtest.Start(t, a).Addr, backendtest.Start(t, b).Addr), a, b)
					})
				}
				t.Run("C135 no answer in time/"+name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						a, b := once(backendtest.Hang()), once(backendtest.Hang())
						check(t, overPipes(t, policy, a, b), a, b)
					})
				})
			}
		}
	}
}

// C131 over sockets: the first server reads the body and hangs up or refuses.
func TestReplayOverSockets(t *testing.T) {
	for name, behaviour := range map[string]http.Handler{
		"closed":       backendtest.HangUp(),
		"503":          backendtest.Answer(503, "busy"),
		"503 unread":   backendtest.Answer(503, strings.Repeat("busy", 25<<10)),
		"reset unread": backendtest.Reset(),
	} {
		for _, size := range []int{0, 1, 4096, 70_000} {
			t.Run(fmt.Sprintf("C131 %s, %d bytes", name, size), func(t *testing.T) {
				a := backendtest.Start(t, behaviour)
				got := make(chan string, 1)
				b := backendtest.Start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					body, err := io.ReadAll(r.Body)
					if err != nil {
						body = []byte(err.Error())
					}
					got <- string(body)
				}))
				c := overSockets(t, lb.RetryPolicy{MaxNext: 1, AllOperations: true, StatusCodes: []int{503}, MaxReplayBytes: 100_000}, a.Addr, b.Addr)
				body := strings.Repeat("x", size)
				if status, err := do(t, c, newRequest(t.Context(), t, "PUT", body), retryable); status != 200 {
					t.Fatalf("status %d, error %v", status, err)
				}
				if arrived := <-got; arrived != body {
					t.Errorf("%d bytes arrived, want %d", len(arrived), size)
				}
			})
		}
	}
}

// C134: responses that are given up leave no connection behind.
func TestDiscardedResponsesAreReleased(t *testing.T) {
	a := backendtest.Start(t, backendtest.Answer(503, strings.Repeat("x", 100<<10)))
	b := backendtest.Start(t, backendtest.Answer(200, "ok"))
	c := overSockets(t, lb.RetryPolicy{MaxNext: 1, StatusCodes: []int{503}}, a.Addr, b.Addr)
	c.Transport.(*http.Transport).MaxConnsPerHost = 2 // an unreleased connection would block the third request
	for i := range 100 {
		if status, err := do(t, c, newRequest(t.Context(), t, "GET", ""), retryable); status != 200 {
			t.Fatalf("request %d: status %d, error %v", i, status, err)
		}
	}
}

// A small answer that is given up leaves its connection usable.
func TestSmallDiscardedResponsesKeepTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // net/http closes a connection whose writer has not reported after 50 ms
		c := overPipes(t, lb.RetryPolicy{MaxNext: 1, StatusCodes: []int{503}}, backendtest.Answer(503, "busy"), backendtest.Answer(200, "ok"))
		rt := c.Transport.(*http.Transport)
		dial, dials := rt.DialContext, 0
		rt.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if addr == "a.test:80" {
				dials++
			}
			return dial(ctx, network, addr)
		}
		for range 20 {
			if status, err := do(t, c, newRequest(t.Context(), t, "GET", ""), retryable); status != 200 {
				t.Errorf("status %d, error %v", status, err)
			}
		}
		if dials != 1 {
			t.Errorf("%d connections for 20 requests, want 1", dials)
		}
	})
}

// connections counts those of a transport by address.
type connections struct {
	mu   sync.Mutex
	open map[string]*sync.WaitGroup
}

func countConnections(rt *http.Transport) *connections {
	c := &connections{open: make(map[string]*sync.WaitGroup)}
	rt.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		at := c.at(addr)
		at.Add(1)
		return &countedConn{Conn: conn, closed: sync.OnceFunc(at.Done)}, nil
	}
	return c
}

func (c *connections) at(addr string) *sync.WaitGroup {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[addr] == nil {
		c.open[addr] = new(sync.WaitGroup)
	}
	return c.open[addr]
}

// Wait returns when the transport has closed all connections to addr.
func (c *connections) Wait(addr string) { c.at(addr).Wait() }

type countedConn struct {
	net.Conn
	closed func()
}

func (c *countedConn) Close() error {
	defer c.closed()
	return c.Conn.Close()
}

// One of two servers dies and comes back: no request of any method fails.
func TestKilledServer(t *testing.T) {
	a := backendtest.Start(t, backendtest.Answer(200, "ok"))
	b := backendtest.Start(t, backendtest.Answer(200, "ok"))
	c := overSockets(t, lb.DefaultRetryPolicy(), a.Addr, b.Addr)
	send := func(n int) {
		for i := range n {
			method := []string{"GET", "POST", "PUT", "DELETE"}[i%4]
			req := newRequest(t.Context(), t, method, "body")
			if status, err := do(t, c, req, lb.Call{}); status != 200 {
				t.Errorf("%s: status %d, error %v", method, status, err)
			}
		}
	}
	open := countConnections(c.Transport.(*http.Transport))
	send(8)
	a.Kill()
	open.Wait(a.Addr) // a request on its way to a connection as it closes cannot be told from one that was read
	send(40)
	a.Revive()
	send(8)
	if n := c.Balancer.Available(); n != 1 {
		t.Errorf("%d servers available, want 1 during the blackout", n)
	}
}

// One of two servers stops answering: no retryable GET fails, and soon it is not asked any more.
func TestSilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := overPipes(t, lb.DefaultRetryPolicy(), backendtest.Hang(), backendtest.Answer(200, "ok"))
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 10 {
					if status, err := do(t, c, newRequest(t.Context(), t, "GET", ""), retryable); status != 200 {
						t.Errorf("status %d, error %v", status, err)
					}
				}
			})
		}
		wg.Wait()
		if n := c.Balancer.Available(); n != 1 {
			t.Errorf("%d servers available, want 1", n)
		}
	})
}

func TestRealFailures(t *testing.T) {
	t.Run("refused", func(t *testing.T) {
		a := backendtest.Start(t, backendtest.Answer(200, "ok"))
		a.Kill()
		_, err := do(t, overSockets(t, lb.RetryPolicy{}, a.Addr), newRequest(t.Context(), t, "POST", "x"), lb.Call{})
		if err == nil || err.Kind != lb.Connect {
			t.Errorf("error %v", err)
		}
	})
	t.Run("certificate of a stranger", func(t *testing.T) {
		stranger := httptest.NewUnstartedServer(backendtest.Answer(200, "ok"))
		stranger.Config.ErrorLog = log.New(io.Discard, "", 0)
		stranger.StartTLS()
		defer stranger.Close()
		good := backendtest.Start(t, backendtest.Answer(200, "ok"))
		c := overSockets(t, lb.DefaultRetryPolicy(), stranger.URL, good.Addr)
		if status, err := do(t, c, newRequest(t.Context(), t, "POST", "x"), lb.Call{}); status != 200 {
			t.Errorf("error %v, want the next server to answer", err)
		}
	})
	t.Run("no TLS at all", func(t *testing.T) {
		plain := backendtest.Start(t, backendtest.Answer(200, "ok"))
		good := backendtest.Start(t, backendtest.Answer(200, "ok"))
		c := overSockets(t, lb.DefaultRetryPolicy(), "https://"+plain.Addr, good.Addr)
		if status, err := do(t, c, newRequest(t.Context(), t, "POST", "x"), lb.Call{}); status != 200 {
			t.Errorf("error %v, want the next server to answer", err)
		}
	})
	t.Run("TLS handshake without an answer", func(t *testing.T) {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		good := backendtest.Start(t, backendtest.Answer(200, "ok"))
		c := overSockets(t, lb.DefaultRetryPolicy(), "https://"+l.Addr().String(), good.Addr)
		c.Transport.(*http.Transport).TLSHandshakeTimeout = 50 * time.Millisecond
		if status, err := do(t, c, newRequest(t.Context(), t, "POST", "x"), lb.Call{}); status != 200 {
			t.Errorf("error %v, want the next server to answer", err)
		}
	})
	t.Run("C153 IPv6", func(t *testing.T) {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp6", "[::1]:0")
		if err != nil {
			t.Skip("no IPv6 here:", err)
		}
		host := make(chan string, 1)
		s := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { host <- r.Host })}}
		s.Start()
		defer s.Close()
		c := overSockets(t, lb.RetryPolicy{}, l.Addr().String())
		if status, err := do(t, c, newRequest(t.Context(), t, "GET", ""), lb.Call{}); status != 200 {
			t.Fatal(err)
		}
		if got := <-host; got != l.Addr().String() {
			t.Errorf("host %s, want %s", got, l.Addr())
		}
	})
	t.Run("client goes away", func(t *testing.T) {
		a := backendtest.Start(t, backendtest.Hang())
		c := overSockets(t, lb.RetryPolicy{MaxNext: 3}, a.Addr)
		ctx, cancel := contextWithTimeout(t, time.Hour)
		time.AfterFunc(20*time.Millisecond, cancel)
		_, err := do(t, c, newRequest(ctx, t, "GET", ""), retryable)
		if err == nil || err.Kind != lb.Cancelled || a.Requests() > 1 {
			t.Errorf("error %v after %d requests", err, a.Requests())
		}
		if n := c.Balancer.Servers()[0].Stats().SuccessiveFailures(); n != 0 {
			t.Errorf("%d failures, want 0", n)
		}
	})
}

func TestNotSent(t *testing.T) {
	if lb.NotSent(nil) != nil {
		t.Error("no error became one")
	}
	cause := errors.New("pool is exhausted")
	if err := lb.NotSent(cause); !errors.Is(err, cause) || err.Error() != cause.Error() {
		t.Errorf("marked error %v", err)
	}
}
