package registry

import (
	"sync/atomic"
	"time"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// overrides are the statuses that operators have set, by instance id alone. An entry
// goes when nobody has asked for it for its lifetime. The registry's mutex guards
// the map; reading under a read lock is enough for get.
type overrides struct {
	lifetime time.Duration
	byID     map[string]*override
}

type override struct {
	status eureka.Status
	asked  atomic.Int64 // nanoseconds since the registry's start
}

func newOverrides(lifetime time.Duration) *overrides {
	return &overrides{lifetime: lifetime, byID: map[string]*override{}}
}

// get returns Unknown when there is no override, and keeps one that there is.
func (o *overrides) get(id string, since time.Duration) eureka.Status {
	entry := o.byID[id]
	if entry == nil || o.outlived(entry, since) {
		return eureka.Unknown
	}
	entry.asked.Store(int64(since))
	return entry.status
}

func (o *overrides) set(id string, s eureka.Status, since time.Duration) {
	if s == eureka.Unknown {
		delete(o.byID, id)
		return
	}
	entry := &override{status: s}
	entry.asked.Store(int64(since))
	o.byID[id] = entry
}

func (o *overrides) remove(id string) { delete(o.byID, id) }

func (o *overrides) sweep(since time.Duration) {
	for id, entry := range o.byID {
		if o.outlived(entry, since) {
			delete(o.byID, id)
		}
	}
}

func (o *overrides) outlived(entry *override, since time.Duration) bool {
	return since-time.Duration(entry.asked.Load()) > o.lifetime
}
