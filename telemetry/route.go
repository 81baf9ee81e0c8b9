package telemetry

import "sync/atomic"

// noRoute is the label of requests that no route has matched.
const noRoute = "_none"

// routeCounts counts the requests of a route, each combination of method and class of
// status from its first request on.
type routeCounts struct {
	id     string
	series atomic.Pointer[routeSeries]
	calls  atomic.Pointer[callCounts] // nil before the first gRPC call
}

type routeSeries [numMethods][numClasses]atomic.Pointer[histogram]

// of finds the counters of a combination, and makes them if it is the first.
func (r *routeCounts) of(method, class int, s *Settings) *histogram {
	all := r.series.Load()
	if all == nil {
		r.series.CompareAndSwap(nil, new(routeSeries))
		all = r.series.Load()
	}
	slot := &all[method][class]
	if h := slot.Load(); h != nil {
		return h
	}
	slot.CompareAndSwap(nil, newHistogram(s.ServerBuckets))
	return slot.Load()
}

// called counts a gRPC call that has ended, or not as far as its client was told.
func (r *routeCounts) called(code int, told bool) {
	all := r.calls.Load()
	if all == nil {
		r.calls.CompareAndSwap(nil, new(callCounts))
		all = r.calls.Load()
	}
	all[callIndex(code, told)].Add(1)
}

// each visits the combinations that there have been.
func (r *routeCounts) each(visit func(method, class int, h *histogram)) {
	all := r.series.Load()
	if all == nil {
		return
	}
	for method := range all {
		for class := range all[method] {
			if h := all[method][class].Load(); h != nil {
				visit(method, class, h)
			}
		}
	}
}
