package discovery

import (
	"maps"
	"slices"
	"strings"
)

// Snapshot is what was known at one moment. It never changes, nor may its callers
// change the slices it gives out.
type Snapshot struct {
	services  []string
	instances map[string][]Instance
	aliases   map[string][]Instance // by a name in lower case that is no service
}

// Services lists the known service ids in ascending order.
func (s *Snapshot) Services() []string { return s.services }

// Instances lists the instances of a service, those of the first source first. A name
// that is no service stands for the instances with that alias, or for the service of
// that name in lower case; nil for an unknown one.
func (s *Snapshot) Instances(service string) []Instance {
	if found, ok := s.instances[service]; ok {
		return found
	}
	name := strings.ToLower(service)
	if found, ok := s.instances[name]; ok {
		return found
	}
	return s.aliases[name]
}

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
	s := &Snapshot{services: slices.Sorted(maps.Keys(merged)), instances: merged, aliases: make(map[string][]Instance)}
	for _, service := range s.services {
		for _, i := range merged[service] {
			for _, name := range i.Aliases {
				s.aliases[name] = append(s.aliases[name], i)
			}
		}
	}
	return s
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
