package lb

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// Adopt implements Adopter.
func (f *SubsetFilter) Adopt(previous ListFilter) {
	if old, ok := previous.(*SubsetFilter); ok {
		f.members, f.renewed = old.members, old.renewed
	}
}

// SparesOthers implements Spare: whoever keeps to a part of the servers does so in retries too.
func (f *SubsetFilter) SparesOthers() bool { return false }

// Filter implements ListFilter.
func (f *SubsetFilter) Filter(servers []*Server, h Health, refresh bool) []*Server {
	base := f.narrow(servers, h)
	byID := make(map[string]*Server, len(base))
	for _, s := range base {
		byID[s.id()] = s
	}
	if refresh {
		f.renew(base, byID, h)
	}
	part := make([]*Server, 0, len(f.members))
	for _, id := range f.members {
		if s := byID[id]; s != nil {
			part = append(part, s)
		}
	}
	return part
}

// renew chooses the members anew (ribbon.md 5.5).
func (f *SubsetFilter) renew(base []*Server, byID map[string]*Server, h Health) {
	size := f.Size
	if size <= 0 {
		size = 20
	}
	free := make(map[string]bool, len(byID)) // ids that may join
	for id, s := range byID {
		if !h.Tripped(s) {
			free[id] = true
		}
	}
	next := f.listedMembers(byID)
	if h.Now.Sub(f.renewed) >= f.Interval {
		f.renewed = h.Now
		next = f.eliminate(next, size, free, h)
	}
	f.members = f.members[:0:0]
	for _, s := range next {
		f.members = append(f.members, s.id())
		delete(free, s.id())
	}
	f.fill(size, base, free)
}

func (f *SubsetFilter) listedMembers(byID map[string]*Server) []*Server {
	var listed []*Server
	for _, id := range f.members {
		if s := byID[id]; s != nil {
			listed = append(listed, s)
		}
	}
	return listed
}

// eliminate lets members go: those above the limits, those that have answered nothing
// since they went into blackout, then the worst of the others. They
// are no longer free to join.
func (f *SubsetFilter) eliminate(members []*Server, size int, free map[string]bool, h Health) []*Server {
	stay := slices.DeleteFunc(members, func(s *Server) bool {
		bad := s.Stats().Active(h.Now) > f.MaxActive || s.Stats().RecentFailures(h.Now) > f.MaxFailures || h.Trip.Blackout(s.Stats().SuccessiveFailures()) > 0
		if bad {
			delete(free, s.id())
		}
		return bad
	})
	worst := slices.Clone(stay)
	slices.SortStableFunc(worst, func(a, b *Server) int { return worstFirst(a, b, h) })
	for _, s := range worst[:f.forced(size, len(f.members)-len(stay), len(stay))] {
		stay = slices.DeleteFunc(stay, s.Same)
		delete(free, s.id())
	}
	return stay
}

// forced is how many of those who may stay go all the same.
func (f *SubsetFilter) forced(size, gone, stay int) int {
	share := f.Eliminate
	if share == 0 {
		share = 0.1
	}
	least := int(float64(size) * max(share, 0))
	switch {
	case size < stay:
		return stay - size
	case least > gone:
		return min(least-gone, stay)
	}
	return 0
}

// worstFirst orders by failures, then by active requests.
func worstFirst(a, b *Server, h Health) int {
	return cmp.Or(
		cmp.Compare(b.Stats().RecentFailures(h.Now), a.Stats().RecentFailures(h.Now)),
		cmp.Compare(b.Stats().Active(h.Now), a.Stats().Active(h.Now)),
	)
}

// fill draws members among the free servers, or among all if those are too few.
func (f *SubsetFilter) fill(size int, base []*Server, free map[string]bool) {
	need := size - len(f.members)
	if need <= 0 {
		return
	}
	taken := make(map[string]bool, len(base))
	for _, id := range f.members {
		taken[id] = true
	}
	var ids []string
	for _, s := range base {
		if id := s.id(); !taken[id] && (free[id] || need > len(free)) {
			taken[id] = true
			ids = append(ids, id)
		}
	}
	rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	f.members = append(f.members, ids[:min(need, len(ids))]...)
}
