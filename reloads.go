package gozer

import (
	"maps"
	"sync"
	"time"

	"github.com/gozer-gateway/gozer/admin"
	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/internal/watch"
)

// reloads keeps account of what became of configurations that were to be loaded.
type reloads struct {
	changed chan struct{} // one slot: files or settings of the watch may be others now

	mu      sync.Mutex // guards what follows
	files   watch.Sums // as they were last read, good or bad
	state   admin.Reloads
	failure string
}

func newReloads(files []config.File) *reloads {
	return &reloads{
		changed: make(chan struct{}, 1),
		files:   sumsOf(files),
		state:   admin.Reloads{LastSuccess: time.Now()},
	}
}

// sums are the files as they were last read. Nobody changes them.
func (r *reloads) sums() watch.Sums {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.files
}

func (r *reloads) succeeded(cfg *config.Config) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.follow(cfg)
	r.state.Succeeded++
	r.state.LastSuccess, r.state.Failing, r.failure = time.Now(), false, ""
}

// refused takes a configuration that is not used, nil if there is not even that.
func (r *reloads) refused(cfg *config.Config, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.follow(cfg)
	r.state.Failed++
	r.state.LastFailure, r.state.Failing, r.failure = time.Now(), true, bounded(err.Error())
}

// follow takes the files of a configuration for those to be watched, unless it has none;
// r.mu is held.
func (r *reloads) follow(cfg *config.Config) {
	if cfg != nil && len(cfg.Files()) > 0 {
		r.files = sumsOf(cfg.Files())
	}
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// read notes what was found in files for a source that does not tell.
func (r *reloads) read(found watch.Sums) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files = maps.Clone(r.files)
	for path := range r.files {
		if sum, there := found[path]; there {
			r.files[path] = sum
		}
	}
}

func (r *reloads) counts() admin.Reloads {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

// refusedStatus is a status for people: with a refused file the gateway does its work,
// and if it were started anew, it would not.
const refusedStatus = "REFUSED"

// health is the part of the health endpoint about the configuration.
func (r *reloads) health() admin.Component {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := admin.Component{Name: "configuration", Status: admin.Up, Details: map[string]any{
		"lastLoaded": r.state.LastSuccess.UTC().Format(time.RFC3339),
	}}
	if r.state.Failing {
		c.Status = refusedStatus
		c.Details["refused"] = r.state.LastFailure.UTC().Format(time.RFC3339)
		c.Details["error"] = r.failure
	}
	return c
}
