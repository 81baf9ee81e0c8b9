package eureka

import (
	"slices"
	"strings"
	"time"

	"github.com/gozer-gateway/gozer/discovery"
)

// vanished are instances that a full list did not have any more when it was suspiciously
// short, as it is just after the start of a registry that has nobody to ask. They are
// handed on until the registry says something about them or their time is over. The
// poller's own.
type vanished struct {
	keep      time.Duration // 0: nothing is kept
	instances map[vanishedKey]missing
}

// vanishedKey names an instance by its application, in upper case, and its id.
type vanishedKey struct{ app, id string }

type missing struct {
	instance *Instance
	until    time.Time
}

func newVanished(keep time.Duration) *vanished {
	return &vanished{keep: keep, instances: map[vanishedKey]missing{}}
}

// compare looks for what a full list has lost, and returns how many instances are kept
// because of it. A list that is at least half as long as what was known is taken for the
// truth.
func (l *vanished) compare(before, after *View, now time.Time) int {
	if l.keep <= 0 || 2*after.Len() >= before.Len()+len(l.instances) {
		return 0
	}
	kept := 0
	for app, a := range before.apps {
		for _, i := range a.instances {
			if !before.shows(i) || after.apps[app].find(i) >= 0 {
				continue
			}
			l.instances[vanishedKey{app, i.Identity()}] = missing{i, now.Add(l.keep)}
			kept++
		}
	}
	return kept
}

// hear takes a delta's word for what it deletes.
func (l *vanished) hear(delta *Applications) {
	for _, a := range delta.Applications {
		for _, i := range a.Instances {
			if i.Action == Deleted {
				delete(l.instances, vanishedKey{strings.ToUpper(a.Name), i.Identity()})
			}
		}
	}
}

// settle forgets what is known again and what has been missing for too long, and reports
// whether there was any.
func (l *vanished) settle(v *View, now time.Time) bool {
	settled := false
	for key, m := range l.instances {
		if v.apps[key.app].find(m.instance) >= 0 || !now.Before(m.until) {
			delete(l.instances, key)
			settled = true
		}
	}
	return settled
}

// add puts the instances that are kept into an update.
func (l *vanished) add(u discovery.Update, c *converter) {
	for key, m := range l.instances {
		service := strings.ToLower(key.app)
		u[service] = append(slices.Clip(u[service]), c.instance(service, m.instance))
	}
}
