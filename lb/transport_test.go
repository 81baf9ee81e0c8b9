package lb_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/http1"
	"github.com/gozer-gateway/gozer/lb"
)

// usersOnly is a directory of one service.
func usersOnly(c *lb.Command) *lb.Directory {
	return lb.NewDirectory(map[string]*lb.Command{"users": c})
}

func get(t *testing.T, c *http.Client, url string) (status int, body string, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

func TestTransportAddresses(t *testing.T) {
	yes, no := true, false
	for _, tc := range []struct {
		name, servers, url string
		secure             *bool
		sent               string // URL and Host that the server sees
	}{
		{"ribbon 104 the balancer names the server", "www.example.com:8080", "http://users/test?abc=xyz", nil, "http://www.example.com:8080/test?abc=xyz www.example.com:8080"},
		{"ribbon 107 an encoded path stays", "www.example.com:8080", "http://users/abc%2Fxyz", nil, "http://www.example.com:8080/abc%2Fxyz www.example.com:8080"},
		{"ribbon 107 no path", "www.example.com:8080", "http://users?foo=bar", nil, "http://www.example.com:8080?foo=bar www.example.com:8080"},
		{"ribbon 153 the scheme of the URL", "myhost:8080", "https://users/", nil, "https://myhost:8080/ myhost:8080"},
		{"ribbon 141 a port that means TLS", "a:8443", "http://users/", nil, "https://a:8443/ a:8443"},
		{"ribbon 140 IsSecure", "a:81", "http://users/", &yes, "https://a:81/ a:81"},
		{"not IsSecure", "a:8443", "http://users/", &no, "http://a:8443/ a:8443"},
		{"the server's own scheme", "http://a:81", "https://users/", nil, "http://a:81/ a:81"},
		{"a port of the URL has no meaning", "a:81", "http://users:8080/x", nil, "http://a:81/x a:81"},
		{"case has no meaning", "a:81", "http://USERS/x", nil, "http://a:81/x a:81"},
		{"IPv6", "[::1]:81", "http://users/x", nil, "http://[::1]:81/x [::1]:81"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			u := &upstreams{answer: always(200, nil)}
			c := &lb.Command{Balancer: newBalancer(t, tc.servers), Transport: u, Secure: lb.SecurePolicy{IsSecure: tc.secure}}
			if _, _, err := get(t, &http.Client{Transport: lb.NewTransport(usersOnly(c), nil)}, tc.url); err != nil {
				t.Fatal(err)
			}
			if got := u.sent[0].URL.String() + " " + u.sent[0].Host; got != tc.sent {
				t.Errorf("sent %s, want %s", got, tc.sent)
			}
		})
	}
}

func TestTransportKeepsAHostOfTheCaller(t *testing.T) {
	u := &upstreams{answer: always(200, nil)}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://users/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "shop.test"
	resp, err := lb.NewTransport(usersOnly(&lb.Command{Balancer: newBalancer(t, "a"), Transport: u}), nil).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if u.sent[0].Host != "shop.test" || resp.Request != req || req.URL.String() != "http://users/" {
		t.Errorf("host %s, request of the response %v", u.sent[0].Host, resp.Request.URL)
	}
}

