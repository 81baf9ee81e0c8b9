// Package static is the discovery source of instances that the configuration lists.
package static

import (
	"context"

	"github.com/gozer-gateway/gozer/discovery"
)

// Source reports configured instances.
type Source struct {
	pending chan discovery.Update
}

var _ discovery.Source = (*Source)(nil)

// New makes a source that reports instances, by service id, as soon as it runs. The
// map is kept and must not be changed afterwards.
func New(instances map[string][]discovery.Instance) *Source {
	s := &Source{pending: make(chan discovery.Update, 1)}
	s.pending <- instances
	return s
}

// Replace makes the source report other instances, after a reload. Call it from one
// goroutine at a time; it does not block.
func (s *Source) Replace(instances map[string][]discovery.Instance) {
	select {
	case <-s.pending:
	default:
	}
	s.pending <- instances
}

// Run reports the instances once, and again after each Replace, until ctx ends.
func (s *Source) Run(ctx context.Context, updates chan<- discovery.Update) error {
	for {
		select {
		case u := <-s.pending:
			select {
			case updates <- u:
			case <-ctx.Done():
				return nil
			}
		case <-ctx.Done():
			return nil
		}
	}
}
