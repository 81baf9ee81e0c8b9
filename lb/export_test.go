package lb

// Sums are the cumulative weights of a balancer's picker, nil if it has none.
func Sums(b *Balancer) []float64 {
	if p, ok := b.current().picker.(*sumsPicker); ok {
		return p.sums
	}
	return nil
}

// AtSum is the server that a draw falls on.
func AtSum(b *Balancer, r float64) *Server { return b.current().picker.(*sumsPicker).at(r) }

// AvailableZones are the zones that snapshots leave.
func AvailableZones(snapshots []ZoneSnapshot, p ZonePolicy) []string {
	p = p.withDefaults()
	open := availableZones(snapshots, p)
	if p.Original {
		open = originalZones(snapshots, p)
	}
	var names []string
	for i, s := range snapshots {
		if open&(1<<i) != 0 {
			names = append(names, s.Zone)
		}
	}
	return names
}

// DrawZone is the zone that a draw of k out of all instances falls on.
func DrawZone(snapshots []ZoneSnapshot, k int) string {
	return snapshots[drawZone(snapshots, 1<<len(snapshots)-1, func(int) int { return k - 1 })].Zone
}

// RingPoint is the server at or behind a place on the ring of servers, as found with the
// index and as found by looking at every point.
func RingPoint(servers []*Server, hash uint64) (found, want *Server) {
	r := newRing(servers)
	nearest := ^uint64(0)
	for _, p := range r.points {
		if d := p.hash - hash; d <= nearest {
			nearest, want = d, p.server
		}
	}
	return r.points[r.after(hash)].server, want
}
