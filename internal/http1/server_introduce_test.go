package http1_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/internal/http1"
	"github.com/gozer-gateway/gozer/internal/proxyproto"
)

// behindBalancer serves what comes with a PROXY protocol head.
type behindBalancer struct {
	engine
	config *tls.Config // nil: no TLS
}

func (b behindBalancer) Serve(l net.Listener) error {
	l = proxyproto.Listen(l, proxyproto.Settings{
		Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("192.0.2.0/24")}, HeaderTimeout: 20 * time.Second,
	})
	if b.config != nil {
		l = tls.NewListener(l, b.config)
	}
	return b.engine.Serve(l)
}

const introduction = "PROXY TCP4 203.0.113.9 10.0.0.1 8080 80\r\n"

func whose(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.RemoteAddr+"\n") }

func TestServerBehindABalancer(t *testing.T) {
	h := http.HandlerFunc(whose)
	for name, s := range map[string]engine{"http1": &http1.Server{Handler: h}, "net/http": &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}} {
		t.Run(name, func(t *testing.T) {
			addr := serving(t, behindBalancer{engine: s})
			c := dialRaw(t, addr)
			for _, piece := range strings.SplitAfter(introduction+get, " ") {
				c.send(piece)
			}
			c.until("203.0.113.9:8080\n")
			c.send(lastGet)
			if got := c.rest(); !strings.HasSuffix(got, "203.0.113.9:8080\n") {
				t.Errorf("received %q", got)
			}
			exchangeNothing(t, addr, "GET / HTTP/1.1\r\nHost: g.test\r\n\r\n")
		})
	}
}

// exchangeNothing wants the end of the connection instead of an answer.
func exchangeNothing(t *testing.T, addr, text string) {
	t.Helper()
	c := dialRaw(t, addr)
	c.send(text)
	c.closed()
}

func TestServerUsesTheSocketBehindABalancer(t *testing.T) {
	type seen struct {
		conn     net.Conn
		released chan struct{}
	}
	taken := make(chan seen)
	addr := serving(t, behindBalancer{engine: &http1.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
		}
		s := seen{conn, make(chan struct{})}
		taken <- s
		<-s.released
		_ = conn.Close()
	})}})
	c := dialRaw(t, addr)
	c.send(introduction + get)
	s := <-taken
	if _, plain := s.conn.(*net.TCPConn); !plain {
		t.Errorf("served is a %T", s.conn)
	}
	close(s.released)
	c.closed()
}

func TestServerTLSBehindABalancer(t *testing.T) {
	addr := serving(t, behindBalancer{&http1.Server{Handler: http.HandlerFunc(whose)}, certified(t)})
	c := dialRaw(t, addr)
	c.send(introduction)
	conn := tls.Client(c.conn, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // a test's
	if _, err := io.WriteString(conn, lastGet); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(conn)
	if err != nil || !strings.HasSuffix(string(got), "203.0.113.9:8080\n") {
		t.Errorf("received %q, %v", got, err)
	}
}

func TestServerCountsTheRealClients(t *testing.T) {
	var count http1.ServerCount
	addr := serving(t, behindBalancer{engine: &http1.Server{MaxConnectionsPerClient: 1, Handler: http.HandlerFunc(whose), Count: &count}})
	c := dialRaw(t, addr)
	c.send(introduction + get)
	c.until("203.0.113.9:8080\n")
	if got := exchange(t, addr, introduction); statuses(got) != "503" {
		t.Errorf("C258 another connection of the same client: %q", got)
	}
	if all, ofClient := count.TurnedAway.Load(), count.TurnedAwayOfClient.Load(); all != 0 || ofClient != 1 {
		t.Errorf("%d turned away, and %d of a client", all, ofClient)
	}
	if got := exchange(t, addr, "PROXY TCP4 203.0.113.10 10.0.0.1 8080 80\r\n"+lastGet); statuses(got) != "200" {
		t.Errorf("another client: %q", got)
	}
	c.send(lastGet)
	c.rest()
	eventually(t, func() bool {
		c := dialRaw(t, addr)
		_, _ = io.WriteString(c.conn, introduction+lastGet)
		got, _ := io.ReadAll(c.conn)
		return statuses(string(got)) == "200"
	})
}

func TestServerCountsTheUnknown(t *testing.T) {
	addr := serving(t, behindBalancer{engine: &http1.Server{MaxConnections: 1, Handler: http.HandlerFunc(whose)}})
	silent := dialRaw(t, addr)
	eventually(t, func() bool {
		c := dialRaw(t, addr)
		_, _ = io.WriteString(c.conn, introduction+lastGet)
		got, _ := io.ReadAll(c.conn)
		return len(got) == 0
	})
	silent.send(introduction + lastGet)
	if got := silent.rest(); statuses(got) != "200" {
		t.Errorf("the first: %q", got)
	}
}

func TestShutdownWaitsForTheUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &http1.Server{Handler: http.HandlerFunc(whose)}
		conn := pipeTo(t, behindBalancer{engine: s})
		sendTo(t, conn, "PROXY TCP4 ")
		brief, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Shutdown(brief); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Shutdown does not wait: %v", err)
		}
		done := make(chan error, 1)
		go func() { done <- s.Shutdown(t.Context()) }()
		sendTo(t, conn, "203.0.113.9 10.0.0.1 8080 80\r\n")
		sendTo(t, conn, get)
		if got, err := io.ReadAll(conn); statuses(string(got)) != "200" || err != nil {
			t.Errorf("received %q, %v", got, err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestCloseEndsTheUnknown(t *testing.T) {
	s := &http1.Server{Handler: http.HandlerFunc(whose)}
	addr := serving(t, behindBalancer{engine: s})
	c, secure := dialRaw(t, addr), dialRaw(t, serving(t, behindBalancer{s, certified(t)}))
	for _, c := range []*rawConn{c, secure} {
		c.send("PROXY ")
	}
	_ = s.Close()
	for _, c := range []*rawConn{c, secure} {
		if _, err := c.conn.Read(make([]byte, 1)); err == nil || isTimeout(err) {
			t.Errorf("it is still open: %v", err)
		}
	}
}

func TestServerHandsOverTheAnnouncedAddress(t *testing.T) {
	const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	seen := make(chan string, 1)
	s := &http1.Server{Handler: http.HandlerFunc(whose), Preface: func(conn net.Conn, received []byte) {
		rest := make([]byte, 4)
		_, err := io.ReadFull(io.MultiReader(strings.NewReader(strings.TrimPrefix(string(received), preface)), conn), rest)
		if err != nil || string(rest) != "more" {
			t.Errorf("behind the preface is %q, %v", rest, err)
		}
		seen <- conn.RemoteAddr().String()
	}}
	c := dialRaw(t, serving(t, behindBalancer{engine: s}))
	c.send(introduction + preface + "more")
	if got := <-seen; got != "203.0.113.9:8080" {
		t.Errorf("a connection of %s", got)
	}
}
