package registry

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// A view is what one kind of question is answered from.

// full is the whole list, with those of the regions asked for (spec 4.7).
func (r *Registry) full(regions []*region) *eureka.Applications {
	r.mu.RLock()
	apps := make([]eureka.Application, 0, len(r.apps))
	for _, a := range r.apps {
		apps = append(apps, r.decorate(a.name, a.order))
	}
	r.mu.RUnlock()
	for _, g := range regions {
		apps = merge(apps, g.state().apps)
	}
	slices.SortFunc(apps, func(a, b eureka.Application) int { return cmp.Compare(a.Name, b.Name) })
	return &eureka.Applications{VersionsDelta: 1, HashCode: r.hash(regions), HasHash: true, Applications: apps}
}

// delta is what has changed of late, with the hash of everything (spec 4.8).
func (r *Registry) delta(regions []*region, version int64) *eureka.Applications {
	r.mu.RLock()
	apps := r.group(r.changes.leases())
	counts := r.counts
	r.mu.RUnlock()
	for _, g := range regions {
		s := g.state()
		apps = merge(apps, s.delta)
		addCounts(&counts, s.counts)
	}
	return &eureka.Applications{VersionsDelta: version, HashCode: counts.Hash(), HasHash: true, Applications: apps}
}

// group sorts leases by application, in their order. r.mu is held, for reading at least.
func (r *Registry) group(leases []*lease) []eureka.Application {
	var apps []eureka.Application
	index := map[string]int{}
	for _, l := range leases {
		i, ok := index[l.app]
		if !ok {
			i = len(apps)
			index[l.app] = i
			apps = append(apps, eureka.Application{Name: l.app})
		}
		apps[i].Instances = append(apps[i].Instances, l.decorated(r.start, r.settings.Self.InstanceID))
	}
	return apps
}

// hash is that of the local instances and those of the regions.
func (r *Registry) hash(regions []*region) string {
	r.mu.RLock()
	counts := r.counts
	r.mu.RUnlock()
	for _, g := range regions {
		addCounts(&counts, g.state().counts)
	}
	return counts.Hash()
}

func addCounts(to *eureka.StatusCounts, more eureka.StatusCounts) {
	for s, n := range more {
		to.Add(eureka.Status(s), n)
	}
}

// app is one application; without local instances it is looked for in regions.
func (r *Registry) app(name string, regions []*region) (eureka.Application, bool) {
	r.mu.RLock()
	if a := r.apps[name]; a != nil {
		found := r.decorate(a.name, a.order)
		r.mu.RUnlock()
		return found, true
	}
	r.mu.RUnlock()
	for _, g := range regions {
		for _, a := range g.state().apps {
			if a.Name == name && len(a.Instances) > 0 {
				return a, true
			}
		}
	}
	return eureka.Application{}, false
}

// vip lists the instances that have a name among their virtual addresses, case and
// all (spec 4.7).
func (r *Registry) vip(name string, secure bool) *eureka.Applications {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var found []*lease
	for _, a := range r.apps {
		for _, l := range a.order {
			addresses := l.holder.VIPAddress
			if secure {
				addresses = l.holder.SecureVIPAddress
			}
			if hasName(addresses, name) {
				found = append(found, l)
			}
		}
	}
	apps := r.group(found)
	slices.SortFunc(apps, func(a, b eureka.Application) int { return cmp.Compare(a.Name, b.Name) })
	all := &eureka.Applications{VersionsDelta: -1, HasHash: true, Applications: apps}
	all.HashCode = all.Hash()
	return all
}

func hasName(list, name string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if one == name {
			return true
		}
	}
	return false
}

// instance is one instance, nil when it is not known or has expired (spec 1.3).
func (r *Registry) instance(key instanceKey) *eureka.Instance {
	expires := r.expires()
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.shown(r.find(key.app, key.id), expires)
}

// instanceByID looks for an instance whatever its application.
func (r *Registry) instanceByID(id string) *eureka.Instance {
	expires := r.expires()
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, a := range r.apps {
		if i := r.shown(a.leases[id], expires); i != nil {
			return i
		}
	}
	return nil
}

func (r *Registry) shown(l *lease, expires bool) *eureka.Instance {
	if l == nil || expires && l.expired(r.since(), 0) {
		return nil
	}
	return l.decorated(r.start, r.settings.Self.InstanceID)
}

// known reports whether an operation on an instance may go on: expired leases count
// as gone here, though a heartbeat would revive them (spec 4.4).
func (r *Registry) known(key instanceKey) bool { return r.instance(key) != nil }

// decorate lists the leases of an application. r.mu is held, for reading at least.
func (r *Registry) decorate(name string, leases []*lease) eureka.Application {
	all := make([]*eureka.Instance, 0, len(leases))
	for _, l := range leases {
		all = append(all, l.decorated(r.start, r.settings.Self.InstanceID))
	}
	return eureka.Application{Name: name, Instances: all}
}

// merge adds the applications of a region; instances of a known name join those.
func merge(apps, more []eureka.Application) []eureka.Application {
	index := make(map[string]int, len(apps))
	for i, a := range apps {
		index[a.Name] = i
	}
	for _, a := range more {
		if i, ok := index[a.Name]; ok {
			apps[i].Instances = append(slices.Clip(apps[i].Instances), a.Instances...)
			continue
		}
		index[a.Name] = len(apps)
		apps = append(apps, a)
	}
	return apps
}
