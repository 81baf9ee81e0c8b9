package otlptest

import (
	"encoding/hex"
	"slices"
	"strconv"
	"testing"

	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	datapb "go.opentelemetry.io/proto/otlp/metrics/v1"
	spanpb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// Span is a span as the collector got it, ids in hexadecimal digits, values as text.
type Span struct {
	Name, Kind          string // Kind is "server", "client" or "internal"
	TraceID, ID, Parent string // Parent is "" for a root
	State               string
	Attributes          map[string]string
	Events              []string
	Failed              bool
	Start, End          uint64 // unix nanoseconds
	Service             string // service.name of its resource
}

// Spans are all that have come.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Only is the one span of a kind.
func Only(tb testing.TB, spans []Span, kind string) Span {
	tb.Helper()
	found := Of(spans, kind)
	if len(found) != 1 {
		tb.Fatalf("%d spans of kind %s in %+v, want one", len(found), kind, spans)
	}
	return found[0]
}

// Of are the spans of a kind, in the order of their beginnings.
func Of(spans []Span, kind string) []Span {
	found := slices.DeleteFunc(slices.Clone(spans), func(s Span) bool { return s.Kind != kind })
	slices.SortStableFunc(found, func(a, b Span) int { return int(int64(a.Start) - int64(b.Start)) }) //nolint:gosec // nanoseconds of one test
	return found
}

func (c *Collector) addSpans(m *tracepb.ExportTraceServiceRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, rs := range m.GetResourceSpans() {
		c.resource = texts(rs.GetResource().GetAttributes())
		for _, ss := range rs.GetScopeSpans() {
			for _, s := range ss.GetSpans() {
				c.spans = append(c.spans, spanOf(s, c.resource["service.name"]))
			}
		}
	}
}

func spanOf(s *spanpb.Span, service string) Span {
	kind := map[spanpb.Span_SpanKind]string{spanpb.Span_SPAN_KIND_SERVER: "server", spanpb.Span_SPAN_KIND_CLIENT: "client"}[s.GetKind()]
	if kind == "" {
		kind = "internal"
	}
	var events []string
	for _, e := range s.GetEvents() {
		events = append(events, e.GetName())
	}
	return Span{
		Name: s.GetName(), Kind: kind, TraceID: hex.EncodeToString(s.GetTraceId()), ID: hex.EncodeToString(s.GetSpanId()),
		Parent: hex.EncodeToString(s.GetParentSpanId()), State: s.GetTraceState(), Attributes: texts(s.GetAttributes()), Events: events,
		Failed: s.GetStatus().GetCode() == spanpb.Status_STATUS_CODE_ERROR, Start: s.GetStartTimeUnixNano(), End: s.GetEndTimeUnixNano(), Service: service,
	}
}

func texts(attributes []*commonpb.KeyValue) map[string]string {
	all := map[string]string{}
	for _, a := range attributes {
		all[a.GetKey()] = textOf(a.GetValue())
	}
	return all
}

func textOf(v *commonpb.AnyValue) string {
	switch v := v.GetValue().(type) {
	case *commonpb.AnyValue_StringValue:
		return v.StringValue
	case *commonpb.AnyValue_IntValue:
		return strconv.FormatInt(v.IntValue, 10)
	case *commonpb.AnyValue_BoolValue:
		return strconv.FormatBool(v.BoolValue)
	}
	return v.String()
}

func (c *Collector) addMetrics(m *metricspb.ExportMetricsServiceRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, rm := range m.GetResourceMetrics() {
		c.resource = texts(rm.GetResource().GetAttributes())
		for _, sm := range rm.GetScopeMetrics() {
			for _, metric := range sm.GetMetrics() {
				c.addMetric(metric)
			}
		}
	}
}

func (c *Collector) addMetric(m *datapb.Metric) {
	points := slices.Concat(m.GetSum().GetDataPoints(), m.GetGauge().GetDataPoints())
	for _, p := range points {
		c.metrics[m.GetName()] = p.GetAsDouble() + float64(p.GetAsInt())
	}
	for _, p := range m.GetHistogram().GetDataPoints() {
		c.metrics[m.GetName()] = float64(p.GetCount())
	}
}
