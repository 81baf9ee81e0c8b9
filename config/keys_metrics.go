package config

import (
	"strings"
	"time"
)

// Metrics is management.metrics.*.
type Metrics struct {
	// Enable is management.metrics.enable.<prefix of a name>, "all" for every name. Use
	// Config.MetricEnabled.
	Enable map[string]bool

	// Server and Client are management.metrics.distribution.slo.http.server.requests and
	// …http.client.requests: the bounds of histograms, ascending; nil means the usual ones.
	Server, Client []time.Duration

	MaxServers int
}

const (
	serverRequests = "http.server.requests"
	clientRequests = "http.client.requests"
)

// mostBounds bounds the bounds of a histogram.
const mostBounds = 20

func metricsKeys() []Key {
	metrics := func(b *builder, _ []string) *Metrics { return &b.config.Management.Metrics }
	return append(
		lift("management.metrics.", metrics,
			number("max-servers", "100", "servers of a service that have series of their own; the attempts on others are added up under `other`", 1, 10_000, func(m *Metrics) *int { return &m.MaxServers }),
			buckets("distribution.slo."+serverRequests, "requests", func(m *Metrics) *[]time.Duration { return &m.Server }),
			buckets("distribution.slo."+clientRequests, "attempts", func(m *Metrics) *[]time.Duration { return &m.Client }),
			dead[Metrics](Ignored, "distribution.slo.**", "only "+serverRequests+" and "+clientRequests+" are histograms"),
			dead[Metrics](Ignored, "distribution.percentiles-histogram.**", "durations of requests and attempts are always histograms, and no others are"),
			dead[Metrics](Ignored, "distribution.percentiles.**", "let Prometheus compute them from the histograms"),
		),
		Key{
			Name: "management.metrics.enable.<key>", Type: "bool", Default: "true", set: setMetricEnabled,
			Doc: "show metrics whose name is or begins with `<key>`, such as `http.server` or `go`; the longest one that fits decides; `all` for every name. Without `http.server.requests` and `http.client.requests` requests are not counted at all",
		},
	)
}

// buckets are the bounds of a histogram.
func buckets(name, of string, field func(*Metrics) *[]time.Duration) row[Metrics] {
	return row[Metrics]{
		name: name, kind: "list of durations", def: "(those of the semantic conventions, 5ms to 10s)", set: parsed(boundsOf, field),
		doc: "bounds of the histogram of " + of + ", ascending, at most 20; plain numbers are milliseconds; a reload that changes them begins to count anew",
	}
}

func setMetricEnabled(b *builder, values []string, v *node) error {
	on, err := boolOf(v)
	if err == nil {
		b.config.Management.Metrics.Enable[strings.ToLower(values[0])] = on
	}
	return err
}

func boundsOf(v *node) ([]time.Duration, error) {
	list, err := each(v, boundOf)
	switch {
	case err != nil:
		return nil, err
	case len(list) == 0 || len(list) > mostBounds:
		return nil, fault(v, "needs 1 to %d bounds", mostBounds)
	}
	for i := 1; i < len(list); i++ {
		if list[i] <= list[i-1] {
			return nil, fault(v, "is not ascending: %s comes after %s", list[i], list[i-1])
		}
	}
	return list, nil
}

func boundOf(e *node) (time.Duration, error) {
	d, err := durationOf(e, time.Millisecond)
	if err == nil && d <= 0 {
		err = fault(e, "is too small (more than 0)")
	}
	return d, err
}

// MetricEnabled reports whether a metric with that name in Spring's form is shown.
func (c *Config) MetricEnabled(name string) bool {
	on, longest := true, -1
	if all, set := c.Management.Metrics.Enable["all"]; set {
		on, longest = all, 0
	}
	for prefix, enabled := range c.Management.Metrics.Enable {
		if (name == prefix || strings.HasPrefix(name, prefix+".")) && len(prefix) > longest {
			on, longest = enabled, len(prefix)
		}
	}
	return on
}

// CountsRequests reports whether anything about requests is shown, so that they have to be
// counted.
func (c *Config) CountsRequests() bool {
	return c.MetricEnabled(serverRequests) || c.MetricEnabled(clientRequests)
}
