package registry

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// regions are the registries elsewhere whose lists are shown beside the own one
// (spec 4.12). They are only read.
type regions struct {
	all []*region // by name
}

// region is a copy of one remote registry.
type region struct {
	registry *Registry
	name     string
	url      *url.URL
	allowed  []string // applications; nil for all
	current  atomic.Pointer[regionState]
}

func newRegions(r *Registry) *regions {
	g := &regions{}
	for name, text := range r.settings.Regions.URLs {
		u, err := url.Parse(strings.TrimRight(strings.TrimSpace(text), "/") + "/")
		if err != nil || u.Host == "" {
			r.log.Error("remote region has no URL", "region", name)
			continue
		}
		one := &region{registry: r, name: strings.ToLower(name), url: u, allowed: r.settings.Regions.allowed(name)}
		one.current.Store(&regionState{})
		g.all = append(g.all, one)
	}
	slices.SortFunc(g.all, func(a, b *region) int { return cmp.Compare(a.name, b.name) })
	return g
}

// allowed is the whitelist of a region: its own, else that of all regions, else nil.
func (s RegionSettings) allowed(region string) []string {
	if list, ok := s.Whitelist[strings.ToLower(region)]; ok {
		return list
	}
	return s.Whitelist["global"]
}

// noRegion is a list of regions of which there is none.
const noRegion = "-"

// known brings a list of names into the one form in which it is looked up and cached:
// those that there are, in their order. Of others there may be any number.
func (g *regions) known(list string) string {
	if list == "" {
		return ""
	}
	names := strings.Split(strings.ToLower(list), ",")
	var found []string
	for _, one := range g.all {
		if slices.Contains(names, one.name) {
			found = append(found, one.name)
		}
	}
	return cmp.Or(strings.Join(found, ","), noRegion)
}

// named gives the regions of a list between commas; "" means what is shown to those
// who name none.
func (g *regions) named(list string) []*region {
	if len(g.all) == 0 {
		return nil
	}
	if list == "" {
		if g.all[0].registry.settings.Regions.NoFallback {
			return nil
		}
		return g.all
	}
	names := strings.Split(list, ",")
	var found []*region
	for _, one := range g.all {
		if slices.Contains(names, one.name) {
			found = append(found, one)
		}
	}
	return found
}

// ready reports whether the regions of a list have been read at least once; it does
// not ask about those that nobody named.
func (g *regions) ready(list string) bool {
	if list == "" {
		return true
	}
	for _, one := range g.named(list) {
		if !one.state().ready {
			return false
		}
	}
	return true
}

// instance looks in all regions that are shown by default; without an application
// the id alone counts.
func (g *regions) instance(key instanceKey) *eureka.Instance {
	for _, one := range g.named("") {
		for _, app := range one.state().apps {
			if key.app != "" && app.Name != key.app {
				continue
			}
			for _, i := range app.Instances {
				if i.Identity() == key.id {
					return i
				}
			}
		}
	}
	return nil
}

// run reads all regions until ctx ends.
func (g *regions) run(ctx context.Context) {
	var reading sync.WaitGroup
	defer reading.Wait()
	for _, one := range g.all {
		reading.Go(func() { one.run(ctx) })
	}
}

func (g *region) state() *regionState { return g.current.Load() }

// run reads at an interval, which doubles up to five times while reading takes too
// long.
func (g *region) run(ctx context.Context) {
	s := g.registry.settings.Regions
	delay := s.FetchInterval
	for {
		err := g.refresh(ctx)
		switch {
		case err == nil:
			delay = s.FetchInterval
		case isTimeout(err):
			delay = min(2*delay, 5*s.FetchInterval)
		}
		if err != nil && ctx.Err() == nil {
			g.registry.log.Warn("remote region could not be read, its last list stays", "region", g.name, "error", err)
		}
		if !wait(ctx, delay) {
			return
		}
	}
}

// refresh applies a delta, or reads the whole list when there is none to build on or
// the hash shows that something was missed (spec 5.4).
func (g *region) refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, g.registry.settings.Regions.ReadTimeout)
	defer cancel()
	if old := g.state(); old.ready && !g.registry.settings.Regions.DisableDelta {
		delta, err := g.registry.fetch(ctx, g.url, "apps/delta")
		if err == nil {
			if next := old.with(delta, g.allowed); next.all.Hash() == delta.HashCode {
				g.publish(next)
				return nil
			}
		}
	}
	list, err := g.registry.fetch(ctx, g.url, "apps/")
	if err != nil {
		return err
	}
	g.publish(newRegionState(list, g.allowed))
	return nil
}

// publish puts a state in force.
func (g *region) publish(s *regionState) {
	old := g.current.Swap(s)
	if len(s.delta) > 0 || !old.ready || s.counts != old.counts {
		g.registry.noteRegion()
	}
}
