package http1

import (
	"context"
	"time"
)

// Drain stops accepting and makes every further response the last one of its
// connection. Connections without a request stay open until their next one, so that
// a request which is on its way does not find them closed. Shutdown or Close has to
// follow.
func (s *Server) Drain() { s.stopAccepting() }

// Shutdown stops accepting, closes idle connections at once and the others
// after their current response, and waits for that. When ctx ends first it
// returns its error and leaves the rest to Close. It does not wait for
// connections that were hijacked.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stopAccepting()
	s.evict.Store(true)
	s.expireIdle()
	select {
	case <-s.drained:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close stops accepting, ends the contexts of all requests and closes all
// connections, hijacked ones excepted. It does not wait for handlers.
func (s *Server) Close() error {
	s.cutting.Store(true)
	s.evict.Store(true)
	s.stopAccepting()
	s.forgetExpected()
	for _, c := range s.connections() {
		c.cutOff()
	}
	for _, c := range s.hijacked() {
		c.cancel()
	}
	return nil
}

// stopAccepting closes the listeners.
func (s *Server) stopAccepting() {
	s.init()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing.Store(true)
	s.noteDrained()
	for l := range s.listeners {
		_ = l.Close() // nothing was written to it
		delete(s.listeners, l)
	}
}

// expireIdle ends the waits for requests of which nothing has come. A client
// that has just connected gets a moment, for its request may be on its way.
func (s *Server) expireIdle() {
	moment := s.clock.after(lastMoment)
	for _, c := range s.connections() {
		state := c.reading.state.Load()
		switch waiting, _ := unpackVigil(state); waiting {
		case phaseIdle, phaseWake, phaseDoze:
			c.expireReading(state)
		case phaseNew:
			c.hurry(state, moment)
		default:
		}
	}
}

// lastMoment is what a client that has just connected gets at Shutdown.
const lastMoment = 500 * time.Millisecond

// startFirstWait begins the wait for the first byte on a new connection. It looks for a
// Shutdown only then: one that comes later finds the wait.
func (c *serverConn) startFirstWait() {
	clock := &c.server.clock
	c.reading.keep(phaseNew, clock.after(c.server.HeaderTimeout))
	if c.server.evict.Load() {
		c.hurry(c.reading.state.Load(), clock.after(lastMoment))
	}
}

// hurry lets a wait for the first byte end at a tick, if it would last longer.
func (c *serverConn) hurry(state, moment uint64) {
	if waiting, until := unpackVigil(state); waiting == phaseNew && (until == 0 || until > moment) {
		c.reading.replace(state, phaseNew, moment)
	}
}

// InFlight counts the open connections, hijacked ones excepted, the requests that
// wait for their response, and those whose response has begun. Connections that
// speak another protocol count, what they carry does not.
func (s *Server) InFlight() (connections, requests, responses int) {
	s.init()
	all := s.connections()
	for _, c := range all {
		switch x := c.current.Load(); {
		case x == nil:
		case x.begun.Load():
			responses++
		default:
			requests++
		}
	}
	return len(all) + s.introducing(), requests, responses
}

// introducing counts the connections that are to be introduced.
func (s *Server) introducing() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.expected)
}

// CutRequests ends the requests whose response has not begun, with their
// connections, and returns their number.
func (s *Server) CutRequests() int { return s.cutThose(false) }

// CutResponses ends the requests whose response has begun, with their connections,
// and the contexts of those that have hijacked theirs. It returns the number of the
// former.
func (s *Server) CutResponses() int {
	n := s.cutThose(true)
	for _, c := range s.hijacked() {
		c.cancel()
	}
	return n
}

func (s *Server) cutThose(begun bool) (cut int) {
	s.init()
	for _, c := range s.connections() {
		if x := c.current.Load(); x != nil && x.begun.Load() == begun {
			c.cutOff()
			cut++
		}
	}
	return cut
}

// cancelRequests ends the contexts of all requests.
func (s *Server) cancelRequests() {
	for _, c := range append(s.connections(), s.hijacked()...) {
		c.cancel()
	}
}
