package gozer

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/gozer-gateway/gozer/lb"
)

// tend runs the balancers that there are, and follows their coming and going, until ctx
// ends.
func (s *state) tend(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	tended := map[*lb.Balancer]context.CancelFunc{}
	for {
		now := s.allBalancers()
		for b := range now {
			if tended[b] != nil {
				continue
			}
			work, stop := context.WithCancel(ctx)
			tended[b] = stop
			running.Go(func() { b.Run(work) })
		}
		for b, stop := range tended {
			if !now[b] {
				stop()
				delete(tended, b)
			}
		}
		select {
		case <-ctx.Done():
			for stop := range maps.Values(tended) {
				stop()
			}
			return
		case <-s.moved:
		}
	}
}

func (s *state) allBalancers() map[*lb.Balancer]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make(map[*lb.Balancer]bool, len(s.balancers))
	for _, k := range slices.Collect(maps.Values(s.balancers)) {
		all[k.balancer] = true
	}
	return all
}
