package eureka

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// View is what a client knows of the registry at one moment. It never changes, and
// nor may its callers change what it gives out.
type View struct {
	apps    map[string]*viewed // by name in upper case
	counts  StatusCounts
	version int64
	all     bool // instances that are not UP are shown too
	vips    func() map[string][]*Instance
	secure  func() map[string][]*Instance
}

// viewed is an application in a view.
type viewed struct {
	name      string
	instances []*Instance // of every status
}

func newView(list *Applications, all bool) *View {
	v := &View{apps: make(map[string]*viewed, len(list.Applications)), version: list.VersionsDelta, all: all}
	for i := range list.Applications {
		v.fill(&list.Applications[i])
	}
	return v.indexed()
}

// fill adds an application of a full list, where the last of two equal ids holds.
func (v *View) fill(a *Application) {
	if len(a.Instances) == 0 {
		return
	}
	key := strings.ToUpper(a.Name)
	app := v.apps[key]
	if app == nil {
		app = &viewed{name: a.Name, instances: make([]*Instance, 0, len(a.Instances))}
		v.apps[key] = app
	}
	places := make(map[string]int, len(a.Instances))
	for at, i := range app.instances {
		places[i.Identity()] = at
	}
	for _, i := range a.Instances {
		v.counts.Add(i.Status, 1)
		if at, known := places[i.Identity()]; known {
			v.counts.Add(app.instances[at].Status, -1)
			app.instances[at] = i
			continue
		}
		places[i.Identity()] = len(app.instances)
		app.instances = append(app.instances, i)
	}
}

// indexed prepares the look-ups by virtual address, which are made when first asked for.
func (v *View) indexed() *View {
	v.vips = sync.OnceValue(func() map[string][]*Instance { return v.index(func(i *Instance) string { return i.VIPAddress }) })
	v.secure = sync.OnceValue(func() map[string][]*Instance { return v.index(func(i *Instance) string { return i.SecureVIPAddress }) })
	return v
}

func (v *View) index(names func(*Instance) string) map[string][]*Instance {
	index := map[string][]*Instance{}
	for _, key := range slices.Sorted(maps.Keys(v.apps)) {
		for _, i := range v.apps[key].instances {
			if !v.shows(i) {
				continue
			}
			for name := range strings.SplitSeq(names(i), ",") {
				if name = strings.ToUpper(strings.TrimSpace(name)); name != "" {
					index[name] = append(index[name], i)
				}
			}
		}
	}
	return index
}

// with makes the view after a delta, which is v itself if that has no news. What is
// neither added, modified nor deleted is passed over (section 5.4).
func (v *View) with(delta *Applications) *View {
	next := &View{apps: maps.Clone(v.apps), counts: v.counts, version: delta.VersionsDelta, all: v.all}
	own := map[string]bool{} // applications that v does not share any more
	for i := range delta.Applications {
		a := &delta.Applications[i]
		for _, instance := range a.Instances {
			switch instance.Action {
			case Added, Modified:
				next.put(a.Name, instance, own)
			case Deleted:
				next.remove(a.Name, instance, own)
			case NoAction:
			}
		}
	}
	if len(own) == 0 {
		return v
	}
	return next.indexed()
}

// put adds an instance, or replaces it.
func (v *View) put(app string, i *Instance, own map[string]bool) {
	key := strings.ToUpper(app)
	at := v.apps[key].find(i)
	if at >= 0 && v.apps[key].instances[at].saysTheSame(i) {
		return
	}
	a := v.open(key, own)
	if a == nil {
		a = &viewed{name: app}
		v.apps[key], own[key] = a, true
	}
	v.counts.Add(i.Status, 1)
	if at >= 0 {
		v.counts.Add(a.instances[at].Status, -1)
		a.instances[at] = i
		return
	}
	a.instances = append(a.instances, i)
}

// saysTheSame spares the work on entries that several deltas in a row repeat.
func (i *Instance) saysTheSame(o *Instance) bool {
	return i.Status == o.Status && !i.LastUpdated.IsZero() && i.LastUpdated.Equal(o.LastUpdated) && i.LastDirty.Equal(o.LastDirty)
}

func (v *View) remove(app string, i *Instance, own map[string]bool) {
	key := strings.ToUpper(app)
	at := v.apps[key].find(i)
	if at < 0 {
		return
	}
	a := v.open(key, own)
	v.counts.Add(a.instances[at].Status, -1)
	if a.instances = slices.Delete(a.instances, at, at+1); len(a.instances) == 0 {
		delete(v.apps, key)
	}
}

// open gives an application that may be changed, nil if there is none.
func (v *View) open(key string, own map[string]bool) *viewed {
	a := v.apps[key]
	if a == nil || own[key] {
		return a
	}
	own[key] = true
	a = &viewed{a.name, slices.Clone(a.instances)}
	v.apps[key] = a
	return a
}

// find gives the place of an instance, -1 if there is none.
func (a *viewed) find(i *Instance) int {
	if a == nil {
		return -1
	}
	id := i.Identity()
	return slices.IndexFunc(a.instances, func(known *Instance) bool { return known.Identity() == id })
}

// shows tells whether look-ups give out an instance.
func (v *View) shows(i *Instance) bool { return v.all || i.Status == Up }

// Names lists the applications, in upper case and in ascending order.
func (v *View) Names() []string { return slices.Sorted(maps.Keys(v.apps)) }

// Application lists the instances of an application that are UP, or all if the client
// shows all; the case of the name does not matter.
func (v *View) Application(name string) []*Instance {
	a := v.apps[strings.ToUpper(name)]
	if a == nil {
		return nil
	}
	shown := make([]*Instance, 0, len(a.instances))
	for _, i := range a.instances {
		if v.shows(i) {
			shown = append(shown, i)
		}
	}
	return shown
}

// Instance finds an instance by application and id, whatever its status; nil if there
// is none.
func (v *View) Instance(app, id string) *Instance {
	a := v.apps[strings.ToUpper(app)]
	if a == nil {
		return nil
	}
	if at := slices.IndexFunc(a.instances, func(i *Instance) bool { return i.Identity() == id }); at >= 0 {
		return a.instances[at]
	}
	return nil
}

// VIP lists the instances with a virtual address, like Application.
func (v *View) VIP(name string) []*Instance { return v.vips()[strings.ToUpper(name)] }

// SecureVIP lists the instances with a secure virtual address, like Application.
func (v *View) SecureVIP(name string) []*Instance { return v.secure()[strings.ToUpper(name)] }

// Len counts the instances of every status.
func (v *View) Len() int {
	n := 0
	for _, count := range v.counts {
		n += count
	}
	return n
}

// Hash is that of all instances, whatever is shown.
func (v *View) Hash() string { return v.counts.Hash() }

// list is the view as a document, for the snapshot on disk.
func (v *View) list() *Applications {
	list := &Applications{VersionsDelta: v.version, HashCode: v.Hash(), HasHash: true}
	for _, key := range v.Names() {
		list.Applications = append(list.Applications, Application{v.apps[key].name, v.apps[key].instances})
	}
	return list
}
