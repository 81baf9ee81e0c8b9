package registry

import (
	"time"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// renew extends a lease (spec 4.3). False asks the instance to register: it is not
// known, or its status is not. A lease that has expired but is still here revives.
func (r *Registry) renew(app, id string, replicated bool) bool {
	now := time.Now()
	r.counters.renew.count(replicated)
	r.mu.RLock()
	l := r.find(app, id)
	if l == nil {
		r.mu.RUnlock()
		r.counters.renewNotFound.count(replicated)
		return false
	}
	status := r.renewedStatus(l, replicated, now)
	if status == l.holder.Status && status != eureka.Unknown {
		r.extend(l, replicated, now)
		r.mu.RUnlock()
		return true
	}
	r.mu.RUnlock()
	return r.renewChanged(app, id, replicated, now)
}

// renewChanged is renew for an instance whose status another rule decides by now.
func (r *Registry) renewChanged(app, id string, replicated bool, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.find(app, id)
	if l == nil {
		return false
	}
	status := r.renewedStatus(l, replicated, now)
	if status == eureka.Unknown {
		return false
	}
	if status != l.holder.Status {
		i := *l.holder
		i.Status, i.Action, i.LastUpdated = status, eureka.Modified, now.Round(0)
		r.replaceHolder(l, &i)
		r.note(l, causeModified)
	}
	r.extend(l, replicated, now)
	return true
}

func (r *Registry) renewedStatus(l *lease, replicated bool, now time.Time) eureka.Status {
	return effectiveStatus(l.holder.Status, r.overrides.get(l.key(), now.Sub(r.start)), l, replicated)
}

// extend counts a renewal and passes it on. r.mu is held, for reading at least.
func (r *Registry) extend(l *lease, replicated bool, now time.Time) {
	r.renewals.add(now)
	r.touch(l, now)
	if !replicated {
		r.peers.tell(task{id: taskID{eureka.Heartbeat, l.key()}, expires: now.Add(renewalInterval(l.holder))}, now)
	}
}

// touch extends the lease. The original adds the duration twice: here and when it
// looks whether the lease has expired (spec 4.5).
func (r *Registry) touch(l *lease, now time.Time) {
	last := now.Sub(r.start)
	if !r.settings.Leases.ExactExpiry {
		last += l.duration
	}
	l.last.Store(int64(last))
}

// find returns the lease of an instance, or nil. r.mu is held, for reading at least.
func (r *Registry) find(app, id string) *lease {
	if a := r.apps[app]; a != nil {
		return a.leases[id]
	}
	return nil
}

// replaceHolder puts a changed copy in force. r.mu is held.
func (r *Registry) replaceHolder(l *lease, i *eureka.Instance) {
	r.counts.Add(l.holder.Status, -1)
	r.counts.Add(i.Status, 1)
	l.holder = i
}
