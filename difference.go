package gozer

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/gozer-gateway/gozer/admin"
	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/routing"
)

// difference tells what is other in a snapshot than in the one before it, and what would
// be if the process were started anew.
func difference(before, now *snapshot, started *config.Config) admin.Change {
	keys := now.config.ChangedFrom(before.config)
	old, current := before.table.Routes(), now.table.Routes()
	return admin.Change{
		Routes:          delta(routesByID(old), routesByID(current)),
		RoutesReordered: reordered(old, current),
		Services:        delta(before.settingsByService(), now.settingsByService()),
		Filters:         delta(before.filtersByName(nil), now.filtersByName(keys)),
		Keys:            orEmpty(keys),
		NeedRestart:     orEmpty(now.config.NeedRestart(started)),
	}
}

// delta compares what two maps have under the same names.
func delta[T any](before, now map[string]T) admin.Delta {
	d := admin.Delta{Added: []string{}, Changed: []string{}, Removed: []string{}}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		switch was, there := before[name]; {
		case !there:
			d.Added = append(d.Added, name)
		case !reflect.DeepEqual(was, now[name]):
			d.Changed = append(d.Changed, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, there := now[name]; !there {
			d.Removed = append(d.Removed, name)
		}
	}
	return d
}

func orEmpty(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

func routesByID(routes []*routing.Route) map[string][]*routing.Route {
	byID := map[string][]*routing.Route{}
	for _, r := range routes {
		byID[r.ID] = append(byID[r.ID], r)
	}
	return byID
}

// reordered reports whether routes that are in both tables are tried in another order.
func reordered(before, now []*routing.Route) bool {
	common := func(routes, others []*routing.Route) []string {
		known := routesByID(others)
		var ids []string
		for _, r := range routes {
			if known[r.ID] != nil {
				ids = append(ids, r.ID)
			}
		}
		return ids
	}
	return !slices.Equal(common(before, now), common(now, before))
}

// serviceSettings is all that a configuration says about a service.
type serviceSettings struct {
	ribbon     config.Ribbon
	command    config.Command
	pool       config.ThreadPool
	resilience config.Resilience
	fallback   config.Fallback
	tls        config.UpstreamTLS
}

func (s *snapshot) settingsByService() map[string]serviceSettings {
	all := make(map[string]serviceSettings, len(s.services))
	for id := range s.services {
		command := s.config.HystrixFor(id)
		settings := serviceSettings{
			ribbon: s.config.RibbonFor(id), command: command, pool: s.config.ThreadPoolFor(command.ThreadPoolKey),
			resilience: s.config.ResilienceFor(id), tls: s.config.TLSFor(id),
		}
		if f := cmp.Or(s.config.Gateway.Fallback[id], s.config.Gateway.Fallback["*"]); f != nil {
			settings.fallback = *f
			settings.fallback.Position = config.Position{} // the same further down is the same
		}
		all[id] = settings
	}
	return all
}

// filterSettings are a filter in its phases, and whether its settings are among the changed
// keys.
type filterSettings struct {
	infos   []filters.Info
	changed bool
}

func (s *snapshot) filtersByName(changed []string) map[string]filterSettings {
	all := map[string]filterSettings{}
	for _, info := range s.chain.Filters() {
		f := all[info.Name]
		f.infos = append(f.infos, info)
		f.changed = f.changed || slices.ContainsFunc(changed, func(key string) bool {
			return strings.HasPrefix(key, "gateway.filters."+info.Name+".")
		})
		all[info.Name] = f
	}
	return all
}
