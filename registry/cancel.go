package registry

import (
	"time"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// cause is why an instance changed, for whoever wants to tell an orderly shutdown
// from a crash.
type cause string

const (
	causeRegistered cause = "registered"
	causeModified   cause = "modified"
	causeCanceled   cause = "canceled" // the instance said goodbye
	causeExpired    cause = "expired"  // its lease ran out
	causeRemoved    cause = "removed"  // an operator removed it
)

// cancel removes a lease because its instance, a peer or an operator said so. False
// means that the instance is not known.
func (r *Registry) cancel(key instanceKey, c cause, replicated bool) bool {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.find(key.app, key.id)
	r.canceled.add(pastLease{now.Round(0), key.label(), string(c)})
	r.overrides.remove(key)
	if l == nil {
		r.counters.cancelNotFound.count(replicated)
		return false
	}
	r.counters.cancel.count(replicated)
	r.end(l, c, now)
	if !replicated {
		r.peers.tell(task{id: taskID{eureka.Cancel, key}, expires: now.Add(r.settings.Replication.MaxTime)}, now)
	}
	return true
}

// end takes a lease out of the list. r.mu is held.
func (r *Registry) end(l *lease, c cause, now time.Time) {
	app := r.apps[l.app]
	app.remove(l)
	if len(app.leases) == 0 {
		delete(r.apps, l.app)
	}
	r.size--
	r.counts.Add(l.holder.Status, -1)
	if r.opened.Load() {
		r.expect(r.expected - 1)
	}
	l.evicted = now.Round(0)
	i := *l.holder
	i.Action, i.LastUpdated = eureka.Deleted, l.evicted
	l.holder = &i
	r.note(l, c)
}

// evict ends leases that have run out, a share of all at a time, unless so many have
// that the network is the likelier cause (spec 4.5).
func (r *Registry) evict() {
	now := time.Now()
	late := r.delay.late(now, r.settings.Leases.EvictionInterval)
	if !r.expires() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	expired := r.expired(late, "")
	if r.tooMany(len(expired)) {
		r.log.Warn("too many leases have run out at once, none is expired", "expired", len(expired), "of", r.size)
		return
	}
	n := min(len(expired), r.evictionLimit())
	for _, l := range pickRandom(expired, n) {
		r.log.Warn("lease expired", "instance", l.key().label())
		r.counters.expired.count(false)
		r.canceled.add(pastLease{now.Round(0), l.key().label(), string(causeExpired)})
		r.overrides.remove(l.key())
		r.end(l, causeExpired, now)
	}
}

func (r *Registry) evictionLimit() int {
	return evictionLimit(r.size, r.settings.Leases.RenewalPercentThreshold)
}

// tooMany reports whether so many leases have run out at once that self-preservation
// keeps them. The original learns of a mass loss from the renewals of the last whole
// minute, which may be too late when leases are short. r.mu is held, for reading at
// least.
func (r *Registry) tooMany(expired int) bool {
	return r.settings.Leases.SelfPreservation && expired > r.evictionLimit()
}

// expired lists the leases of an application, or of all, that have run out. r.mu is
// held, for reading at least.
func (r *Registry) expired(grace time.Duration, app string) []*lease {
	since := r.since()
	var all []*lease
	for name, a := range r.apps {
		if app != "" && app != name {
			continue
		}
		for _, l := range a.order {
			if l.expired(since, grace) {
				all = append(all, l)
			}
		}
	}
	return all
}

// ghosts lists the instances whose leases have run out, whatever self-preservation
// says; app may be "".
func (r *Registry) ghosts(app string) []instanceKey {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var keys []instanceKey
	for _, l := range r.expired(0, app) {
		keys = append(keys, l.key())
	}
	return keys
}
