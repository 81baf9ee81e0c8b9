package h2client

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/gozer-gateway/gozer/internal/http1"
)

// server is one host:port with its connections and who waits for a place on one. The
// transport's mu guards it.
type server struct {
	origin  origin
	conns   []*conn
	waiters []*waiter // the first has waited longest
	dialing int
	cancel  context.CancelFunc // of what is being dialed, nil if nothing is
}

// conn is one connection.
type conn struct {
	http     *http.ClientConn
	socket   *socket
	born     time.Time
	server   *server
	inFlight int  // streams; guarded by the transport's mu
	used     bool // by an earlier request; guarded by the transport's mu
}

// reserve takes a stream. A connection is useless if it has none to give although none is
// open; one that has ended meanwhile counts as ended.
func (c *conn) reserve() (ok, useless bool) {
	switch {
	case c.http.Reserve() == nil:
		return true, false
	case c.inFlight > 0 || c.http.InFlight() > 0:
		return false, false
	}
	ok = c.http.Reserve() == nil
	return ok, !ok
}

func (c *conn) close() { _ = c.http.Close() }

// waiter is a request that needs a place. It gets one result.
type waiter struct{ result chan place }

// place is a stream on a connection, or why there is none.
type place struct {
	conn *conn
	used bool // the connection has served before
	err  error
}

// acquire finds a place for a request, on a new connection if the others are full.
func (t *Transport) acquire(ctx context.Context, o origin) (place, error) {
	s, w, got := t.enter(o)
	if w == nil {
		return got, nil
	}
	timer, look := time.NewTimer(t.settings.AcquireTimeout), time.NewTicker(lookAgain)
	defer timer.Stop()
	defer look.Stop()
	for {
		select {
		case got = <-w.result:
			return got, got.err
		case <-look.C:
			t.look(s)
		case <-ctx.Done():
			cause := context.Cause(ctx)
			if t.connecting(s) {
				return t.leave(s, w, unsent(cause))
			}
			return t.leave(s, w, http1.Unasked(cause))
		case <-timer.C:
			if !t.connecting(s) {
				return t.leave(s, w, http1.ErrPoolExhausted)
			}
			timer.Reset(t.settings.AcquireTimeout) // connecting has limits of its own
		}
	}
}

// enter gives a place at once or queues.
func (t *Transport) enter(o origin) (*server, *waiter, place) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.servers[o]
	if s == nil {
		s = &server{origin: o}
		t.servers[o] = s
	}
	if len(s.waiters) == 0 {
		if got, ok := t.pick(s); ok {
			return s, nil, got
		}
	}
	w := &waiter{make(chan place, 1)}
	s.waiters = append(s.waiters, w)
	t.waiting.Add(1) // before looking once more: changes are heard of from here on
	t.serve(s)
	return s, w, place{}
}

// leave gives up waiting. A place that has come meanwhile is given back.
func (t *Transport) leave(s *server, w *waiter, err error) (place, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := slices.Index(s.waiters, w); n >= 0 {
		s.waiters = slices.Delete(s.waiters, n, n+1)
		t.waiting.Add(-1)
	} else if got := <-w.result; got.err == nil {
		got.conn.http.Release()
		got.conn.inFlight--
	}
	t.serve(s)
	if len(s.waiters) == 0 && s.cancel != nil {
		s.cancel()
	}
	t.tidy(s)
	return place{}, err
}

func (t *Transport) connecting(s *server) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return s.dialing > 0
}

// pick reserves a stream on the first connection that has room.
func (t *Transport) pick(s *server) (place, bool) {
	for _, c := range slices.Clone(s.conns) {
		switch {
		case c.socket.leaving.Load(), c.used && t.aged(c):
			t.discard(c)
			continue
		case c.inFlight >= t.settings.MaxStreams:
			continue
		}
		ok, useless := c.reserve()
		if ok {
			c.inFlight++
			used := c.used
			c.used = true
			return place{conn: c, used: used}, true
		}
		if useless {
			t.discard(c)
		}
	}
	return place{}, false
}