// S43: what an upstream says to a call on the side is not the client's.
func TestTransportKeepsInterimResponses(t *testing.T) {
	u := roundTripper(func(r *http.Request) (*http.Response, error) {
		http1.SendInterim(r.Context(), http.StatusEarlyHints, http.Header{"Link": {"</a>"}})
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
	})
	ctx := http1.RelayInterim(t.Context(), func(status int, _ http.Header) { t.Errorf("the client gets %d", status) })
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://users/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := lb.NewTransport(usersOnly(&lb.Command{Balancer: newBalancer(t, "a"), Transport: u}), nil).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}

// Ribbon 105 and 106: what names no service goes where it says, if that is allowed at all.
func TestTransportElsewhere(t *testing.T) {
	for name, url := range map[string]string{
		"ribbon 105": "http://localhost:8080/resources/abc%2Fxyz",
		"ribbon 106": "http://us%3Aer:pass@localhost:8080?foo=bar",
	} {
		t.Run(name, func(t *testing.T) {
			direct, balanced := &upstreams{answer: always(200, nil)}, &upstreams{answer: always(200, nil)}
			c := &lb.Command{Balancer: newBalancer(t, "a"), Transport: balanced}
			if _, _, err := get(t, &http.Client{Transport: lb.NewTransport(usersOnly(c), direct)}, url); err != nil {
				t.Fatal(err)
			}
			if len(balanced.sent) != 0 || direct.sent[0].URL.String() != url {
				t.Errorf("sent %v", direct.sent)
			}
			_, _, err := get(t, &http.Client{Transport: lb.NewTransport(usersOnly(c), nil)}, url)
			if e, ok := errors.AsType[*lb.Error](err); !ok || !errors.Is(err, lb.ErrUnknownService) || e.Kind != lb.NoServer {
				t.Errorf("without a way to other hosts: %v", err)
			}
		})
	}
}

func TestTransportRefuses(t *testing.T) {
	for name, url := range map[string]string{"scheme": "ftp://users/", "service": "http://orders/"} {
		t.Run(name, func(t *testing.T) {
			u := &upstreams{answer: always(200, nil)}
			body := &source{Reader: strings.NewReader("x")}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, body)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := lb.NewTransport(usersOnly(&lb.Command{Balancer: newBalancer(t, "a"), Transport: u}), nil).RoundTrip(req)
			if err == nil {
				resp.Body.Close()
			}
			if _, ok := errors.AsType[*lb.Error](err); !ok || len(u.sent) != 0 || !body.closed {
				t.Errorf("error %v, sent %d, body closed %t", err, len(u.sent), body.closed)
			}
		})
	}
}

func TestDirectory(t *testing.T) {
	a, b, c := new(lb.Command), new(lb.Command), new(lb.Command)
	d := lb.NewDirectory(map[string]*lb.Command{"users": a, "Orders": b, "ORDERS": c})
	for service, want := range map[string]*lb.Command{
		"users": a, "USERS": a, "Orders": b, "ORDERS": c, "orders": nil, "user": nil, "": nil,
	} {
		if got := d.Command(service); got != want {
			t.Errorf("%q: %p, want %p", service, got, want)
		}
	}
}

func TestTransportRetries(t *testing.T) {
	for _, tc := range []struct {
		name, method string
		all          bool
		call         *lb.Call
		attempts     int
	}{
		{"GET", "GET", false, nil, 2},
		{"POST", "POST", false, nil, 1},
		{"POST with all operations", "POST", true, nil, 2},
		{"GET that must not be repeated", "GET", false, &lb.Call{}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			u := &upstreams{answer: always(0, errReset)}
			c := &lb.Command{Balancer: newBalancer(t, "a", "b", "c"), Transport: u, Retry: lb.RetryPolicy{MaxNext: 1, AllOperations: tc.all, MaxReplayBytes: 10}}
			ctx := t.Context()
			if tc.call != nil {
				ctx = lb.WithCall(ctx, *tc.call)
			}
			req, err := http.NewRequestWithContext(ctx, tc.method, "http://users/", strings.NewReader("x"))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := lb.NewTransport(usersOnly(c), nil).RoundTrip(req)
			if err == nil {
				resp.Body.Close()
			}
			e, ok := errors.AsType[*lb.Error](err)
			if !ok || len(e.Attempts) != tc.attempts || len(u.sent) != tc.attempts {
				t.Errorf("error %v after %d attempts, want %d", err, len(u.sent), tc.attempts)
			}
			checkCounters(t, c.Balancer, u.count)
		})
	}
}

