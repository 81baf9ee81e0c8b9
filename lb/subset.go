package lb

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// Adopt implements Adopter.
func (f *SubsetFilter) Adopt(previous ListFilter) {
	if old, ok := previous.(*SubsetFilter); ok {
		f.members = old.members
	}
}

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
	for id := range byID {
		free[id] = true
	}
	next := f.healthyMembers(byID, free, h)
	worst := slices.Clone(next)
	slices.SortStableFunc(worst, func(a, b *Server) int { return worstFirst(a, b, h) })
	for _, s := range worst[:f.forced(size, len(f.members)-len(next), len(next))] {
		next = slices.DeleteFunc(next, s.Same)
		delete(free, s.id())
	}
	f.members = f.members[:0:0]
	for _, s := range next {
		f.members = append(f.members, s.id())
		delete(free, s.id())
	}
	f.fill(size, base, free)
}

// healthyMembers are the ones that may stay; others are no longer free to join either.
func (f *SubsetFilter) healthyMembers(byID map[string]*Server, free map[string]bool, h Health) []*Server {
	var stay []*Server
	for _, id := range f.members {
		s := byID[id]
		switch {
		case s == nil:
		case s.Stats().Active(h.Now) > f.MaxActive, s.Stats().RecentFailures(h.Now) > f.MaxFailures:
			delete(free, id)
		default:
			stay = append(stay, s)
		}
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
