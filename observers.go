package gozer

import "github.com/gozer-gateway/gozer/filters"

// observers are those that hear of every request of a snapshot: none of what is
// switched off.
func (g *Gateway) observers(s *snapshot) []filters.Observer {
	var all []filters.Observer
	if s.tracer != nil {
		all = append(all, s.tracer) // first: the others find the trace
	}
	s.counting = g.metrics.Observer(metricsSettings(s.config), s.table.Routes(), s.services.ids())
	if s.config.CountsRequests() {
		all = append(all, s.counting)
	}
	if s.accessLog != nil {
		all = append(all, s.accessLog)
	}
	return append(all, g.options.observers...)
}
