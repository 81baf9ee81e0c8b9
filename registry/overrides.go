package registry

import (
	"sync/atomic"
	"time"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// overrides are the statuses that operators have set. The original keeps them by the
// id alone, so that applications with equal ids, such as host names, share them, and
// whoever may change one application changes another; here the application counts
// too. An entry goes when nobody has asked for it for its lifetime. The registry's
// mutex guards the map; reading under a read lock is enough for get.
type overrides struct {
	lifetime time.Duration
	of       map[instanceKey]*override
}

type override struct {
	status eureka.Status
	asked  atomic.Int64 // nanoseconds since the registry's start
}

func newOverrides(lifetime time.Duration) *overrides {
	return &overrides{lifetime: lifetime, of: map[instanceKey]*override{}}
}

// get returns Unknown when there is no override, and keeps one that there is.
func (o *overrides) get(key instanceKey, since time.Duration) eureka.Status {
	entry := o.of[key]
	if entry == nil || o.outlived(entry, since) {
		return eureka.Unknown
	}
	entry.asked.Store(int64(since))
	return entry.status
}

func (o *overrides) set(key instanceKey, s eureka.Status, since time.Duration) {
	if s == eureka.Unknown {
		delete(o.of, key)
		return
	}
	entry := &override{status: s}
	entry.asked.Store(int64(since))
	o.of[key] = entry
}

func (o *overrides) remove(key instanceKey) { delete(o.of, key) }

func (o *overrides) sweep(since time.Duration) {
	for key, entry := range o.of {
		if o.outlived(entry, since) {
			delete(o.of, key)
		}
	}
}

func (o *overrides) outlived(entry *override, since time.Duration) bool {
	return since-time.Duration(entry.asked.Load()) > o.lifetime
}