// The contract of http.RoundTripper: the body is closed, once nobody reads it any more.
func TestTransportClosesTheBody(t *testing.T) {
	for _, tc := range []struct {
		name    string
		ended   bool // the request, before it is sent
		servers []string
		answer  script
	}{
		{"answered", false, []string{"a"}, always(200, nil)},
		{"failed", false, []string{"a"}, always(0, errReset)},
		{"never sent", false, []string{"a"}, always(0, errRefused)},
		{"no server", false, nil, always(200, nil)},
		{"ended before", true, []string{"a"}, always(200, nil)},
		{"repeated", false, []string{"a", "b"}, failFirst(1, errReset)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			body := &source{Reader: strings.NewReader("body")}
			c := &lb.Command{Balancer: newBalancer(t, tc.servers...), Transport: &upstreams{answer: tc.answer}, Retry: lb.RetryPolicy{MaxNext: 1, AllOperations: true, MaxReplayBytes: 10}}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tc.ended {
				cancel()
			}
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://users/", body)
			if err != nil {
				t.Fatal(err)
			}
			if resp, err := lb.NewTransport(usersOnly(c), nil).RoundTrip(req); err == nil {
				resp.Body.Close()
			}
			if !body.closed {
				t.Error("the body was left open")
			}
		})
	}
}

// early answers before it has read the body, and goes on reading.
type early struct{ read chan struct{} }

func (e *early) RoundTrip(r *http.Request) (*http.Response, error) {
	go func() {
		<-e.read
		_, _ = io.Copy(io.Discard, r.Body)
		r.Body.Close()
		e.read <- struct{}{}
	}()
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
}

func TestTransportClosesABodyThatIsStillSent(t *testing.T) {
	e := &early{make(chan struct{})}
	body := &source{Reader: strings.NewReader("body")}
	c := &lb.Command{Balancer: newBalancer(t, "a"), Transport: e}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://users/", body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := lb.NewTransport(usersOnly(c), nil).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body.closed {
		t.Error("the body was closed before it was read")
	}
	e.read <- struct{}{}
	<-e.read
	if !body.closed || body.read != len("body") {
		t.Errorf("%d bytes read, closed %t", body.read, body.closed)
	}
}

// engines are the transports that the gateway itself uses, and net/http's.
func engines(t *testing.T) map[string]http.RoundTripper {
	t.Helper()
	standard := &http.Transport{ResponseHeaderTimeout: 10 * time.Second}
	t.Cleanup(standard.CloseIdleConnections)
	native := http1.NewTransport(http1.TransportSettings{ReadTimeout: 10 * time.Second, ConnectTimeout: 10 * time.Second})
	t.Cleanup(native.CloseIdle)
	return map[string]http.RoundTripper{"net/http": standard, "native": native}
}

// An http.Client over real sockets: servers that die, freeze and come back, redirects,
// bodies, and IPv6.
func TestClientOverSockets(t *testing.T) {
	for name, engine := range engines(t) {
		t.Run(name, func(t *testing.T) {
			a, b := backendtest.Start(t, backendtest.Echo("a")), backendtest.Start(t, backendtest.Echo("b"))
			command := overSockets(t, lb.DefaultRetryPolicy(), a.Addr, b.Addr)
			command.Transport = engine
			client := &http.Client{Transport: lb.NewTransport(usersOnly(command), nil), Timeout: 20 * time.Second}
			send := func(n int) {
				t.Helper()
				for range n {
					if status, _, err := get(t, client, "http://users/path"); status != http.StatusOK {
						t.Errorf("status %d, %v", status, err)
					}
				}
			}
			send(10)
			if a.Requests() != 5 || b.Requests() != 5 {
				t.Errorf("%d and %d requests, want 5 each", a.Requests(), b.Requests())
			}
			a.Kill()
			send(10)
			a.Revive()
			command.Balancer.SetServers(servers(t, a.Addr))
			body := strings.Repeat("x", 100_000)
			resp, err := client.Post("http://users/upload", "text/plain", strings.NewReader(body)) //nolint:noctx // as callers do
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if got := backendtest.ReadEcho(t, resp.Body); got.Host != a.Addr || got.Method != http.MethodPost {
				t.Errorf("echo %+v", got)
			}
		})
	}
}

