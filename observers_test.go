package gozer_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/filters"
)

// ledger is an observer that writes down what it is told.
type ledger struct {
	patience time.Duration // it looks after that

	mu    sync.Mutex
	begun int
	ended []seenRequest
}

type seenRequest struct {
	Route, Service string
	Status         int
	In, Out        int64
	Attempts       string
	Tunnel         bool
	took           filters.Account
}

func (l *ledger) Begin(*filters.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun++
}

func (l *ledger) End(c *filters.Context) {
	if l.patience > 0 {
		<-time.After(l.patience)
	}
	a := c.Account()
	s := seenRequest{Service: c.ServiceID, Status: c.Status(), In: a.BytesIn, Out: a.BytesOut, Tunnel: a.Tunnel > 0, took: a}
	if c.Route != nil {
		s.Route = c.Route.ID
	}
	for _, try := range a.Attempts {
		s.Attempts += fmt.Sprintf("%d%s ", try.Status, try.Cause)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = append(l.ended, s)
}

// wait returns the requests that have ended once there are n.
func (l *ledger) wait(t *testing.T, n int) []seenRequest {
	t.Helper()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for limit := time.After(20 * time.Second); ; {
		l.mu.Lock()
		ended := l.ended
		l.mu.Unlock()
		if len(ended) >= n {
			return ended
		}
		select {
		case <-look.C:
		case <-limit:
			t.Fatalf("only %d requests have ended", len(ended))
		}
	}
}

// observed is the address of a gateway on sockets whose upstream echoes bodies,
// sends /large, switches protocols at /switch.
func observed(t *testing.T, engine string, l *ledger) string {
	t.Helper()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/large"):
			w.Header().Set("Content-Length", "3000000")
			_, _ = w.Write(make([]byte, 3_000_000))
		case r.Header.Get("Upgrade") != "":
			conn, rw, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return
			}
			defer conn.Close()
			_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
			_, _ = io.CopyN(conn, rw, 5)
			_, _ = io.WriteString(conn, "bye")
		default:
			_, _ = io.Copy(w, r.Body)
		}
	}))
	t.Cleanup(upstream.Close)
	address := upstream.Listener.Addr().String()
	front := loopback(t)
	listen := gozer.WithListen(func(context.Context, string) (net.Listener, error) { return front, nil })
	yaml := patient + "server.http1.engine: " + engine + "\nmanagement.server.port: -1\nzuul.routes:\n  users: /users/**\n  moved: /moved/**\n  site: {path: /site/**, url: 'http://" + address + "'}\n" +
		"users.ribbon.listOfServers: " + address + "\nmoved.ribbon: {listOfServers: '127.0.0.1:1," + address + "', NFLoadBalancerRuleClassName: RoundRobinRule}\n"
	r := run(t, newGateway(t, yaml, listen, gozer.WithObserver(l)))
	t.Cleanup(func() {
		r.stop()
		if err := <-r.done; err != nil {
			t.Error(err)
		}
	})
	return front.Addr().String()
}

// raw sends a request and reads until the gateway closes.
func raw(t *testing.T, addr, text string) string {
	t.Helper()
	conn := connect(t, addr)
	defer conn.Close()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(bufio.NewReader(conn))
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

// What one observer takes its time for is not what the next one sees.
func TestObserversAreToldOfTheSameTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := &ledger{patience: time.Second}, &ledger{}
		yaml := "zuul.routes.a: {path: /**, url: 'forward:/local'}\nmanagement.server.port: -1\n"
		g := newGateway(t, yaml, gozer.WithObserver(first, second))
		g.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/x", http.NoBody))
		one, two := first.wait(t, 1)[0].took, second.wait(t, 1)[0].took
		if one.Took != two.Took || one.Took >= time.Second {
			t.Errorf("%v and %v", one.Took, two.Took)
		}
	})
}

