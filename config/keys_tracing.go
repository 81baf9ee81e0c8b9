package config

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Tracing is management.tracing.* and gateway.tracing.*. What is nil or zero has not been
// written out, so that OpenTelemetry's own variables decide about it.
type Tracing struct {
	Enabled     bool
	Probability *float64
	// Type, Consume and Produce are names of propagation formats. Type is both others.
	Type, Consume, Produce []string
	Baggage                bool
	// TrustedParents takes the traces of trusted proxies only.
	TrustedParents bool
}

// OTLP is management.otlp.* and management.opentelemetry.*: where telemetry goes. What is
// nil or zero has not been written out.
type OTLP struct {
	Traces   OTLPExport
	Metrics  OTLPExport
	Resource map[string]string
}

// OTLPExport says where one signal goes.
type OTLPExport struct {
	Enabled     bool
	Endpoint    string
	Transport   string // "http", "grpc" or ""
	Compression string // "gzip", "none" or ""
	Headers     map[string]string
	Timeout     time.Duration
	Step        time.Duration // of metrics
}

// The values of propagation types and of transports.
const (
	everyone       = "everyone"
	trustedProxies = "trusted-proxies"
	OTLPOverGRPC   = "grpc"
	OTLPOverHTTP   = "http"
)

func tracingKeys() []Key {
	keys := lift("", func(b *builder, _ []string) *Tracing { return &b.config.Tracing },
		boolean("management.tracing.enabled", "true", "trace requests; it takes an endpoint for spans too, see docs/tracing.md", func(t *Tracing) *bool { return &t.Enabled }),
		row[Tracing]{name: "management.tracing.sampling.probability", kind: "share from 0 to 1", def: "(0.1)", doc: "share of the traces that begin here which are recorded; the caller decides about the others", set: setProbability},
		formats("management.tracing.propagation.type", "", "formats that trace context is read and written in (W3C, B3, B3_MULTI), in place of the two keys below", func(t *Tracing) *[]string { return &t.Type }),
		formats("management.tracing.propagation.consume", "(W3C, B3, B3_MULTI)", "formats that it is read in; the first well-formed one counts", func(t *Tracing) *[]string { return &t.Consume }),
		formats("management.tracing.propagation.produce", "(W3C)", "formats that it is written in", func(t *Tracing) *[]string { return &t.Produce }),
		boolean("management.tracing.baggage.enabled", "true", "read the field `baggage` for filters and write it into their calls; routed requests keep theirs in any case", func(t *Tracing) *bool { return &t.Baggage }),
		parents(),
	)
	keys = append(keys, exportKeys("management.otlp.tracing.", func(o *OTLP) *OTLPExport { return &o.Traces })...)
	keys = append(keys, metricKeys()...)
	return append(keys, resourceKey())
}

func setProbability(t *Tracing, v *node) error {
	p, err := decimalOf(v, 0, 1)
	if err == nil {
		t.Probability = &p
	}
	return err
}

func parents() row[Tracing] {
	var whose string
	r := choice("gateway.tracing.parents", everyone, "whose trace context is taken: anybody's, or that of `server.forward-headers.trusted-proxies`", []string{everyone, trustedProxies}, func(*Tracing) *string { return &whose })
	set := r.set
	r.set = func(t *Tracing, v *node) error {
		err := set(t, v)
		t.TrustedParents = whose == trustedProxies
		return err
	}
	return r
}

func formats(name, def, doc string, field func(*Tracing) *[]string) row[Tracing] {
	read := func(v *node) ([]string, error) { return each(v, formatOf) }
	return row[Tracing]{name: name, kind: "list of formats", def: def, doc: doc, set: parsed(read, field)}
}

func formatOf(v *node) (string, error) {
	name, err := filled(v)
	if err != nil {
		return "", err
	}
	switch upper := strings.ReplaceAll(strings.ToUpper(name), "-", "_"); upper {
	case "W3C", "B3", "B3_MULTI":
		return upper, nil
	}
	return "", fault(v, "is none of W3C, B3, B3_MULTI")
}

func exported(of func(*OTLP) *OTLPExport) func(*builder, []string) *OTLPExport {
	return func(b *builder, _ []string) *OTLPExport { return of(&b.config.OTLP) }
}

