package gozer

import "github.com/gozer-gateway/gozer/filters"

// observers are those that hear of every request of a snapshot: none of what is
// switched off.
func (g *Gateway) observers(*snapshot) []filters.Observer {
	return g.options.observers
}
