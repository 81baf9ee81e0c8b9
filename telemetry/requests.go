package telemetry

import (
	"maps"
	"slices"
	"time"
)

// The names of labels that several metrics share.
const (
	labelMethod  = "http_request_method"
	labelClass   = "http_response_status_class"
	labelRoute   = "http_route"
	labelService = "service"
	labelServer  = "server"
)

// Requests is the part about requests and attempts.
func (m *Metrics) Requests(e *Emitter) {
	e.Gauge("http_server_active_requests", "Requests that are being answered, without connections that have switched protocols.", float64(max(m.InFlight()-m.open(), 0)))
	o := m.current.Load()
	if o == nil {
		return
	}
	now := time.Now()
	m.mu.Lock()
	routes := slices.Collect(maps.Values(m.routes))
	services := slices.Collect(maps.Values(m.services))
	m.mu.Unlock()
	for _, r := range routes {
		o.route(e, r, now)
	}
	for _, s := range services {
		for _, server := range s.all() {
			o.server(e, s.id, server, now)
		}
	}
	t := m.tunnels.totals(now)
	e.Counter("gozer_tunnels_closed_total", "Connections that have switched protocols and have ended.", float64(t.count))
	e.Counter("gozer_tunnel_seconds_total", "How long connections lasted after they had switched protocols; those still open are not in it.", t.sum.Seconds())
}

// route tells of a route: the histogram by method and class, the bytes by class.
func (*Observer) route(e *Emitter, r *routeCounts, now time.Time) {
	var byClass [numClasses]totals
	var longest time.Duration
	r.each(func(method, class int, h *histogram) {
		t := h.totals(now)
		byClass[class].plus(t)
		longest = max(longest, t.max)
		e.histogram("http_server_request_duration_seconds", "Time from the head of a request to the end of its answer.", h.bounds, t,
			labelMethod, methodName(method), labelClass, className(class), labelRoute, r.id)
	})
	for class, t := range byClass {
		if t.count == 0 {
			continue
		}
		labels := []string{labelClass, className(class), labelRoute, r.id}
		e.Counter("gozer_http_server_request_body_bytes_total", "Bytes of request bodies read from clients.", float64(t.in), labels...)
		e.Counter("gozer_http_server_response_body_bytes_total", "Bytes of response bodies handed to clients' connections.", float64(t.out), labels...)
	}
	if calls := r.calls.Load(); calls != nil {
		for i := range calls {
			if n := calls[i].Load(); n > 0 {
				e.Counter("gozer_grpc_server_calls_total", "gRPC calls by the status that their clients were sent.", float64(n), labelRoute, r.id, "grpc_status", callName(i))
			}
		}
	}
	if longest > 0 {
		e.Gauge("gozer_http_server_request_duration_max_seconds", "The longest request of the last one to two minutes.", longest.Seconds(), labelRoute, r.id)
	}
}

func (*Observer) server(e *Emitter, service string, s *serverCounts, now time.Time) {
	t := s.took.totals(now)
	labels := []string{labelService, service, labelServer, s.id}
	e.histogram("http_client_request_duration_seconds", "Time from the choice of a server to the head of its response, or to the failure, for each attempt.", s.took.bounds, t, labels...)
	if t.max > 0 {
		e.Gauge("gozer_http_client_request_duration_max_seconds", "The longest attempt of the last one to two minutes.", t.max.Seconds(), labels...)
	}
	for i := range s.outcomes {
		if n := s.outcomes[i].Load(); n > 0 {
			e.Counter("gozer_client_attempts_total", "Attempts by class of status or cause of failure.", float64(n), append(labels, "outcome", outcomeName(i))...)
		}
	}
}
