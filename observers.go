package gozer

import "github.com/gozer-gateway/gozer/filters"

// observers are those that hear of every request of a snapshot: none of what is
// switched off.
func (g *Gateway) observers(s *snapshot) []filters.Observer {
	var own []filters.Observer
	if s.accessLog != nil {
		own = append(own, s.accessLog)
	}
	return append(own, g.options.observers...)
}
