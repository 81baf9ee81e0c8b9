package discovery

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gozer-gateway/gozer/internal/rescue"
)

// Hub merges the reports of its sources. All methods may be called from any
// goroutine; reads take no lock.
type Hub struct {
	sources []Source
	log     *slog.Logger
	current atomic.Pointer[Snapshot]
	synced  chan struct{}

	mu        sync.Mutex // guards listeners
	listeners map[chan struct{}]struct{}
}

// NewHub makes a hub that knows nothing until Run. The order of the sources decides
// which one is believed when two name the same instance. A nil log means slog.Default.
func NewHub(log *slog.Logger, sources ...Source) *Hub {
	if log == nil {
		log = slog.Default()
	}
	h := &Hub{
		sources:   sources,
		log:       log,
		synced:    make(chan struct{}),
		listeners: make(map[chan struct{}]struct{}),
	}
	h.current.Store(merge(nil))
	return h
}

// Snapshot is what is known now.
func (h *Hub) Snapshot() *Snapshot { return h.current.Load() }

// Services lists the known service ids in ascending order; the slice is shared, do not change it.
func (h *Hub) Services() []string { return h.Snapshot().Services() }

// Instances lists a service's instances; the slice is shared, do not change it.
func (h *Hub) Instances(service string) []Instance { return h.Snapshot().Instances(service) }

// Synced is closed once every source has reported or given up.
func (h *Hub) Synced() <-chan struct{} { return h.synced }

// Changes subscribes to changes: the channel holds one signal, which stands for any
// number of changes since it was last read. Call stop when done; it may be called twice.
func (h *Hub) Changes() (changed <-chan struct{}, stop func()) {
	ch := make(chan struct{}, 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listeners[ch] = struct{}{}
	return ch, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.listeners, ch)
	}
}

// report is an update with the position of the source it came from; silent says that
// the source has none, for now or for good.
type report struct {
	source int
	update Update
	silent bool
}

// Run runs the sources until ctx ends and has stopped all of them when it returns. Call it once.
func (h *Hub) Run(ctx context.Context) error {
	var running sync.WaitGroup
	defer running.Wait()
	reports := make(chan report)
	for i, s := range h.sources {
		running.Go(func() { h.follow(ctx, i, s, reports) })
	}
	h.collect(ctx, reports)
	return nil
}

// follow labels a source's updates until the source returns.
func (h *Hub) follow(ctx context.Context, index int, s Source, reports chan<- report) {
	updates := make(chan Update)
	paused, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		h.persist(ctx, index, func() error { return s.Run(ctx, updates) }, paused)
	}()
	for open := true; open; {
		r := report{source: index}
		select {
		case r.update = <-updates:
		case <-paused:
			r.silent = true
		case <-ended:
			r.silent, open = true, false
		}
		select {
		case reports <- r:
		case <-ctx.Done():
			<-ended
			return
		}
	}
}

// A source that panics is run again, after a pause that doubles.
const (
	firstPause = time.Second
	lastPause  = time.Minute
)

// persist runs a source until it returns, and again when it panics. It tells of the pauses.
func (h *Hub) persist(ctx context.Context, index int, run func() error, paused chan<- struct{}) {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := rescue.Do(run)
		if err == nil || ctx.Err() != nil {
			return
		}
		panicked, again := errors.AsType[*rescue.PanicError](err)
		if !again {
			h.log.Error("discovery source stopped, its last report stays in force", "source", index, "error", err)
			return
		}
		h.log.Error("discovery source panicked, its last report stays in force until it is run again",
			"source", index, "in", pause, "error", err, "stack", string(panicked.Stack))
		select {
		case paused <- struct{}{}:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// collect folds reports into snapshots.
func (h *Hub) collect(ctx context.Context, reports <-chan report) {
	latest := make([]Update, len(h.sources))
	heard := make(map[int]bool, len(h.sources))
	h.noteHeard(heard)
	for {
		select {
		case r := <-reports:
			if !r.silent {
				latest[r.source] = r.update
				h.publish(merge(latest))
			}
			if !heard[r.source] {
				heard[r.source] = true
				h.noteHeard(heard)
			}
		case <-ctx.Done():
			return
		}
	}
}

func (h *Hub) noteHeard(heard map[int]bool) {
	if len(heard) == len(h.sources) {
		close(h.synced)
	}
}

// publish swaps the snapshot and wakes the listeners when something changed.
func (h *Hub) publish(next *Snapshot) {
	if next.equal(h.current.Load()) {
		return
	}
	h.current.Store(next)
	h.mu.Lock()
	defer h.mu.Unlock()
	for ch := range h.listeners {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}
