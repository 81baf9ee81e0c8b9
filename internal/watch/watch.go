// Package watch tells when files have other content than what was last loaded from
// them. Only content counts: a file that is touched, or written anew with what it had,
// has not changed. Symbolic links are followed, so that it does not matter which link of
// several, or which directory, is replaced.
package watch

import (
	"context"
	"log/slog"
	"maps"
	"time"
)

// calm is how many delays a change is waited out at most when the files do not come to
// rest.
const calm = 10

// Settings may differ from one look to the next.
type Settings struct {
	// Off suspends the watch: no file and no event is looked at.
	Off bool
	// Delay is how long the files must have had the same content before Load is called,
	// but for files that change on and on: those are loaded after ten delays.
	Delay time.Duration
	// Poll is how often the files are read without an event; 0 means never.
	Poll time.Duration
}

// Watcher calls Load when files change. Its fields are set before Run and not
// changed afterwards.
type Watcher struct {
	// Settings is asked after every change and whenever Changed says so.
	Settings func() Settings

	// Loaded is what was found when the files were last loaded, by whomever, whether it
	// was any good or not. It decides which files are watched.
	Loaded func() Sums

	// Load loads the files, which have the given content. Unless Loaded then tells the
	// same, it is called again after a further delay.
	Load func(ctx context.Context, found Sums)

	// Changed tells that Settings or Loaded are different now; nil means never.
	Changed <-chan struct{}

	Logger *slog.Logger
}

// Run watches until ctx ends. It calls Load on its own goroutine.
func (w *Watcher) Run(ctx context.Context) {
	quiet := false // the log knows already that events are missing
	for ctx.Err() == nil {
		s := w.Settings()
		loaded := w.Loaded()
		if s.Off || len(loaded) == 0 {
			w.idle(ctx)
			continue
		}
		e, err := arm(loaded.paths())
		if err != nil && !quiet {
			w.Logger.Warn("some changes of files will only be found by polling", "every", s.Poll, "error", err)
		}
		quiet = err != nil
		w.look(ctx, s, loaded, e)
		e.close()
	}
}

func (w *Watcher) idle(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-w.Changed:
	}
}

// look waits for one change and has it loaded. It returns early when the ground
// for it has changed.
func (w *Watcher) look(ctx context.Context, s Settings, loaded Sums, e *events) {
	var poll <-chan time.Time
	if s.Poll > 0 {
		ticker := time.NewTicker(s.Poll)
		defer ticker.Stop()
		poll = ticker.C
	}
	for same(loaded) {
		select {
		case <-ctx.Done():
			return
		case <-w.Changed:
			return
		case <-poll:
		case <-e.next():
			if same(loaded) {
				return // the way to the files may have changed
			}
		}
	}
	found, ok := rest(ctx, loaded.paths(), s.Delay)
	if ok && !maps.Equal(found, w.Loaded()) {
		w.Load(ctx, found)
	}
}

func same(loaded Sums) bool { return maps.Equal(read(loaded.paths()), loaded) }

// rest waits until two looks at the files, a delay apart, find the same. ok is false
// when ctx has ended.
func rest(ctx context.Context, paths []string, delay time.Duration) (found Sums, ok bool) {
	timer := time.NewTicker(delay)
	defer timer.Stop()
	found = read(paths)
	for range calm {
		select {
		case <-ctx.Done():
			return nil, false
		case <-timer.C:
		}
		before := found
		if found = read(paths); maps.Equal(before, found) {
			break
		}
	}
	return found, true
}
