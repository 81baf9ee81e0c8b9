package gozer_test

import (
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// serveH2C starts a server that speaks nothing but HTTP/2 without TLS, and says which
// protocol it was spoken to in. It counts its connections.
func serveH2C(t *testing.T) (addr string, connections *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // ends with the test
	if err != nil {
		t.Fatal(err)
	}
	connections = new(atomic.Int64)
	s := &http.Server{
		Protocols: new(http.Protocols),
		Handler:   http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) }),
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				connections.Add(1)
			}
		},
	}
	s.Protocols.SetUnencryptedHTTP2(true)
	go s.Serve(l) //nolint:errcheck // ends with the test
	t.Cleanup(func() { s.Close() })
	return l.Addr().String(), connections
}

// The protocol is that of the service or the URL route, then that of all. Pools stay as
// long as their settings do.
func TestProtocolsOfUpstreams(t *testing.T) {
	h2, opened := serveH2C(t)
	h1 := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Proto) }))
	routes := patient + `
zuul.routes:
  modern: /modern/**
  old: /old/**
  direct: {path: /direct/**, url: "http://` + h2 + `"}
  plain: {path: /plain/**, url: "http://` + h1.Addr + `"}
modern.ribbon.listOfServers: ` + h2 + `
old.ribbon.listOfServers: ` + h1.Addr + "\n"
	expect := func(g http.Handler, want map[string]string) {
		t.Helper()
		for path, proto := range want {
			if got := get(t, g, path); got.Body.String() != proto {
				t.Errorf("%s: %d %q, want %s", path, got.Code, got.Body, proto)
			}
		}
	}
	all := map[string]string{"/modern/x": "HTTP/2.0", "/old/x": "HTTP/1.1", "/direct/x": "HTTP/2.0", "/plain/x": "HTTP/1.1"}
	g := newGateway(t, routes+"gateway.upstream: {modern.protocol: h2c, direct.protocol: h2c}")
	t.Cleanup(g.CloseIdle)
	expect(g, all)
	if n := opened.Load(); n != 2 {
		t.Errorf("%d connections, want one of the service and one of the route", n)
	}
	reload(t, g, routes+`gateway.upstream: {"*": {protocol: h2c}, old.protocol: http1, plain.protocol: http1}`)
	expect(g, all)
	if n := opened.Load(); n > 3 {
		t.Errorf("%d connections; the pool of the service was not kept", n)
	}
	reload(t, g, routes+`gateway.upstream: {"*": {protocol: h2c, http2.max-streams: 7}, old.protocol: http1, plain.protocol: http1}`)
	before := opened.Load()
	expect(g, all)
	if n := opened.Load(); n != before+2 {
		t.Errorf("%d connections after new limits, want two more than %d", n, before)
	}
	if got := get(t, g, "/old/x"); got.Code != http.StatusOK {
		t.Errorf("%d", got.Code)
	}
	wrong := newGateway(t, routes+"gateway.upstream.modern.protocol: h2")
	t.Cleanup(wrong.CloseIdle)
	if got := get(t, wrong, "/modern/x"); got.Code != http.StatusBadGateway {
		t.Errorf("h2 to a server without TLS: %d", got.Code)
	}
}

func TestUpstreamFor(t *testing.T) {
	c := parse(t, `gateway.upstream:
  books.http2.max-streams: 5
  books.protocol: h2
  "*": {protocol: h2c, http2.max-streams: 3, http2.ping-interval: 0}`)
	if got := c.UpstreamFor("books"); got.Protocol != config.H2 || got.MaxStreams != 5 || got.MaxConnections != 8 || got.PingInterval != 0 {
		t.Errorf("books: %+v", got)
	}
	if got := c.UpstreamFor("other"); got.Protocol != config.H2C || got.MaxStreams != 3 {
		t.Errorf("other: %+v", got)
	}
}
