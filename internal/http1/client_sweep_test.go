package http1

import (
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// idle puts a new connection to o into the pool and returns the server's end.
func idle(t *testing.T, p *pool, o origin) (far net.Conn) {
	t.Helper()
	near, far := net.Pipe()
	t.Cleanup(func() { near.Close(); far.Close() })
	c := newClientConn(near, newBuffers(), time.Now())
	p.mu.Lock()
	h := p.hostOf(o)
	p.admit(h)
	p.mu.Unlock()
	c.began = time.Now()
	c.rest()
	p.release(h, c)
	return far
}

func (p *pool) idling() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, h := range p.hosts {
		n += len(h.idle)
	}
	if n != p.idle {
		return -1
	}
	return n
}

func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestSweeper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(TransportSettings{MaxTotal: 100, MaxPerHost: 100, IdleTimeout: 10 * time.Second})
		defer p.closeIdle()
		var far []net.Conn
		for i := range 40 { // several batches
			far = append(far, idle(t, p, origin{"http", []string{"a:1", "b:1"}[i%2]}))
		}
		pass(5 * time.Second)
		if n := p.idling(); n != 40 {
			t.Fatalf("%d connections after half their time, want 40", n)
		}
		for i := 1; i < 40; i += 4 {
			far[i].Close()
		}
		pass(2 * time.Second)
		if n := p.idling(); n != 30 {
			t.Errorf("%d connections when 10 have been closed, want 30", n)
		}
		pass(5 * time.Second)
		if n := p.idling(); n != 0 || len(p.hosts) != 0 {
			t.Errorf("C125 %d connections at %d hosts after their time, want none", n, len(p.hosts))
		}
		if _, err := far[0].Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("an expired connection is not closed: %v", err)
		}
		idle(t, p, origin{"http", "a:1"})
		pass(12 * time.Second)
		if n := p.idling(); n != 0 {
			t.Errorf("the sweeper does not come again: %d connections", n)
		}
	})
}

// Beyond the bounds of the pool, what has idled at another host makes room.
func TestRoomForIdleConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(TransportSettings{MaxTotal: 2, MaxPerHost: 2, IdleTimeout: time.Minute})
		defer p.closeIdle()
		for _, host := range []string{"a:1", "b:1", "c:1"} {
			idle(t, p, origin{"http", host})
		}
		if n := p.idling(); n != 2 || len(p.hosts) != 2 || p.hosts[origin{"http", "c:1"}] == nil {
			t.Errorf("%d connections at %d hosts, want the last one and one more", n, len(p.hosts))
		}
	})
}

func TestExpiredConnectionIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(TransportSettings{MaxTotal: 2, MaxPerHost: 2, IdleTimeout: 500 * time.Millisecond, MaxLifetime: 800 * time.Millisecond})
		defer p.closeIdle()
		o := origin{"http", "a:1"}
		for _, tt := range []struct {
			age  time.Duration
			want bool
		}{{499 * time.Millisecond, true}, {500 * time.Millisecond, false}} {
			idle(t, p, o)
			<-time.After(tt.age)
			h, c, _, err := p.acquire(t.Context(), o, time.Now())
			if err != nil || (c != nil) != tt.want {
				t.Errorf("after %v: connection %v, %v", tt.age, c != nil, err)
			}
			p.release(h, nil)
		}
	})
}
