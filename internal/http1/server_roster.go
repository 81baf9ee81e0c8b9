package http1

import "slices"

// roster is a list of connections that each know their place in it.
type roster []*serverConn

func (r *roster) add(c *serverConn) {
	c.place = len(*r)
	*r = append(*r, c)
}

func (r *roster) remove(c *serverConn) {
	list := *r
	last := len(list) - 1
	list[c.place] = list[last]
	list[c.place].place = c.place
	list[last] = nil
	*r = list[:last]
}

// admit counts a connection in, unless a limit stands against it.
func (s *Server) admit(c *serverConn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.roomy() && s.enrol(c)
}

// roomy reports whether a further connection may come. It is called with s.mu held.
func (s *Server) roomy() bool {
	if s.cutting.Load() {
		return false
	}
	if s.MaxConnections > 0 && len(s.conns)+len(s.taken)+len(s.expected) >= s.MaxConnections {
		s.Count.turnAway()
		return false
	}
	return true
}

// enrol counts a connection in, unless its client has enough of them. It is called
// with s.mu held.
func (s *Server) enrol(c *serverConn) bool {
	if s.MaxConnectionsPerClient > 0 && c.client.IsValid() {
		if s.perClient[c.client] >= s.MaxConnectionsPerClient {
			s.Count.turnAwayOfClient()
			return false
		}
		s.perClient[c.client]++
	}
	s.conns.add(c)
	s.Count.open(1)
	return true
}

// handOver leaves a connection to its handler; its place stays taken.
func (s *Server) handOver(c *serverConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns.remove(c)
	s.taken.add(c)
	s.noteDrained()
}

// dismiss counts a connection out that admit has counted in.
func (s *Server) dismiss(c *serverConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.Count.open(-1) // whoever sees it finds the place free
	if s.MaxConnectionsPerClient > 0 && c.client.IsValid() {
		if s.perClient[c.client]--; s.perClient[c.client] == 0 {
			delete(s.perClient, c.client)
		}
	}
	if c.taken {
		s.taken.remove(c)
		return
	}
	s.conns.remove(c)
	s.noteDrained()
}

// noteDrained ends Shutdown and the sweeper when the last connection is gone.
func (s *Server) noteDrained() {
	if len(s.conns)+len(s.expected) > 0 || s.accepting > 0 || !s.closing.Load() {
		return
	}
	select {
	case <-s.drained:
	default:
		close(s.drained)
	}
}

func (s *Server) connections() []*serverConn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.conns)
}

func (s *Server) hijacked() []*serverConn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.taken)
}
