package http1

import (
	"context"
	"time"
)

// Shutdown stops accepting, closes idle connections at once and the others
// after their current response, and waits for that. When ctx ends first it
// returns its error and leaves the rest to Close. It does not wait for
// connections that were hijacked.
func (s *Server) Shutdown(ctx context.Context) error {
	if s.stopAccepting() {
		return nil
	}
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

// stopAccepting closes the listeners and tells whether there are no connections.
func (s *Server) stopAccepting() (drained bool) {
	s.init()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing.Store(true)
	s.noteDrained()
	for l := range s.listeners {
		_ = l.Close() // nothing was written to it
		delete(s.listeners, l)
	}
	return len(s.conns)+len(s.expected) == 0
}

// expireIdle ends the waits for requests of which nothing has come. A client
// that has just connected gets a moment, for its request may be on its way.
func (s *Server) expireIdle() {
	moment := s.clock.after(lastMoment)
	for _, c := range s.connections() {
		state := c.reading.state.Load()
		switch waiting, until := unpackVigil(state); {
		case waiting == phaseIdle, waiting == phaseWake, waiting == phaseDoze:
			c.expireReading(state)
		case waiting == phaseNew && (until == 0 || until > moment):
			c.reading.replace(state, phaseNew, moment)
		}
	}
}

// lastMoment is what a client that has just connected gets at Shutdown.
const lastMoment = 500 * time.Millisecond

// firstWait is until when the first byte must have come on a new connection.
func (s *Server) firstWait() uint64 {
	if s.closing.Load() { // it had to be introduced first
		return s.clock.after(lastMoment)
	}
	return s.clock.after(s.HeaderTimeout)
}

// cancelRequests ends the contexts of all requests.
func (s *Server) cancelRequests() {
	for _, c := range append(s.connections(), s.hijacked()...) {
		c.cancel()
	}
}
