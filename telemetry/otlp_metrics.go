package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	"google.golang.org/grpc"
)

// MetricsExportSettings say where metrics go. They hold from the start to the end.
type MetricsExportSettings struct {
	Exporter Exporter
	Step     time.Duration // between two messages; zero means a minute
	Resource *resource.Resource
	Gatherer prometheus.Gatherer // of what is sent
	Logger   *slog.Logger
}

// MetricsExport sends what Prometheus would scrape.
type MetricsExport struct {
	settings MetricsExportSettings
	reader   *sdkmetric.ManualReader
	provider *sdkmetric.MeterProvider // which the reader belongs to
	exporter sdkmetric.Exporter
	close    func()
	troubles troubles // of Run alone
}

// NewMetricsExport builds it and sends nothing.
func NewMetricsExport(s MetricsExportSettings) (*MetricsExport, error) {
	if err := s.Exporter.check(); err != nil {
		return nil, err
	}
	if s.Step <= 0 {
		s.Step = time.Minute
	}
	m := &MetricsExport{settings: s, close: func() {}}
	m.reader = sdkmetric.NewManualReader(sdkmetric.WithProducer(bridge.NewMetricProducer(bridge.WithGatherer(s.Gatherer))))
	m.provider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(m.reader), sdkmetric.WithResource(s.Resource))
	return m, nil
}

// Run sends metrics until ctx ends, and once more then, within grace.
func (m *MetricsExport) Run(ctx context.Context, grace time.Duration) {
	work, stop := graceful(ctx, grace)
	defer stop()
	var err error
	if m.exporter, m.close, err = m.settings.Exporter.metrics(work); err != nil {
		m.settings.Logger.Error("metrics are not exported", "error", err)
		return
	}
	tick := time.NewTicker(m.settings.Step)
	defer tick.Stop()
	for ended := false; !ended; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			ended = true
		}
		m.troubles.note(m.settings.Logger, "metrics", m.send(work))
	}
	_ = m.exporter.Shutdown(work) // everything has been sent or given up
	m.close()
}

func (m *MetricsExport) send(parent context.Context) error {
	ctx, cancel := context.WithTimeout(parent, min(m.settings.Step, mostTrying))
	defer cancel()
	var all metricdata.ResourceMetrics
	if err := m.reader.Collect(ctx, &all); err != nil {
		return fmt.Errorf("telemetry: collecting metrics: %w", err)
	}
	return m.exporter.Export(ctx, &all)
}

// metrics makes the exporter of metrics, and what closes its connections.
func (e *Exporter) metrics(ctx context.Context) (sdkmetric.Exporter, func(), error) {
	if e.GRPC {
		options := []otlpmetricgrpc.Option{
			otlpmetricgrpc.WithEndpointURL(e.Endpoint), otlpmetricgrpc.WithHeaders(e.Headers), otlpmetricgrpc.WithTimeout(e.timeout()),
			otlpmetricgrpc.WithRetry(otlpmetricgrpc.RetryConfig{Enabled: true, InitialInterval: firstPause, MaxInterval: mostPause, MaxElapsedTime: mostTrying}),
			otlpmetricgrpc.WithDialOption(grpc.WithDefaultCallOptions(grpc.UseCompressor(e.compressor()))),
		}
		if e.secure() {
			options = append(options, otlpmetricgrpc.WithTLSCredentials(e.credentials()))
		}
		exporter, err := otlpmetricgrpc.New(ctx, options...)
		return exporter, func() {}, err
	}
	client, transport := e.httpClient()
	compression := otlpmetrichttp.NoCompression
	if e.Gzip {
		compression = otlpmetrichttp.GzipCompression
	}
	exporter, err := otlpmetrichttp.New(ctx,
		otlpmetrichttp.WithEndpointURL(e.Endpoint), otlpmetrichttp.WithHeaders(e.Headers), otlpmetrichttp.WithTimeout(e.timeout()),
		otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{Enabled: true, InitialInterval: firstPause, MaxInterval: mostPause, MaxElapsedTime: mostTrying}),
		otlpmetrichttp.WithCompression(compression), otlpmetrichttp.WithHTTPClient(client),
	)
	return exporter, transport.CloseIdleConnections, err
}
