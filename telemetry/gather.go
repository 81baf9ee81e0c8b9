package telemetry

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	dto "github.com/prometheus/client_model/go"
)

// Gatherer gathers the other parts and then m's requests, and what there is to say about the Go
// runtime and the process. What the settings in force switch off is left out.
func (m *Metrics) Gatherer(other ...Part) prometheus.Gatherer {
	r := prometheus.NewRegistry()
	r.MustRegister(append(parts(other), m.Requests), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		all, err := r.Gather()
		return m.enabled(all), err
	})
}

func (m *Metrics) enabled(all []*dto.MetricFamily) []*dto.MetricFamily {
	o := m.current.Load()
	if o == nil || o.settings.Enabled == nil {
		return all
	}
	var shown []*dto.MetricFamily
	for _, f := range all {
		if o.settings.Enabled(SpringName(f.GetName())) {
			shown = append(shown, f)
		}
	}
	return shown
}

// SpringName is the name of a metric as /actuator/metrics and the keys
// management.metrics.enable.* have it: Spring's where Spring has one, else with dots and
// without what Prometheus appends.
func SpringName(name string) string {
	switch name {
	case "http_server_request_duration_seconds":
		return "http.server.requests"
	case "gozer_http_server_request_duration_max_seconds":
		return "http.server.requests.max"
	case "http_server_active_requests":
		return "http.server.requests.active"
	case "http_client_request_duration_seconds":
		return "http.client.requests"
	case "gozer_http_client_request_duration_max_seconds":
		return "http.client.requests.max"
	case "process_cpu_seconds_total":
		return "process.cpu.time"
	case "process_open_fds":
		return "process.files.open"
	case "process_max_fds":
		return "process.files.max"
	case "process_start_time_seconds":
		return "process.start.time"
	}
	for _, suffix := range []string{"_total", "_seconds", "_bytes"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return strings.ReplaceAll(name, "_", ".")
}
