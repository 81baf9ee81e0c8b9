package registry

import (
	"time"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// setStatus overrides the status of an instance until the override is deleted
// (spec 4.4). A dirty time that is zero or older leaves the instance's own. False
// means that the instance is not known.
func (r *Registry) setStatus(key instanceKey, status eureka.Status, dirty time.Time, replicated bool) bool {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.find(key.app, key.id)
	if l == nil {
		return false
	}
	r.counters.statusUpdate.count(replicated)
	r.touch(l, now)
	if l.holder.Status != status {
		r.overrides.set(l.key(), status, now.Sub(r.start))
		r.restate(l, status, status, dirty, now)
	}
	if !replicated {
		r.peers.tell(task{id: taskID{eureka.StatusUpdate, key}, instance: l.holder, status: status}, now)
	}
	return true
}

// deleteOverride removes an override and exposes status instead; Unknown asks the
// instance to register with its true one.
func (r *Registry) deleteOverride(key instanceKey, status eureka.Status, dirty time.Time, replicated bool) bool {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.find(key.app, key.id)
	if l == nil {
		return false
	}
	r.counters.statusDelete.count(replicated)
	r.touch(l, now)
	if r.overrides.get(l.key(), now.Sub(r.start)) != eureka.Unknown {
		r.overrides.remove(l.key())
		r.restate(l, status, eureka.Unknown, dirty, now)
	}
	if !replicated {
		r.peers.tell(task{id: taskID{eureka.DeleteStatusOverride, key}, instance: l.holder, status: status}, now)
	}
	return true
}

// restate gives the holder another status. r.mu is held.
func (r *Registry) restate(l *lease, status, override eureka.Status, dirty, now time.Time) {
	if status == eureka.Up {
		l.up(now.Round(0))
	}
	i := *l.holder
	i.Status, i.OverriddenStatus = status, override
	if dirty.After(i.LastDirty) {
		i.LastDirty = dirty
	}
	i.Action, i.LastUpdated = eureka.Modified, now.Round(0)
	r.replaceHolder(l, &i)
	r.note(l, causeModified)
}

// adoptOverride stores what a peer says an instance's override is. It takes effect
// at the next registration or renewal.
func (r *Registry) adoptOverride(key instanceKey, status eureka.Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.find(key.app, key.id) != nil {
		r.overrides.set(key, status, r.since())
	}
}
