package registry

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// peers are the other registries. The list may change while the registry runs; a
// peer that stays keeps its queue.
type peers struct {
	registry *Registry
	list     atomic.Pointer[[]*peer]
	updated  chan struct{} // one slot
	heard    chan struct{} // one slot: a peer answers that did not, or asks
	mu       sync.Mutex    // held while the list is replaced
}

func newPeers(r *Registry) *peers {
	p := &peers{registry: r, updated: make(chan struct{}, 1), heard: make(chan struct{}, 1)}
	p.list.Store(&[]*peer{})
	p.set(r.settings.Peers)
	return p
}

func (p *peers) current() []*peer { return *p.list.Load() }

// hear notes that a peer is there, which is time to ask for its list.
func (p *peers) hear() {
	select {
	case p.heard <- struct{}{}:
	default:
	}
}

// SetPeers replaces the service URLs of the peers, after a reload. An empty list is
// passed over, as it is more likely a mistake (spec 4.11).
func (r *Registry) SetPeers(urls []string) {
	if len(urls) > 0 {
		r.peers.set(urls)
	}
}

func (p *peers) set(urls []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.current()
	var next []*peer
	for _, text := range urls {
		u, ok := p.registry.peerURL(text)
		if !ok || slices.ContainsFunc(next, func(q *peer) bool { return q.same(u) }) {
			continue
		}
		if i := slices.IndexFunc(old, func(q *peer) bool { return q.same(u) }); i >= 0 {
			next = append(next, old[i])
			continue
		}
		next = append(next, newPeer(p.registry, u))
	}
	p.list.Store(&next)
	select {
	case p.updated <- struct{}{}:
	default:
	}
}

// drop takes a peer off the list.
func (p *peers) drop(q *peer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	next := slices.DeleteFunc(slices.Clone(p.current()), func(o *peer) bool { return o == q })
	p.list.Store(&next)
	select {
	case p.updated <- struct{}{}:
	default:
	}
}

// peerURL reads a service URL; false for the registry's own and for what is none.
func (r *Registry) peerURL(text string) (*url.URL, bool) {
	text = strings.TrimSpace(text)
	if text == "" || text == r.settings.Self.MyURL {
		return nil, false
	}
	u, err := url.Parse(strings.TrimRight(text, "/") + "/")
	if err != nil || u.Host == "" {
		r.log.Error("peer is no URL", "peer", redacted(text))
		return nil, false
	}
	return u, r.settings.Self.MyURL != "" || !r.settings.Self.is(u)
}

// is reports whether u leads to this registry.
func (s Self) is(u *url.URL) bool {
	ours := slices.ContainsFunc(s.Hosts, func(h string) bool { return strings.EqualFold(h, u.Hostname()) })
	return ours && (s.Port == 0 || s.Port == portOf(u))
}

func portOf(u *url.URL) int {
	if port, err := strconv.Atoi(u.Port()); err == nil {
		return port
	}
	if u.Scheme == "https" {
		return 443
	}
	return 80
}

// redacted hides the credentials of a URL that cannot be parsed.
func redacted(text string) string {
	if at := strings.LastIndex(text, "@"); at >= 0 {
		return "***" + text[at:]
	}
	return text
}

// tell queues a change for every peer. r.mu is held, so that peers hear of the
// changes of an instance in their order.
func (p *peers) tell(t task, now time.Time) {
	list := p.current()
	if len(list) == 0 {
		return
	}
	t.queued = now
	for _, q := range list {
		q.put(&t)
	}
}

// run talks to the peers until ctx ends.
func (p *peers) run(ctx context.Context) {
	var talking sync.WaitGroup
	defer talking.Wait()
	ends := map[*peer]context.CancelFunc{}
	for {
		list := p.current()
		for q, end := range ends {
			if !slices.Contains(list, q) {
				end()
				delete(ends, q)
			}
		}
		for _, q := range list {
			if ends[q] == nil {
				life, end := context.WithCancel(ctx)
				ends[q] = end
				talking.Go(func() {
					defer end()
					q.run(life)
				})
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-p.updated:
		}
	}
}
