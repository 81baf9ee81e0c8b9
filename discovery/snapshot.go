package discovery

import (
	"maps"
	"slices"
)

// Snapshot is what was known at one moment. It never changes, nor may its callers
// change the slices it gives out.
type Snapshot struct {
	services  []string
	instances map[string][]Instance
}

// Services lists the known service ids in ascending order.
func (s *Snapshot) Services() []string { return s.services }

// Instances lists the instances of a service, those of the first source first; nil for an unknown service.
func (s *Snapshot) Instances(service string) []Instance { return s.instances[service] }

func (s *Snapshot) equal(o *Snapshot) bool {
	sameInstances := func(a, b []Instance) bool { return slices.EqualFunc(a, b, Instance.Equal) }
	return maps.EqualFunc(s.instances, o.instances, sameInstances)
}

// merge joins the updates of all sources. An id that an earlier source has already
// named within the service is skipped.
func merge(updates []Update) *Snapshot {
	merged := make(map[string][]Instance)
	for _, u := range updates {
		for service, instances := range u {
			merged[service] = join(merged[service], instances)
		}
	}
	return &Snapshot{services: slices.Sorted(maps.Keys(merged)), instances: merged}
}

func join(known, more []Instance) []Instance {
	if len(known) == 0 {
		return more
	}
	ids := make(map[string]bool, len(known))
	for _, i := range known {
		ids[i.ID] = true
	}
	joined := slices.Clone(known)
	for _, i := range more {
		if i.ID == "" || !ids[i.ID] {
			joined = append(joined, i)
		}
	}
	return joined
}
