package discovery

import "context"

// Update is everything a source knows at one moment, by service id. It replaces the
// same source's previous update as a whole; a service that is absent has no instances
// there. The receiver keeps it, so the sender must not change it afterwards.
type Update map[string][]Instance

// Source finds instances. The Hub calls Run once, on a goroutine of its own, and once more
// after a pause whenever it has panicked.
type Source interface {
	// Run sends an Update whenever the source has learnt something, until ctx ends.
	// A read that fails sends nothing, so the last good update stays in force. A source
	// with nothing more to tell may return early; an error is logged and means the same.
	// A send must give up when ctx ends.
	Run(ctx context.Context, updates chan<- Update) error
}

// SourceFunc makes a Source of a function.
type SourceFunc func(ctx context.Context, updates chan<- Update) error

// Run calls f.
func (f SourceFunc) Run(ctx context.Context, updates chan<- Update) error { return f(ctx, updates) }
