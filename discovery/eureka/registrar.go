package eureka

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Registrar keeps this process registered: it registers, sends heartbeats, and
// registers again whenever something changed or the registry has forgotten. Its methods
// may be called from any goroutine.
type Registrar struct {
	settings  RegistrarSettings
	transport *transport
	session   *session
	self      self
	now       chan struct{} // one slot: replicate at once
	sending   chan struct{} // one slot: taken while the instance is being registered
	leaving   atomic.Bool   // the health has no say any more

	mu         sync.Mutex // guards the fields below
	onDemand   bucket
	registered bool
	trouble    string // what was logged last
}

// NewRegistrar makes a registrar that does nothing until Run. The error says which
// service URL is none.
func NewRegistrar(s RegistrarSettings) (*Registrar, error) {
	s = s.filled()
	servers, err := s.Servers.endpoints()
	if err != nil {
		return nil, err
	}
	instance := s.Instance.Clone()
	if !instance.Lease.Given() {
		instance.Lease = Lease{RenewalInterval: DefaultRenewalInterval, Duration: DefaultLeaseDuration}
	}
	t := newTransport(s.Servers)
	r := &Registrar{
		settings: s, transport: t, session: newSession(s.Servers, servers, t.exchange),
		now: make(chan struct{}, 1), sending: make(chan struct{}, 1),
		onDemand: bucket{burst: 2, rate: 2 * time.Minute.Seconds() / s.ReplicationInterval.Seconds()},
	}
	r.self.instance = instance
	r.self.mark()
	if !s.ChangesWait {
		r.self.changed = func() { r.Replicate() }
	}
	return r, nil
}

// Instance is what is registered, or will be; read-only.
func (r *Registrar) Instance() *Instance { return r.self.snapshot() }

// Registered reports whether the registry knew this instance the last time it was asked.
func (r *Registrar) Registered() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.registered
}

// SetStatus changes the status, which is sent at once unless ChangesWait. The registry
// may know better, see section 3.4.
func (r *Registrar) SetStatus(s Status) { r.self.setStatus(s) }

// AddMetadata adds to the metadata, or replaces; it is sent with the next replication.
func (r *Registrar) AddMetadata(m map[string]string) { r.self.addMetadata(m) }

// Replicate sends what has changed now and not at the next period. It reports false
// when that has been asked too often; then the period will do.
func (r *Registrar) Replicate() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.onDemand.take(time.Now()) {
		return false
	}
	select {
	case r.now <- struct{}{}:
	default:
	}
	return true
}

// Run keeps the instance registered until ctx ends; it does not cancel. Call it once.
func (r *Registrar) Run(ctx context.Context) error {
	defer r.transport.close()
	heartbeats := newSupervisor(r.Instance().Lease.RenewalInterval, r.settings.BackOffBound)
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { r.replicate(ctx, r.firstRegistration(ctx)) })
	for wait := heartbeats.interval; pause(ctx, wait); {
		wait = heartbeats.run(ctx, r.heartbeat)
	}
	return nil
}

// pause waits, and reports false when ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// firstRegistration registers, trying again soon and then more rarely. It returns the
// time until the next replication.
func (r *Registrar) firstRegistration(ctx context.Context) time.Duration {
	for wait := time.Second; ; wait = min(2*wait, r.settings.ReplicationInterval) {
		if r.look(ctx); r.Registered() || !pause(ctx, wait) {
			return r.settings.ReplicationInterval
		}
	}
}

// replicate looks for changes every period, and when asked to.
func (r *Registrar) replicate(ctx context.Context, wait time.Duration) {
	t := time.NewTimer(wait)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		case <-r.now:
		}
		r.look(ctx)
		t.Reset(r.settings.ReplicationInterval)
	}
}

