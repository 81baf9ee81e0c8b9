package registry

import (
	"sync/atomic"
	"time"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// lease is the promise to list an instance for a while. A new registration of the
// same instance makes a new one.
type lease struct {
	app, id string
	// duration is what the registration asked for.
	duration   time.Duration
	registered time.Time
	// last is what expiry counts from, in nanoseconds since the registry's start, so
	// that a step of the wall clock expires nothing.
	last atomic.Int64

	// Guarded by the registry's mutex.
	holder    *eureka.Instance // read-only, replaced as a whole
	evicted   time.Time
	serviceUp time.Time
}

// effectiveDuration is how long a lease of instance i lasts.
func effectiveDuration(i *eureka.Instance) time.Duration {
	switch {
	case i.Lease.Duration > 0:
		return i.Lease.Duration
	}
	return eureka.DefaultLeaseDuration
}

// renewalInterval is how often instance i renews its lease.
func renewalInterval(i *eureka.Instance) time.Duration {
	switch {
	case i.Lease.RenewalInterval > 0:
		return i.Lease.RenewalInterval
	case i.Lease.Given():
		return eureka.DefaultRenewalInterval
	}
	return eureka.DefaultLeaseDuration
}

// expired reports whether the lease has run out, with some grace. The registry's
// mutex is held.
func (l *lease) expired(since time.Duration, grace time.Duration) bool {
	return !l.evicted.IsZero() || since > time.Duration(l.last.Load())+l.duration+grace
}

// up notes the first moment the instance was up.
func (l *lease) up(now time.Time) {
	if l.serviceUp.IsZero() {
		l.serviceUp = now
	}
}

// decorated is the holder as clients see it, with what the registry knows of its
// lease (spec 4.8). start is when the registry's clock was 0.
func (l *lease) decorated(start time.Time, self string) *eureka.Instance {
	i := *l.holder
	i.Lease = eureka.Lease{
		RenewalInterval: i.Lease.RenewalInterval, Duration: i.Lease.Duration,
		Registered: l.registered, Renewed: start.Add(time.Duration(l.last.Load())).Round(0), Evicted: l.evicted, ServiceUp: l.serviceUp,
	}
	if i.Lease.RenewalInterval <= 0 {
		i.Lease.RenewalInterval = eureka.DefaultRenewalInterval
	}
	if i.Lease.Duration <= 0 {
		i.Lease.Duration = eureka.DefaultLeaseDuration
	}
	i.CoordinatingDiscoveryServer = self != "" && i.Identity() == self
	return &i
}

func (l *lease) key() instanceKey { return instanceKey{l.app, l.id} }
