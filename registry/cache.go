package registry

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

// question is what a cached answer answers.
type question struct {
	kind    kind
	name    string // of an application or a virtual address
	regions string // sorted, between commas; "" for the default view
	form    form
}

type kind uint8

const (
	askAll kind = iota
	askDelta
	askApp
	askVIP
	askSecureVIP
)

// answer is an encoded response, immutable. Found false stands for 404.
type answer struct {
	found   bool
	version uint64 // of the registry when it was built
	built   time.Time
	plain   []byte
	readers atomic.Int64 // that have not got all of it

	zip    sync.Once // the first reader who wants it compresses for all
	wanted atomic.Bool
	zipped []byte
}

// cache keeps encoded answers. Readers load one pointer and look into a map that
// never changes.
type cache struct {
	settings CacheSettings
	current  atomic.Pointer[generation]
	deltas   atomic.Int64 // how many were built

	mu sync.Mutex // held while a generation is replaced
}

type generation map[question]*slot

// slot is the place of one answer; its mutex lets one reader build for all.
type slot struct {
	answer atomic.Pointer[answer]
	asked  atomic.Bool // since the last refresh

	mu sync.Mutex // held while an answer is built
}

func newCache(s CacheSettings) *cache {
	c := &cache{settings: s}
	c.current.Store(&generation{})
	return c
}

// slot finds the place of an answer, or makes one if there is room.
func (c *cache) slot(q question) *slot {
	if s := (*c.current.Load())[q]; s != nil {
		return s
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	old := *c.current.Load()
	if s := old[q]; s != nil {
		return s
	}
	if whole := q.kind == askAll || q.kind == askDelta; !whole && len(old) >= c.settings.MaxEntries {
		return &slot{} // answered all the same, only not kept
	}
	next := make(generation, len(old)+1)
	maps.Copy(next, old)
	s := &slot{}
	next[q] = s
	c.current.Store(&next)
	return s
}

// trim drops the slots that nobody has asked for since the last time.
func (c *cache) trim() generation {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := generation{}
	for q, s := range *c.current.Load() {
		if s.asked.Swap(false) {
			kept[q] = s
		}
	}
	c.current.Store(&kept)
	return kept
}

func (c *cache) size() int { return len(*c.current.Load()) }

// answer finds or builds the answer to q. With fresh it shows the last change;
// without, and with a read-only cache, it may be as old as the last refresh. While
// slow readers hold too much there is nothing newer than what there is, nil if that is
// nothing.
func (r *Registry) answer(q question, fresh bool) *answer {
	s := r.cache.slot(q)
	s.asked.Store(true)
	a := s.answer.Load()
	if a != nil && (!fresh && r.cache.settings.ReadOnly || r.valid(q, a)) || r.unsent.over() {
		return a
	}
	return r.rebuild(q, s)
}

// valid reports whether nothing that a shows has changed since.
func (r *Registry) valid(q question, a *answer) bool {
	if r.cache.settings.Expiration > 0 && time.Since(a.built) > r.cache.settings.Expiration {
		return false
	}
	return a.version == r.versionOf(q)
}

// versionOf is the version of the last change that q would show.
func (r *Registry) versionOf(q question) uint64 {
	if q.kind != askApp || len(r.regions.named(q.regions)) > 0 {
		return r.version.Load()
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if a := r.apps[q.name]; a != nil {
		return a.version
	}
	return 0
}

func (r *Registry) rebuild(q question, s *slot) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	size := 0
	if a := s.answer.Load(); a != nil {
		if r.valid(q, a) {
			return a // somebody else was faster
		}
		size = len(a.plain) + len(a.plain)/64
	}
	version := r.versionOf(q) // before looking: a change meanwhile makes it old, not wrong
	a := r.build(q, size)
	a.version, a.built = version, time.Now()
	s.answer.Store(a)
	return a
}

// refreshCache renews the read-only answers at every multiple of the interval, by
// the wall clock as in the original.
func (r *Registry) refreshCache(ctx context.Context) {
	interval := r.settings.Cache.UpdateInterval
	now := time.Now()
	first := time.NewTimer(now.Truncate(interval).Add(interval).Sub(now))
	defer first.Stop()
	select {
	case <-ctx.Done():
		return
	case <-first.C:
	}
	r.refresh()
	r.every(ctx, interval, r.refresh)
}

func (r *Registry) refresh() {
	for q, s := range r.cache.trim() {
		a := s.answer.Load()
		if a == nil || r.valid(q, a) {
			continue
		}
		if next := r.rebuild(q, s); a.wanted.Load() {
			next.gzipped() // before a reader has to wait for it
		}
	}
}