func servers(t *testing.T, addrs ...string) []lb.Server {
	t.Helper()
	list, err := lb.ParseServers(addrs...)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestClientOverIPv6(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp6", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 here:", err)
	}
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/from" {
			http.Redirect(w, r, "/to", http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, r.Host+r.URL.Path)
	})}}
	s.Start()
	defer s.Close()
	for name, engine := range engines(t) {
		t.Run(name, func(t *testing.T) {
			command := overSockets(t, lb.RetryPolicy{}, l.Addr().String())
			command.Transport = engine
			client := &http.Client{Transport: lb.NewTransport(usersOnly(command), nil)}
			status, body, err := get(t, client, "http://users/from")
			if status != http.StatusOK || body != l.Addr().String()+"/to" {
				t.Errorf("status %d, body %q, %v", status, body, err)
			}
		})
	}
}

// A client that gives up blames nobody, one that runs out of time blames the silent server.
func TestClientGivesUp(t *testing.T) {
	for name, engine := range engines(t) {
		for _, tc := range []struct {
			name     string
			ctx      func(context.Context) (context.Context, context.CancelFunc)
			leaves   bool // as soon as the server has the request
			kind     lb.Kind
			failures int64
		}{
			{"cancelled", context.WithCancel, true, lb.Cancelled, 0},
			{"too late", func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeout(ctx, 3*time.Second) // time enough to begin
			}, false, lb.SocketTimeout, 1},
		} {
			t.Run(name+"/"+tc.name, func(t *testing.T) {
				t.Parallel()
				ctx, cancel := tc.ctx(t.Context())
				defer cancel()
				silent := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if tc.leaves {
						cancel()
					}
					backendtest.Hang().ServeHTTP(w, r)
				}))
				command := overSockets(t, lb.RetryPolicy{MaxNext: 3}, silent.Addr)
				command.Transport = engine
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://users/", http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				resp, err := (&http.Client{Transport: lb.NewTransport(usersOnly(command), nil)}).Do(req)
				if err == nil {
					resp.Body.Close()
				}
				if e, ok := errors.AsType[*lb.Error](err); !ok || e.Kind != tc.kind || len(e.Attempts) != 1 {
					t.Errorf("error %v, want %v", err, tc.kind)
				}
				if n := command.Balancer.Servers()[0].Stats().SuccessiveFailures(); n != tc.failures {
					t.Errorf("%d failures, want %d", n, tc.failures)
				}
			})
		}
	}
}

// Many goroutines share one client while the list changes.
func TestClientIsShared(t *testing.T) {
	a, b := backendtest.Start(t, backendtest.Answer(200, "ok")), backendtest.Start(t, backendtest.Answer(200, "ok"))
	command := overSockets(t, lb.DefaultRetryPolicy(), a.Addr, b.Addr)
	patient := http1.NewTransport(http1.TransportSettings{ReadTimeout: time.Minute, ConnectTimeout: time.Minute})
	t.Cleanup(patient.CloseIdle)
	command.Transport = patient
	client := &http.Client{Transport: lb.NewTransport(usersOnly(command), nil)}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 25 {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://users/", bytes.NewReader([]byte("body")))
				if err != nil {
					t.Error(err)
					return
				}
				resp, err := client.Do(req)
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
	}
	for range 10 {
		command.Balancer.SetServers(servers(t, a.Addr))
		command.Balancer.SetServers(servers(t, b.Addr, a.Addr))
	}
	wg.Wait()
	if n := a.Requests() + b.Requests(); n != 100 {
		t.Errorf("%d requests, want 100", n)
	}
}
