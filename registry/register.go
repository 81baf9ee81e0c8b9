package registry

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// errFull is a registration that a limit refuses. Clients go to the next registry.
var errFull = errors.New("the registry is full")

// register takes instance i, or what is newer here, into the list (spec 4.2). The
// registry keeps i; its maps must not change afterwards.
func (r *Registry) register(i *eureka.Instance, replicated bool) error {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	app := r.apps[i.App]
	var existing *lease
	if app != nil {
		existing = app.leases[i.Identity()]
	}
	if err := r.room(app, existing); err != nil {
		return err
	}
	if app == nil {
		app = newApplication(i.App)
		r.apps[i.App] = app
	}
	r.adopt(app, existing, newest(i, existing), replicated, now)
	r.counters.register.count(replicated)
	return nil
}

// room checks the limits for a registration. r.mu is held.
func (r *Registry) room(app *application, existing *lease) error {
	limits := r.settings.Limits
	switch {
	case app == nil && len(r.apps) >= limits.Applications:
		return fmt.Errorf("%w: %d applications", errFull, limits.Applications)
	case existing == nil && r.size >= limits.Instances:
		return fmt.Errorf("%w: %d instances", errFull, limits.Instances)
	}
	return nil
}

// newest chooses between a registration and what is known. One that follows the
// removal of an override is taken whatever its time, or the instance would stay
// UNKNOWN for ever.
func newest(i *eureka.Instance, existing *lease) *eureka.Instance {
	copied := *i
	if existing == nil || !existing.holder.LastDirty.After(i.LastDirty) {
		return &copied
	}
	if existing.holder.Status == eureka.Unknown {
		copied.LastDirty = existing.holder.LastDirty
		return &copied
	}
	copied = *existing.holder
	return &copied
}

// adopt makes a new lease for i, which may be changed. r.mu is held.
func (r *Registry) adopt(app *application, existing *lease, i *eureka.Instance, replicated bool, now time.Time) {
	since := now.Sub(r.start)
	l := &lease{app: app.name, id: i.Identity(), duration: effectiveDuration(i), registered: now.Round(0)}
	l.last.Store(int64(since))
	if existing != nil {
		l.serviceUp = existing.serviceUp
		r.counts.Add(existing.holder.Status, -1)
	} else {
		r.size++
		if r.opened.Load() {
			r.expect(r.expected + 1)
		}
	}
	stated := r.override(i, since)
	i.Status = effectiveStatus(i.Status, stated, existing, replicated)
	if i.Status == eureka.Up {
		l.up(l.registered)
	}
	i.Action, i.LastUpdated = eureka.Added, l.registered
	l.holder = i
	app.put(l)
	r.counts.Add(i.Status, 1)
	r.registered.add(pastLease{l.registered, l.key().label(), "registered"})
	r.note(l, causeRegistered)
	if !replicated {
		r.peers.tell(task{id: taskID{eureka.Register, l.key()}, expires: now.Add(renewalInterval(i)), instance: i}, now)
	}
}

// override agrees an instance's own idea of its override with the registry's. r.mu
// is held.
func (r *Registry) override(i *eureka.Instance, since time.Duration) eureka.Status {
	key := instanceKey{i.App, i.Identity()}
	known := r.overrides.get(key, since)
	if known == eureka.Unknown && i.OverriddenStatus != eureka.Unknown {
		r.overrides.set(key, i.OverriddenStatus, since)
		known = i.OverriddenStatus
	}
	if known != eureka.Unknown {
		i.OverriddenStatus = known
	}
	return known
}

// errUnknown is an operation on an instance that is not known.
var errUnknown = errors.New("no such instance")

// addMetadata makes a new lease with more metadata; of a key with several values the
// first counts.
func (r *Registry) addMetadata(key instanceKey, more url.Values, replicated bool) error {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.find(key.app, key.id)
	if l == nil {
		return errUnknown
	}
	i := l.holder.Clone()
	if i.Metadata == nil {
		i.Metadata = make(map[string]string, len(more))
	}
	for k, v := range more {
		i.Metadata[k] = v[0]
	}
	if err := r.fits(i); err != nil {
		return err
	}
	r.adopt(r.apps[l.app], l, i, replicated, now)
	return nil
}
