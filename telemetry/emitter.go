package telemetry

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// A Part tells what it has counted, whenever somebody asks. It is called from any
// goroutine.
type Part func(e *Emitter)

// Emitter takes what parts have to tell. Labels are names and values in turn; the same
// name has to come with the same label names each time. The names of counters end in
// "_total".
type Emitter struct{ metrics chan<- prometheus.Metric }

// Counter tells a sum that only grows.
func (e *Emitter) Counter(name, help string, value float64, labels ...string) {
	e.emit(prometheus.CounterValue, name, help, value, labels)
}

// Gauge tells a value that goes up and down.
func (e *Emitter) Gauge(name, help string, value float64, labels ...string) {
	e.emit(prometheus.GaugeValue, name, help, value, labels)
}

func (e *Emitter) emit(kind prometheus.ValueType, name, help string, value float64, labels []string) {
	names, values := pairs(labels)
	e.metrics <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, names, nil), kind, value, values...)
}

func (e *Emitter) histogram(name, help string, bounds []time.Duration, t totals, labels ...string) {
	names, values := pairs(labels)
	buckets := make(map[float64]uint64, len(bounds))
	for i, bound := range bounds {
		buckets[bound.Seconds()] = t.cumulative[i]
	}
	e.metrics <- prometheus.MustNewConstHistogram(prometheus.NewDesc(name, help, names, nil), t.count, t.sum.Seconds(), buckets, values...)
}

// pairs mends values that are no UTF-8, which filters may have taken out of requests: the
// Prometheus client panics at them, in a goroutine of its own.
func pairs(labels []string) (names, values []string) {
	for i := 0; i+1 < len(labels); i += 2 {
		names, values = append(names, labels[i]), append(values, strings.ToValidUTF8(labels[i+1], "\uFFFD"))
	}
	return names, values
}

// parts is a collector of all parts. It describes nothing beforehand.
type parts []Part

var _ prometheus.Collector = parts(nil)

func (parts) Describe(chan<- *prometheus.Desc) {}

func (p parts) Collect(metrics chan<- prometheus.Metric) {
	e := &Emitter{metrics}
	for _, part := range p {
		part(e)
	}
}