// look asks for the health and sends what has changed.
func (r *Registrar) look(ctx context.Context) {
	if r.settings.Health != nil && !r.leaving.Load() {
		status, err := r.settings.Health(ctx, r.Instance().Status)
		if err != nil {
			status = Down
		}
		if ctx.Err() == nil && r.self.edit(func(i *Instance) bool { changed := i.Status != status; i.Status = status; return changed }) {
			r.settings.Servers.Logger.Info("eureka: status follows the health", "status", status.String())
		}
	}
	_ = r.register(ctx, r.self.unsent) // has been logged
}

// register sends what there is to send, nil for nothing, once nobody else is doing so: the
// heartbeat and the replication may fall on the same moment.
func (r *Registrar) register(ctx context.Context, what func() *Instance) error {
	select {
	case r.sending <- struct{}{}:
		defer func() { <-r.sending }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	i := what()
	if i == nil {
		return nil
	}
	status, err := r.session.do(ctx, registerCall(i))
	if err == nil && status != http.StatusNoContent && status != http.StatusOK {
		err = fmt.Errorf("register: status %d", status)
	}
	if err == nil {
		r.self.sent(i.LastDirty)
	}
	r.note(ctx, err)
	return err
}

// heartbeat renews the lease, and registers when the registry does not know it.
func (r *Registrar) heartbeat(ctx context.Context) error {
	i := r.Instance()
	status, err := r.session.do(ctx, heartbeatCall(i))
	switch {
	case err != nil:
		r.note(ctx, err)
		return err
	case status == http.StatusNotFound:
		return r.register(ctx, r.self.markDirty)
	}
	r.note(ctx, nil)
	return nil
}

// note logs what is new about being registered.
func (r *Registrar) note(ctx context.Context, err error) {
	if err != nil && ctx.Err() != nil && errors.Is(context.Cause(ctx), context.Canceled) {
		return
	}
	i, log := r.Instance(), r.settings.Servers.Logger
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err == nil && (!r.registered || r.trouble != ""):
		log.Info("eureka: registered", "app", i.App, "id", i.Identity(), "status", i.Status.String())
		r.registered, r.trouble = true, ""
	case err != nil && r.trouble != err.Error():
		log.Warn("eureka: not registered, will go on trying", "app", i.App, "id", i.Identity(), "error", err)
		r.trouble = err.Error()
	}
}

// OutOfService tells the registry that this instance shall get no traffic. It waits for
// the answer. From here on the health does not change the status. An instance that
// stays registered stays as it is: nothing would end the override, and its successor
// would be out of service for good.
func (r *Registrar) OutOfService(ctx context.Context) error {
	r.leaving.Store(true)
	if r.settings.StayRegistered {
		return nil
	}
	r.self.edit(func(i *Instance) bool { i.Status = OutOfService; return true })
	if !r.Registered() {
		return nil // a registration will say it, should there be one
	}
	i := r.Instance()
	_, err := r.session.do(ctx, statusCall(i, OutOfService)) // a registration would be overruled by the lease's status
	if err == nil {
		r.self.sent(i.LastDirty)
	}
	return err
}

// Override makes the registry show a status whatever this instance says of itself.
func (r *Registrar) Override(ctx context.Context, s Status) error {
	return r.must(ctx, statusCall(r.Instance(), s))
}

// ClearOverride takes an override back. The registry shows s until it hears from this
// instance again; with Unknown the next heartbeat makes it register anew.
func (r *Registrar) ClearOverride(ctx context.Context, s Status) error {
	return r.must(ctx, clearStatusCall(r.Instance(), s))
}

func (r *Registrar) must(ctx context.Context, c *call) error {
	status, err := r.session.do(ctx, c)
	if err == nil && status == http.StatusNotFound {
		err = fmt.Errorf("eureka: %s: the registry does not know this instance", c.name)
	}
	return err
}

// Cancel takes this instance off the registry, unless it shall stay registered or never
// was. Call it once Run has returned.
func (r *Registrar) Cancel(ctx context.Context) error {
	defer r.transport.close()
	if r.settings.StayRegistered || !r.Registered() {
		return nil
	}
	_, err := r.session.do(ctx, cancelCall(r.Instance()))
	return err
}
