package admin

import (
	"strings"

	dto "github.com/prometheus/client_model/go"

	"github.com/gozer-gateway/gozer/telemetry"
)

// gathered are the metrics that Prometheus sees, by Spring's names.
func (a *api) gathered() map[string]metric {
	all := map[string]metric{}
	if a.settings.Gatherer == nil {
		return all
	}
	families, _ := a.settings.Gatherer.Gather() // what could be gathered is given with the error
	longest := map[string]float64{}
	for _, f := range families {
		name := telemetry.SpringName(f.GetName())
		if of, is := strings.CutSuffix(name, ".max"); is && strings.HasSuffix(of, ".requests") {
			for _, m := range f.GetMetric() {
				longest[of+identity(of, m)] = m.GetGauge().GetValue()
			}
			continue
		}
		all[name] = metric{Name: name, Description: f.GetHelp(), BaseUnit: unitOf(f.GetName()), samples: samplesOf(name, f)}
	}
	for name, m := range all {
		for i := range m.samples {
			addLongest(&m.samples[i], longest, name)
		}
	}
	return all
}

// identity is what the longest durations of a metric are known by: the route, or service
// and server.
func identity(name string, m *dto.Metric) string {
	var id strings.Builder
	for _, l := range m.GetLabel() {
		for _, tag := range springTags(name, l) {
			id.WriteString("\x00" + tag[0] + ":" + tag[1])
		}
	}
	return id.String()
}

// addLongest puts the longest duration that there is for the tags of s into its MAX.
func addLongest(s *sample, longest map[string]float64, name string) {
	if len(s.stats) < 3 {
		return
	}
	var id strings.Builder
	for _, t := range s.tags {
		if t[0] == "uri" || t[0] == "service" || t[0] == "server" {
			id.WriteString("\x00" + t[0] + ":" + t[1])
		}
	}
	s.stats[2].Value = longest[name+id.String()]
}

func samplesOf(name string, f *dto.MetricFamily) []sample {
	samples := make([]sample, 0, len(f.GetMetric()))
	for _, m := range f.GetMetric() {
		s := sample{stats: statsOf(f.GetType(), m)}
		for _, l := range m.GetLabel() {
			s.tags = append(s.tags, springTags(name, l)...)
		}
		samples = append(samples, s)
	}
	return samples
}

func statsOf(kind dto.MetricType, m *dto.Metric) []measurement {
	switch kind {
	case dto.MetricType_COUNTER:
		return []measurement{{"COUNT", m.GetCounter().GetValue()}}
	case dto.MetricType_HISTOGRAM:
		h := m.GetHistogram()
		return []measurement{{"COUNT", float64(h.GetSampleCount())}, {"TOTAL_TIME", h.GetSampleSum()}, {"MAX", 0}}
	case dto.MetricType_SUMMARY:
		s := m.GetSummary()
		return []measurement{{"COUNT", float64(s.GetSampleCount())}, {"TOTAL_TIME", s.GetSampleSum()}}
	case dto.MetricType_GAUGE, dto.MetricType_UNTYPED, dto.MetricType_GAUGE_HISTOGRAM:
	}
	return []measurement{{"VALUE", m.GetGauge().GetValue() + m.GetUntyped().GetValue()}}
}

func unitOf(name string) string {
	name = strings.TrimSuffix(name, "_total")
	for _, unit := range []string{"seconds", "bytes"} {
		if strings.HasSuffix(name, "_"+unit) {
			return unit
		}
	}
	return ""
}

// springTags is a label as Spring's metrics of requests have it.
func springTags(name string, l *dto.LabelPair) [][2]string {
	value := l.GetValue()
	if !strings.HasPrefix(name, "http.server.") {
		return [][2]string{{l.GetName(), value}}
	}
	switch l.GetName() {
	case "http_request_method":
		return [][2]string{{"method", value}}
	case "http_route":
		return [][2]string{{"uri", value}}
	case "http_response_status_class":
		return [][2]string{{"status", value}, {"outcome", outcomeOf(value)}}
	}
	return [][2]string{{l.GetName(), value}}
}

// outcomeOf is Spring's word for a class of statuses.
func outcomeOf(class string) string {
	switch class {
	case "1xx":
		return "INFORMATIONAL"
	case "2xx":
		return "SUCCESS"
	case "3xx":
		return "REDIRECTION"
	case "4xx":
		return "CLIENT_ERROR"
	case "5xx":
		return "SERVER_ERROR"
	}
	return "UNKNOWN"
}
