package registry

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// How batches are cut, and how long a peer is left alone after a failure (spec 4.10).
const (
	batchAge        = 500 * time.Millisecond
	batchItems      = 250
	pauseCongestion = time.Second
	pauseTransient  = 100 * time.Millisecond
	longestPause    = 8 * time.Second
)

// peer is another registry and what it has not been told yet.
type peer struct {
	registry *Registry
	url      *url.URL // ends in a slash, may hold credentials
	name     string   // without them

	wake  chan struct{} // one slot: there is something to do
	mu    sync.Mutex    // guards queue
	queue *queue

	available atomic.Bool // the last call succeeded
	sent      atomic.Int64
	failed    atomic.Int64
}

func newPeer(r *Registry, u *url.URL) *peer {
	bare := *u
	bare.User = nil
	return &peer{registry: r, url: u, name: bare.String(), wake: make(chan struct{}, 1), queue: newQueue(r.settings.Replication.MaxQueue)}
}

func (p *peer) same(u *url.URL) bool { return p.url.String() == u.String() }

// put queues a task; it does not block.
func (p *peer) put(t *task) {
	p.mu.Lock()
	p.queue.put(t)
	alert := p.queue.len() == 1 || p.queue.full()
	p.mu.Unlock()
	if alert {
		p.alert()
	}
}

func (p *peer) alert() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// run sends batches one after the other, so that a peer hears of things in their
// order, until ctx ends.
func (p *peer) run(ctx context.Context) {
	pause := backoff{}
	for p.await(ctx) {
		p.mu.Lock()
		batch := p.queue.cut(batchItems, time.Now())
		p.mu.Unlock()
		items, about := p.items(batch)
		if len(items) == 0 {
			continue
		}
		results, fault := p.send(ctx, items)
		p.note(fault, len(items))
		if fault.retry {
			p.mu.Lock()
			p.queue.putBack(batch, time.Now())
			p.mu.Unlock()
			wait(ctx, pause.next(fault.pause))
			continue
		}
		pause = backoff{}
		p.conclude(about, results)
	}
}

// await returns when a batch is due, or false when ctx has ended.
func (p *peer) await(ctx context.Context) bool {
	for {
		p.mu.Lock()
		oldest, some := p.queue.oldest()
		full := p.queue.full()
		p.mu.Unlock()
		due := time.Until(oldest.Add(batchAge))
		if some && (full || due <= 0) {
			return ctx.Err() == nil
		}
		if !some {
			due = time.Hour
		}
		timer := time.NewTimer(due)
		select {
		case <-ctx.Done():
			timer.Stop()
			return false
		case <-p.wake:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// items writes down what tasks say as of now; heartbeats of instances that have gone
// since say nothing. about holds the task of each item.
func (p *peer) items(batch []*task) (items []eureka.ReplicationItem, about []*task) {
	for _, t := range batch {
		if item, ok := p.registry.item(t); ok {
			items, about = append(items, item), append(about, t)
		}
	}
	return items, about
}

// item is a task in the form of the protocol (spec 2.7).
func (r *Registry) item(t *task) (eureka.ReplicationItem, bool) {
	key := t.id.instance
	item := eureka.ReplicationItem{AppName: key.app, ID: key.id, Action: t.id.action}
	switch t.id.action {
	case eureka.Cancel:
	case eureka.Heartbeat:
		r.mu.RLock()
		defer r.mu.RUnlock()
		l := r.find(key.app, key.id)
		if l == nil {
			return item, false
		}
		item.LastDirty, item.Status = l.holder.LastDirty, l.holder.Status.String()
		if s := r.overrides.get(key, r.since()); s != eureka.Unknown {
			item.OverriddenStatus = s.String()
		}
	case eureka.Register:
		item.LastDirty, item.Status, item.Instance = t.instance.LastDirty, t.instance.Status.String(), t.instance
	default:
		item.LastDirty, item.Status = t.instance.LastDirty, t.status.String()
	}
	return item, true
}

// conclude follows a peer's answers. Without one for each item nothing is known.
func (p *peer) conclude(about []*task, results []eureka.ReplicationResult) {
	if len(about) != len(results) {
		return
	}
	for i, result := range results {
		if result.StatusCode/100 != 2 {
			p.answer(about[i], result)
		}
	}
}

// answer acts on a refusal: a heartbeat is refused by a peer that does not know the
// instance, or knows a newer one.
func (p *peer) answer(t *task, result eureka.ReplicationResult) {
	r := p.registry
	if t.id.action != eureka.Heartbeat {
		r.log.Info("peer refused a change", "peer", p.name, "action", string(t.id.action), "instance", t.id.instance.label(), "status", result.StatusCode)
		return
	}
	now := time.Now()
	switch {
	case result.StatusCode == http.StatusNotFound:
		if i := r.holder(t.id.instance); i != nil {
			p.put(&task{id: taskID{eureka.Register, t.id.instance}, queued: now, expires: now.Add(renewalInterval(i)), instance: i})
		}
	case result.Instance != nil && r.settings.Leases.SyncWhenTimestampDiffers:
		r.adoptFrom(p.name, result.Instance)
	}
}

// holder is an instance as it was registered, or nil.
func (r *Registry) holder(key instanceKey) *eureka.Instance {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if l := r.find(key.app, key.id); l != nil {
		return l.holder
	}
	return nil
}

// adoptFrom takes over a peer's newer version of an instance.
func (r *Registry) adoptFrom(name string, i *eureka.Instance) {
	key := instanceKey{i.App, i.Identity()}
	if err := r.validate(i, i.App); err != nil {
		r.log.Warn("peer has a newer instance that is not valid", "peer", name, "instance", key.label(), "error", err)
		return
	}
	if i.OverriddenStatus != eureka.Unknown {
		r.adoptOverride(key, i.OverriddenStatus)
	}
	if err := r.register(i, true); err != nil {
		r.log.Warn("peer has a newer instance that cannot be taken", "peer", name, "instance", key.label(), "error", err)
	}
}

// backoff doubles a pause from failure to failure.
type backoff struct{ failures int }

func (b *backoff) next(first time.Duration) time.Duration {
	pause := first << min(b.failures, 10)
	b.failures++
	return min(pause, longestPause)
}

// wait returns false when ctx ends first.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