func exportKeys(prefix string, of func(*OTLP) *OTLPExport) []Key {
	keys := lift(prefix, exported(of),
		boolean("export.enabled", "true", "send spans", func(e *OTLPExport) *bool { return &e.Enabled }),
		row[OTLPExport]{name: "endpoint", kind: "URL", doc: "where spans go, such as `http://localhost:4318/v1/traces`, or `http://localhost:4317` with gRPC", set: parsed(otlpURL, func(e *OTLPExport) *string { return &e.Endpoint })},
		choice("transport", "(http)", "what carries them", []string{OTLPOverHTTP, OTLPOverGRPC}, func(e *OTLPExport) *string { return &e.Transport }),
		choice("compression", "(none)", "how they are packed", []string{"none", "gzip"}, func(e *OTLPExport) *string { return &e.Compression }),
		duration("timeout", "(10s)", "limit of one message", time.Millisecond, time.Millisecond, func(e *OTLPExport) *time.Duration { return &e.Timeout }),
		dead[OTLPExport](Ignored, "connect-timeout", "`timeout` holds for the whole message"),
	)
	return append(keys, headerOf(prefix, of))
}

func metricKeys() []Key {
	const prefix = "management.otlp.metrics.export."
	of := func(o *OTLP) *OTLPExport { return &o.Metrics }
	keys := lift(prefix, exported(of),
		boolean("enabled", "true", "send metrics; it takes a URL too", func(e *OTLPExport) *bool { return &e.Enabled }),
		row[OTLPExport]{name: "url", kind: "URL", doc: "where metrics go, such as `http://localhost:4318/v1/metrics`", set: parsed(otlpURL, func(e *OTLPExport) *string { return &e.Endpoint })},
		duration("step", "(1m)", "time between two messages", time.Millisecond, 100*time.Millisecond, func(e *OTLPExport) *time.Duration { return &e.Step }),
		duration("read-timeout", "(10s)", "limit of one message", time.Millisecond, time.Millisecond, func(e *OTLPExport) *time.Duration { return &e.Timeout }),
		dead[OTLPExport](Ignored, "connect-timeout", "`read-timeout` holds for the whole message"),
		only[OTLPExport](Refused, "aggregation-temporality", "cumulative", "metrics are those that Prometheus would scrape"),
		dead[OTLPExport](Ignored, "**", "of `management.otlp.metrics.export` only those listed here"),
	)
	return append(keys, headerOf(prefix, of))
}

// otlpURL shows nothing of a URL that may hold a password.
func otlpURL(v *node) (string, error) {
	text, err := filled(v)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "", fault(v, "is no http or https URL")
	case u.User != nil:
		return "", errors.New("holds credentials; put them into `headers`")
	}
	return text, nil
}

func headerOf(prefix string, of func(*OTLP) *OTLPExport) Key {
	set := func(b *builder, values []string, v *node) error {
		value, err := textOf(v)
		switch {
		case err != nil:
			return err
		case !headerName.MatchString(values[0]):
			return fmt.Errorf("%q is no header name", values[0])
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r >= 0x7f }):
			return errors.New("a header value holds printable ASCII only")
		}
		e := of(&b.config.OTLP)
		if e.Headers == nil {
			e.Headers = map[string]string{}
		}
		e.Headers[values[0]] = value
		return nil
	}
	return Key{Name: prefix + "headers.<name>", Type: "text", Doc: "a header of every message, such as a token; its value is never shown", set: set}
}

func resourceKey() Key {
	set := func(b *builder, values []string, v *node) error {
		value, err := textOf(v)
		if err != nil {
			return err
		}
		if b.config.OTLP.Resource == nil {
			b.config.OTLP.Resource = map[string]string{}
		}
		b.config.OTLP.Resource[values[0]] = value
		return nil
	}
	return Key{Name: "management.opentelemetry.resource-attributes.**", Type: "text", Doc: "an attribute of everything that is sent, such as `service.namespace`", set: set}
}

func deadTracingKeys() []Key {
	return lift("", root,
		dead[Config](Refused, "management.zipkin.**", "spans are sent by OTLP; an OpenTelemetry Collector passes them on to Zipkin"),
		dead[Config](Ignored, "spring.sleuth.**", "use `management.tracing`"),
		dead[Config](Ignored, "spring.zipkin.**", "use `management.otlp.tracing`"),
		dead[Config](Ignored, "management.tracing.**", "of `management.tracing` only those listed here"),
	)
}
