// Package backendtest is an upstream that tests can script, kill, freeze and
// revive: an HTTP server on a real loopback socket, because refused and silent
// sockets are what a gateway has to survive.
package backendtest

import (
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
)

// Backend is one upstream server. It keeps its address through Kill and Revive, and
// nobody else gets it in between.
// All methods may be called from any goroutine.
type Backend struct {
	// Addr is the host and port, such as "127.0.0.1:24817".
	Addr string

	tb          testing.TB
	handler     atomic.Pointer[http.Handler]
	gate        *gate
	home        home
	requests    atomic.Int64
	connections atomic.Int64

	mu   sync.Mutex
	life *life // guarded by mu; nil while dead
}

// Start serves h on a free port of 127.0.0.1 until the test ends.
func Start(tb testing.TB, h http.Handler) *Backend {
	tb.Helper()
	l, err := listenAnywhere()
	if err != nil {
		tb.Fatal(err)
	}
	home, err := homeOf(l)
	if err != nil {
		l.Close()
		tb.Fatal(err)
	}
	tb.Cleanup(home.leave)
	b := &Backend{Addr: l.Addr().String(), tb: tb, gate: newGate(), home: home}
	b.Use(h)
	tb.Cleanup(b.gate.open)
	b.life = b.serve(l)
	return b
}

// URL is the base URL, without a slash at the end.
func (b *Backend) URL() string { return "http://" + b.Addr }

// Use answers requests that start from now on with h.
func (b *Backend) Use(h http.Handler) { b.handler.Store(&h) }

// Requests is the number of request heads read since Start. A frozen backend reads none.
func (b *Backend) Requests() int64 { return b.requests.Load() }

// Connections is the number of connections accepted since Start.
func (b *Backend) Connections() int64 { return b.connections.Load() }

// Kill ends the backend as an orderly process ends: new connections are refused,
// requests in flight are finished, connections are closed behind their answer.
// What idles is closed after a moment, and then Kill returns, however long a
// handler may still run. A connection that the kernel has accepted and the
// backend has not yet seen is reset.
func (b *Backend) Kill() {
	if l := b.endLife(); l != nil {
		l.drain()
	}
}

// Crash refuses new connections and cuts the open ones in the middle of whatever
// they carry. It also ends a freeze.
func (b *Backend) Crash() {
	if l := b.endLife(); l != nil {
		l.cut()
	}
	b.gate.open()
}

// Freeze stops reading and writing on every connection, now and in future, as a
// stopped process does: the kernel still completes handshakes and takes bytes.
func (b *Backend) Freeze() { b.gate.shut() }

// Revive undoes Freeze, Kill and Crash on the same address. What arrived while
// frozen is answered now.
func (b *Backend) Revive() {
	b.tb.Helper()
	b.gate.open()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.life != nil {
		return
	}
	l, err := b.home.listen(b.Addr)
	if err != nil {
		b.tb.Errorf("backendtest: reviving %s: %v", b.Addr, err)
		return
	}
	b.life = b.serve(l)
}

func (b *Backend) endLife() *life {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.life
	b.life = nil
	return l
}

func (b *Backend) serve(l net.Listener) *life {
	f := startLife(&listener{Listener: l, gate: b.gate, accepted: &b.connections, home: b.home}, b)
	b.tb.Cleanup(func() {
		f.cut()
		b.gate.open()
		await(farewell, f.allClosed)
	})
	return f
}

// ServeHTTP counts the request and answers it with the handler in use.
func (b *Backend) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.requests.Add(1)
	(*b.handler.Load()).ServeHTTP(w, r)
}