func TestObserversAreToldOfEveryRequest(t *testing.T) {
	const end = " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
	for _, engine := range []string{"native", "nethttp"} {
		for name, row := range map[string]struct {
			request string
			want    seenRequest
		}{
			"no body":          {"GET /users/1" + end + "\r\n", seenRequest{Route: "users", Service: "users", Status: 200, Attempts: "200 "}},
			"body both ways":   {"POST /users/1" + end + "Content-Length: 5\r\n\r\nhello", seenRequest{Route: "users", Service: "users", Status: 200, In: 5, Out: 5, Attempts: "200 "}},
			"chunked":          {"POST /users/1" + end + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", seenRequest{Route: "users", Service: "users", Status: 200, In: 5, Out: 5, Attempts: "200 "}},
			"from the sockets": {"GET /users/large" + end + "\r\n", seenRequest{Route: "users", Service: "users", Status: 200, Out: 3_000_000, Attempts: "200 "}},
			"retried":          {"GET /moved/1" + end + "\r\n", seenRequest{Route: "moved", Service: "moved", Status: 200, Attempts: "0connect 200 "}},
			"URL route":        {"GET /site/large" + end + "\r\n", seenRequest{Route: "site", Status: 200, Out: 3_000_000, Attempts: "200 "}},
			"switched": {
				"GET /users/switch HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello",
				seenRequest{Route: "users", Service: "users", Status: 101, In: 5, Out: 8, Attempts: "101 ", Tunnel: true},
			},
			"no route":    {"GET /nowhere" + end + "\r\n", seenRequest{Status: 404}},
			"unsafe path": {"GET /users/%00" + end + "\r\n", seenRequest{Status: 400}},
		} {
			t.Run(engine+" "+name, func(t *testing.T) {
				var l ledger
				addr := observed(t, engine, &l)
				for range 2 { // the second finds the memory of the first
					raw(t, addr, row.request)
				}
				for _, got := range l.wait(t, 2) {
					if row.want.Status >= 400 || name == "retried" {
						got.Out = 0 // an error body; the connection that is refused comes first in only one of them
					}
					if name == "retried" && got.Attempts == "200 " {
						continue
					}
					if diff := cmp.Diff(row.want, got, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".took" }, cmp.Ignore())); diff != "" {
						t.Error(diff)
					}
					if a := got.took; a.Pre < 0 || a.Route < 0 || a.Post < 0 || a.Pre+a.Route+a.Post+a.Error > a.Took || a.Took <= 0 {
						t.Errorf("times %+v", a)
					}
				}
				if l.begun != 2 {
					t.Errorf("%d have begun", l.begun)
				}
			})
		}
	}
}

func TestPhaseTimes(t *testing.T) {
	var l ledger
	pause := func(name string, phase filters.Phase, order int) filters.Spec {
		return filters.Func(name, phase, order, func(*filters.Context) error {
			<-time.After(3 * time.Millisecond)
			return nil
		})
	}
	g := newGateway(t, "gateway.via: false\n", gozer.WithObserver(&l), gozer.WithFilters(
		pause("A", filters.Pre, 1), pause("B", filters.Route, 1), pause("C", filters.Post, 1), pause("D", filters.Error, -2), refuse("E", filters.Post, 2)))
	get(t, g, "/")
	a := l.wait(t, 1)[0].took
	const least = 3 * time.Millisecond
	if a.Pre < least || a.Route < least || a.Post < least || a.Error < least {
		t.Errorf("%+v", a)
	}
}

func refuse(name string, phase filters.Phase, order int) filters.Spec {
	return filters.Func(name, phase, order, func(*filters.Context) error { return filters.Refuse(http.StatusTeapot, "no") })
}

func TestCloneKeepsTheAccount(t *testing.T) {
	var clone *filters.Context
	g := newGateway(t, usersAt("", "one:80"), gozer.WithFilters(filters.Func("Keep", filters.Post, 2000, func(c *filters.Context) error {
		clone = c.Clone()
		return nil
	})))
	g.SetTransport("users", roundTrip(func(r *http.Request) (*http.Response, error) {
		_, _ = io.Copy(io.Discard, r.Body)
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("answer")), ContentLength: 6, Request: r}, nil
	}))
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/users/1", strings.NewReader("ask"))
	g.ServeHTTP(httptest.NewRecorder(), r)
	get(t, g, "/users/2")
	r = httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/users/1", strings.NewReader("ask"))
	g.ServeHTTP(httptest.NewRecorder(), r)
	kept := clone
	get(t, g, "/users/2")
	if a := kept.Account(); a.BytesIn != 3 || a.BytesOut != 6 || len(a.Attempts) != 1 || a.Attempts[0].Server != "one:80" || kept.Status() != http.StatusOK {
		t.Errorf("%+v, status %d", a, kept.Status())
	}
}

func TestAccountKeepsSomeAttempts(t *testing.T) {
	var l ledger
	g := newGateway(t, "gateway.via: false\n", gozer.WithObserver(&l), gozer.WithFilters(filters.Func("Many", filters.Pre, 0, func(c *filters.Context) error {
		for range filters.MaxAttempts + 3 {
			c.Attempted(filters.Attempt{Status: http.StatusOK})
		}
		return nil
	})))
	get(t, g, "/")
	if a := l.wait(t, 1)[0].took; len(a.Attempts) != filters.MaxAttempts || a.Unkept != 3 {
		t.Errorf("%d kept, %d not", len(a.Attempts), a.Unkept)
	}
}
