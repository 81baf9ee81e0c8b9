package registry

import (
	"cmp"
	"slices"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// regionState is what a region had when it was last read, immutable.
type regionState struct {
	ready bool
	all   *eureka.Applications // as the region has it, which its hash is about

	apps   []eureka.Application // of all, what may be shown, sorted by name
	delta  []eureka.Application // of the last delta, what may be shown
	counts eureka.StatusCounts  // of apps
}

func newRegionState(list *eureka.Applications, allowed []string) *regionState {
	s := &regionState{ready: true, all: list, apps: only(list.Applications, allowed)}
	slices.SortFunc(s.apps, func(a, b eureka.Application) int { return cmp.Compare(a.Name, b.Name) })
	for _, a := range s.apps {
		for _, i := range a.Instances {
			s.counts.Add(i.Status, 1)
		}
	}
	return s
}

// with is the state after a delta.
func (s *regionState) with(delta *eureka.Applications, allowed []string) *regionState {
	list := &eureka.Applications{Applications: slices.Clone(s.all.Applications)}
	for _, a := range delta.Applications {
		for _, i := range a.Instances {
			list.Applications = apply(list.Applications, a.Name, i)
		}
	}
	next := newRegionState(list, allowed)
	next.delta = only(delta.Applications, allowed)
	return next
}

// apply puts one change of a delta into a list. Applications are replaced, not
// changed.
func apply(apps []eureka.Application, name string, i *eureka.Instance) []eureka.Application {
	at := slices.IndexFunc(apps, func(a eureka.Application) bool { return a.Name == name })
	if i.Action == eureka.NoAction || at < 0 && i.Action == eureka.Deleted {
		return apps
	}
	if at < 0 {
		return append(apps, eureka.Application{Name: name, Instances: []*eureka.Instance{i}})
	}
	others := slices.DeleteFunc(slices.Clone(apps[at].Instances), func(o *eureka.Instance) bool { return o.Identity() == i.Identity() })
	if i.Action != eureka.Deleted {
		others = append(others, i)
	}
	if len(others) == 0 {
		return slices.Delete(apps, at, at+1)
	}
	apps[at] = eureka.Application{Name: name, Instances: others}
	return apps
}

// only leaves out the applications that are not allowed; nil allows all.
func only(apps []eureka.Application, allowed []string) []eureka.Application {
	return slices.DeleteFunc(slices.Clone(apps), func(a eureka.Application) bool {
		return allowed != nil && !slices.Contains(allowed, a.Name)
	})
}
