package http1

import (
	"testing"
	"time"
)

// A place that comes in the moment in which nobody wants it any more goes to the
// next, and back in the end.
func TestPlaceThatComesTooLate(t *testing.T) {
	p := newPool(TransportSettings{MaxTotal: 1, MaxPerHost: 1, IdleTimeout: time.Hour})
	p.mu.Lock()
	h := p.hostOf(origin{"http", "a:1"})
	if p.admit(h) != nil {
		t.Fatal("no place in an empty pool")
	}
	late, next := p.admit(h), p.admit(h)
	p.mu.Unlock()
	p.release(h, nil)
	<-late.granted
	p.abandon(late)
	<-next.granted
	p.release(h, nil)
	if p.busy != 0 || h.busy != 0 || len(p.hosts) != 0 {
		t.Errorf("%d places taken, %d at the host, %d hosts; want none", p.busy, h.busy, len(p.hosts))
	}
}

// Waiting for a place in all keeps the place at the host no longer than needed.
func TestWaitersOfTwoHosts(t *testing.T) {
	p := newPool(TransportSettings{MaxTotal: 1, MaxPerHost: 1, IdleTimeout: time.Hour})
	p.mu.Lock()
	a, b := p.hostOf(origin{"http", "a:1"}), p.hostOf(origin{"http", "b:1"})
	p.admit(a)
	first, second, third := p.admit(b), p.admit(b), p.admit(a)
	p.mu.Unlock()
	p.abandon(first)
	p.release(a, nil)
	<-second.granted
	p.release(b, nil)
	<-third.granted
	p.release(a, nil)
	if p.busy != 0 || len(p.hosts) != 0 {
		t.Errorf("%d places taken, %d hosts; want none", p.busy, len(p.hosts))
	}
}