func (t *Transport) aged(c *conn) bool {
	return t.settings.MaxLifetime > 0 && time.Since(c.born) >= t.settings.MaxLifetime
}

// discard takes a connection out of use: it is closed when its last stream has ended.
func (t *Transport) discard(c *conn) {
	c.server.drop(c)
	if c.inFlight == 0 {
		go c.close()
	}
}

func (s *server) drop(c *conn) {
	if n := slices.Index(s.conns, c); n >= 0 {
		s.conns = slices.Delete(s.conns, n, n+1)
	}
}

// serve gives places to those who wait, and connects for those for whom there is none.
func (t *Transport) serve(s *server) {
	t.fill(s)
	t.dialMore(s)
}

// fill gives the places that there are to those who wait.
func (t *Transport) fill(s *server) {
	for len(s.waiters) > 0 {
		got, ok := t.pick(s)
		if !ok {
			return
		}
		t.tell(s, got)
	}
}

// tell ends the wait of the first in the queue.
func (t *Transport) tell(s *server, p place) {
	s.waiters[0].result <- p
	s.waiters = slices.Delete(s.waiters, 0, 1)
	t.waiting.Add(-1)
}

// dialMore begins to connect if more wait than the connections to come can take.
func (t *Transport) dialMore(s *server) {
	if len(s.waiters) <= s.dialing*t.settings.MaxStreams || len(s.conns)+s.dialing >= t.settings.MaxConnections {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	if before := s.cancel; before != nil {
		own := cancel
		cancel = func() { before(); own() }
	}
	s.cancel = cancel
	s.dialing++
	go func() {
		c, err := t.open(ctx, s.origin)
		t.opened(s, c, err)
	}()
}

// opened takes in a new connection, or tells those who wait for one that there is none.
func (t *Transport) opened(s *server, c *conn, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.tidy(s)
	if s.dialing--; s.dialing == 0 {
		s.cancel()
		s.cancel = nil
	}
	switch {
	case err == nil:
		t.admit(s, c)
		t.serve(s)
	case errors.Is(err, context.Canceled): // nobody waited any more; perhaps somebody does now
		t.serve(s)
	case len(s.conns) == 0 && s.dialing == 0:
		for len(s.waiters) > 0 {
			t.tell(s, place{err: err})
		}
	default:
		t.fill(s)
	}
}

// admit makes a new connection one of the server's.
func (t *Transport) admit(s *server, c *conn) {
	c.server = s
	s.conns = append(s.conns, c)
	c.http.SetStateHook(func(*http.ClientConn) {
		if t.waiting.Load() > 0 {
			go t.look(c.server) // the hook may be called with mu held
		}
	})
	go t.follow(c)
}

// lookAgain is how often a request that waits looks for room by itself. net/http tells of
// room once it has compared it with what there was when it last told, and so keeps silent
// about a stream that was taken and has ended while it was telling.
const lookAgain = 20 * time.Millisecond

// look gives the room that there may be to those who wait.
func (t *Transport) look(s *server) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.serve(s)
	t.tidy(s)
}

// follow forgets a connection that has ended.
func (t *Transport) follow(c *conn) {
	<-c.socket.gone
	t.mu.Lock()
	defer t.mu.Unlock()
	c.server.drop(c)
	t.serve(c.server)
	t.tidy(c.server)
}

// release ends a request's use of a stream.
func (t *Transport) release(c *conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c.inFlight--
	switch {
	case c.inFlight > 0:
	case t.retired:
		t.discard(c)
	case !slices.Contains(c.server.conns, c):
		go c.close()
	}
	t.serve(c.server)
	t.tidy(c.server)
}

// tidy forgets a server of which nothing is left.
func (t *Transport) tidy(s *server) {
	if len(s.conns) == 0 && len(s.waiters) == 0 && s.dialing == 0 && t.servers[s.origin] == s {
		delete(t.servers, s.origin)
	}
}
