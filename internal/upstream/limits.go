package upstream

import (
	"context"
	"sync"
	"time"

	"github.com/gozer-gateway/gozer/internal/http1"
)

// limits bounds how many requests, and so how many HTTP/1.1 connections, are
// under way in all and to each host.
type limits struct {
	total   semaphore
	perHost int
	wait    time.Duration

	mu    sync.Mutex // guards hosts and their users
	hosts map[string]*host
}

// host holds the places of one host:port while requests use or await them.
type host struct {
	name   string
	places semaphore
	users  int
}

type semaphore chan struct{}

func newLimits(s http1.TransportSettings) *limits {
	return &limits{
		total:   make(semaphore, s.MaxTotal),
		perHost: s.MaxPerHost,
		wait:    s.AcquireTimeout,
		hosts:   map[string]*host{},
	}
}

func (l *limits) enter(name string) *host {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.hosts[name]
	if h == nil {
		h = &host{name: name, places: make(semaphore, l.perHost)}
		l.hosts[name] = h
	}
	h.users++
	return h
}

func (l *limits) leave(h *host) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h.users--
	if h.users == 0 {
		delete(l.hosts, h.name)
	}
}

// acquire takes a place for a host and returns what release needs.
func (l *limits) acquire(ctx context.Context, name string) (*host, error) {
	h := l.enter(name)
	deadline := deadline{after: l.wait}
	defer deadline.stop()
	if err := h.places.take(ctx, &deadline); err != nil {
		l.leave(h)
		return nil, err
	}
	if err := l.total.take(ctx, &deadline); err != nil {
		<-h.places
		l.leave(h)
		return nil, err
	}
	return h, nil
}

func (l *limits) release(h *host) {
	<-l.total
	<-h.places
	l.leave(h)
}

func (s semaphore) take(ctx context.Context, d *deadline) error {
	select {
	case s <- struct{}{}:
		return nil
	default:
	}
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return http1.Unasked(context.Cause(ctx))
	case <-d.expired():
		return http1.ErrPoolExhausted
	}
}

// deadline is a timer that is made only when somebody has to wait.
type deadline struct {
	after time.Duration
	timer *time.Timer
}

func (d *deadline) expired() <-chan time.Time {
	if d.timer == nil {
		d.timer = time.NewTimer(d.after)
	}
	return d.timer.C
}

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
	}
}
