package gozer

import (
	"context"
	"errors"
	"maps"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/lb"
	"github.com/gozer-gateway/gozer/ribboncmd"
	"github.com/gozer-gateway/gozer/telemetry"
)

// exports are what leaves the process by OTLP. Nil is what is not configured. They are
// made once: their keys need a restart.
type exports struct {
	env     telemetry.Env
	traces  *telemetry.Traces
	metrics *telemetry.MetricsExport

	resource *resource.Resource // of both
}

// flushTime bounds what the last spans and metrics delay the end of the process.
const flushTime = 3 * time.Second

// openExports builds what the configuration of the start asks for. OTEL_… variables that
// make no sense are logged: they come from outside, and are no reason not to serve.
func openExports(cfg *config.Config, o *options, metrics prometheus.Gatherer) exports {
	e := exports{env: os.Getenv}
	if e.env.Disabled() {
		return e
	}
	if err := e.openTraces(cfg, o); err != nil {
		o.logger.Error("requests are not traced", "error", err)
	}
	if err := e.openMetrics(cfg, o, metrics); err != nil {
		o.logger.Error("metrics are not exported", "error", err)
	}
	return e
}

func (e *exports) openMetrics(cfg *config.Config, o *options, source prometheus.Gatherer) error {
	exporter, err := exporterOf(e.env, telemetry.MetricsSignal, cfg.OTLP.Metrics)
	if err != nil || exporter.Endpoint == "" {
		return err
	}
	if err = e.describe(cfg, o.version); err != nil {
		return err
	}
	step, err := e.env.Step()
	if own := cfg.OTLP.Metrics.Step; own > 0 {
		step = own
	}
	if err != nil {
		return err
	}
	e.metrics, err = telemetry.NewMetricsExport(telemetry.MetricsExportSettings{
		Exporter: exporter, Step: step, Resource: e.resource, Gatherer: source, Logger: o.logger,
	})
	return err
}

func (e *exports) openTraces(cfg *config.Config, o *options) error {
	exporter, err := exporterOf(e.env, telemetry.TracesSignal, cfg.OTLP.Traces)
	if err != nil || exporter.Endpoint == "" {
		return err
	}
	if err = e.describe(cfg, o.version); err != nil {
		return err
	}
	queue, err := e.env.Queue()
	if err != nil {
		return err
	}
	_, err = e.tracerSettings(cfg)
	if err != nil {
		return err
	}
	e.traces, err = telemetry.NewTraces(telemetry.TracesSettings{
		Exporter: exporter, Queue: queue, Resource: e.resource, Logger: o.logger,
	})
	return err
}

// exporterOf lets the keys that are written out win over the variables.
func exporterOf(env telemetry.Env, signal telemetry.Signal, own config.OTLPExport) (telemetry.Exporter, error) {
	e, err := env.Exporter(signal)
	if !own.Enabled {
		return telemetry.Exporter{}, nil
	}
	if own.Endpoint != "" {
		e.Endpoint, e.GRPC = own.Endpoint, false
	}
	if own.Transport != "" {
		e.GRPC = own.Transport == config.OTLPOverGRPC
	}
	if own.Compression != "" {
		e.Gzip = own.Compression == "gzip"
	}
	if own.Headers != nil {
		e.Headers = own.Headers
	}
	if own.Timeout > 0 {
		e.Timeout = own.Timeout
	}
	return e, err
}

// describe says what the gateway is: as in Spring Boot the variables win over
// spring.application.name, and the keys of resource attributes over both.
func (e *exports) describe(cfg *config.Config, version string) error {
	all, err := e.env.ResourceAttributes()
	if err != nil || e.resource != nil {
		return err
	}
	if all["service.name"] == "" {
		all["service.name"] = cfg.Application.Name
	}
	maps.Copy(all, cfg.OTLP.Resource)
	e.resource = telemetry.Resource(version, all)
	return nil
}

// run sends until ctx ends, and flushes then.
func (e *exports) run(ctx context.Context, running *sync.WaitGroup, drain time.Duration) {
	if e.traces != nil {
		running.Go(func() { e.traces.Run(ctx, min(drain, flushTime)) })
	}
	if e.metrics != nil {
		running.Go(func() { e.metrics.Run(ctx, min(drain, flushTime)) })
	}
}

// trace puts the tracer into a snapshot; nil when tracing is off.
func (e *exports) trace(s *snapshot) error {
	if e.traces == nil || !s.config.Tracing.Enabled {
		return nil
	}
	settings, err := e.tracerSettings(s.config)
	if err == nil {
		s.tracer = e.traces.Tracer(settings)
	}
	return err
}

// The defaults of Spring Boot.
const (
	probability = 0.1
	consumed    = telemetry.W3C | telemetry.B3 | telemetry.B3Multi
	produced    = telemetry.W3C
)

func (e *exports) tracerSettings(cfg *config.Config) (telemetry.TracerSettings, error) {
	s := telemetry.TracerSettings{Probability: probability, Consume: consumed, Produce: produced, TrustedOnly: cfg.Tracing.TrustedParents}
	share, ignores, set, err := e.env.Sampling()
	if set {
		s.Probability, s.IgnoreParent = share, ignores
	}
	if p := cfg.Tracing.Probability; p != nil {
		s.Probability, s.IgnoreParent = *p, false
	}
	formats, set, failure := e.env.Propagators()
	baggage := telemetry.Baggage
	if set {
		s.Consume, s.Produce, baggage = formats, formats, formats&telemetry.Baggage
	}
	if !cfg.Tracing.Baggage {
		baggage = 0
	}
	failure = errors.Join(failure, choose(&s.Consume, cfg.Tracing.Type, cfg.Tracing.Consume), choose(&s.Produce, cfg.Tracing.Type, cfg.Tracing.Produce))
	s.Consume, s.Produce = s.Consume&^telemetry.Baggage|baggage, s.Produce&^telemetry.Baggage|baggage
	return s, errors.Join(err, failure)
}

// choose takes the first list that is written out.
func choose(f *telemetry.Formats, lists ...[]string) (err error) {
	for _, list := range lists {
		if len(list) > 0 {
			*f, err = telemetry.ParseFormats(list)
			return err
		}
	}
	return nil
}

// attemptTracer is what load-balanced calls ask, nil when tracing is off.
func (s *snapshot) attemptTracer() lb.Tracer {
	if s.tracer == nil {
		return nil
	}
	return s.tracer
}

func (s *snapshot) commandTracer() ribboncmd.Tracer {
	if s.tracer == nil {
		return nil
	}
	return s.tracer
}
