package lb

import "time"

// Health judges servers at a moment, under one policy.
type Health struct {
	Now  time.Time
	Trip TripPolicy
}

// Tripped reports that a server is in the blackout after its failures.
func (h Health) Tripped(s *Server) bool { return s.Stats().Tripped(h.Now, h.Trip) }

// Usable reports that a server is alive and not tripped.
func (h Health) Usable(s *Server) bool { return s.Alive() && !h.Tripped(s) }

// Snapshot sums up servers as if they were a zone.
func (h Health) Snapshot(servers []*Server) ZoneSnapshot {
	z := ZoneSnapshot{Instances: len(servers)}
	var load int64
	for _, s := range servers {
		n := s.Stats().Active(h.Now)
		z.Active += n
		if h.Tripped(s) {
			z.Tripped++
		} else {
			load += n
		}
	}
	switch left := z.Instances - z.Tripped; {
	case left > 0:
		z.Load = float64(load) / float64(left)
	case z.Instances > 0:
		z.Load = -1
	}
	return z
}
