package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/gozer-gateway/gozer/discovery/eureka"
)

// fill copies the list of a peer, unless one was imported, and then opens the registry for
// reading. Without a peer that has one it opens at once if all peers are only starting too, else after
// a time in which clients have registered again (spec 4.9).
func (r *Registry) fill(ctx context.Context, running *sync.WaitGroup) {
	filled := r.imported || r.copyFromPeers(ctx)
	r.open()
	if len(r.peers.current()) == 0 || filled {
		r.gated.Store(false)
		close(r.ready)
		return
	}
	r.log.Warn("no peer has a list; reads are refused for a while", "for", r.settings.Leases.WaitWhenSyncEmpty.String())
	running.Go(func() {
		if wait(ctx, time.Until(r.start.Add(r.settings.Leases.WaitWhenSyncEmpty))) {
			r.gated.Store(false)
			close(r.ready)
		}
	})
}

// open begins to count the clients that should renew.
func (r *Registry) open() {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.size
	if n == 0 {
		n = r.settings.Leases.ExpectedClients
	}
	r.expect(n)
	r.opened.Store(true)
}

// errStarting is a peer that has nothing to copy because it is starting itself.
var errStarting = errors.New("registry: peer is not ready")

// copyFromPeers tries the peers in turn, several times, and in between whenever one
// shows that it is there. It returns true when the list is as good as that of any peer.
func (r *Registry) copyFromPeers(ctx context.Context) bool {
	s, pause := r.settings.Replication, backoff{} // or registries that all start would keep each other busy
	again := time.NewTimer(s.SyncRetryWait)
	defer again.Stop()
	for attempt := 0; ; {
		if r.copyOnce(ctx) {
			return true
		}
		if attempt >= s.SyncRetries {
			return false
		}
		select {
		case <-ctx.Done():
			return false
		case <-again.C:
			attempt++
			again.Reset(s.SyncRetryWait)
		case <-r.peers.heard:
			wait(ctx, pause.next(pauseTransient))
		}
	}
}

// copyOnce asks each peer until one gives its list. Without one it is true if nobody
// has more than what comes in here.
func (r *Registry) copyOnce(ctx context.Context) bool {
	starting, list := 0, r.peers.current()
	for _, p := range list {
		n, err := p.copyList(ctx)
		switch {
		case err == nil:
			r.log.Info("list copied", "peer", p.name, "instances", n)
			return true
		case errors.Is(err, errItself):
			r.peers.drop(p)
			starting++
		case errors.Is(err, errStarting):
			starting++
		}
		r.log.Info("no list from peer", "peer", p.name, "error", err)
	}
	return starting == len(list)
}

// copyList registers what a peer has, and counts it.
func (p *peer) copyList(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, p.registry.settings.Replication.SyncTimeout)
	defer cancel()
	apps, err := p.registry.fetch(ctx, p.url, "apps/")
	if err != nil {
		return 0, err
	}
	return p.registry.registerAll(apps), nil
}

// registerAll takes over another registry's list. It returns how many instances of it are known now.
func (r *Registry) registerAll(list *eureka.Applications) int {
	n := 0
	for _, app := range list.Applications {
		for _, i := range app.Instances {
			if r.registerItem(instanceKey{i.App, i.Identity()}, i) == http.StatusOK {
				n++
			}
		}
	}
	return n
}

// fetch reads a list from another registry.
func (r *Registry) fetch(ctx context.Context, root *url.URL, path string) (*eureka.Applications, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, root.String()+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	identify(req, root)
	req.Header.Set("Accept", eureka.JSON.ContentType())
	req.Header.Set("Accept-Encoding", "gzip")
	res, err := r.settings.Transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	switch {
	case res.Header.Get(idHeader) == r.id:
		return nil, errItself
	case res.StatusCode == http.StatusForbidden:
		return nil, errStarting
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("registry: answered %d", res.StatusCode)
	}
	body, err := eureka.Unpacked(res.Body, res.Header.Get("Content-Encoding"))
	if err != nil {
		return nil, err
	}
	f, err := eureka.FormatOf(res.Header.Get("Content-Type"))
	if err != nil {
		return nil, err
	}
	return eureka.Decoder{Format: f, Limits: eureka.Limits{Bytes: r.settings.Limits.Batch}}.Applications(body)
}
