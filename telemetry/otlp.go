package telemetry

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/gzip"
)

// Exporter says where one signal goes, and how.
type Exporter struct {
	// Endpoint is a URL. HTTP posts to exactly that one; of gRPC the path has no meaning.
	// Empty means that the signal is not exported.
	Endpoint string
	GRPC     bool
	// Headers go with every message. They hold tokens: nothing shows their values.
	Headers map[string]string
	Gzip    bool
	Timeout time.Duration // of one message; zero means 10 s
	TLS     *tls.Config   // for https; nil means the system's authorities
}

func (e *Exporter) check() error {
	u, err := url.Parse(e.Endpoint)
	switch {
	case err != nil, u.Host == "", u.Scheme != "http" && u.Scheme != "https":
		return errors.New("telemetry: the OTLP endpoint is no http or https URL")
	case u.User != nil:
		return errors.New("telemetry: the OTLP endpoint must not hold credentials; use headers")
	case u.Scheme == "http" && e.TLS != nil:
		return errors.New("telemetry: certificates are configured, and an OTLP endpoint without TLS")
	}
	return nil
}

func (e *Exporter) timeout() time.Duration {
	if e.Timeout <= 0 {
		return 10 * time.Second
	}
	return e.Timeout
}

// How often a message is repeated that the collector was too busy for. The time-out of
// a batch bounds it, too.
const (
	firstPause = time.Second
	mostPause  = 5 * time.Second
	mostTrying = 20 * time.Second
)

// httpClient has connections of its own, which end with the exporter, and hands tokens
// to nobody that it is redirected to.
func (e *Exporter) httpClient() (*http.Client, *http.Transport) {
	dialer := net.Dialer{Timeout: e.timeout(), KeepAlive: 30 * time.Second}
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSClientConfig: e.TLS.Clone(), ForceAttemptHTTP2: true,
		MaxIdleConns: 2, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: e.timeout(),
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &http.Client{Transport: t, Timeout: e.timeout(), CheckRedirect: stay}, t
}

func (e *Exporter) credentials() credentials.TransportCredentials {
	return credentials.NewTLS(e.TLS.Clone())
}

func (e *Exporter) secure() bool {
	u, err := url.Parse(e.Endpoint)
	return err == nil && u.Scheme == "https"
}

// traces makes the exporter of traces, and what closes its connections.
func (e *Exporter) traces() (*otlptrace.Exporter, func()) {
	if e.GRPC {
		options := []otlptracegrpc.Option{
			otlptracegrpc.WithEndpointURL(e.Endpoint), otlptracegrpc.WithHeaders(e.Headers), otlptracegrpc.WithTimeout(e.timeout()),
			otlptracegrpc.WithRetry(otlptracegrpc.RetryConfig{Enabled: true, InitialInterval: firstPause, MaxInterval: mostPause, MaxElapsedTime: mostTrying}),
			otlptracegrpc.WithDialOption(grpc.WithDefaultCallOptions(grpc.UseCompressor(e.compressor()))),
		}
		if e.secure() {
			options = append(options, otlptracegrpc.WithTLSCredentials(e.credentials()))
		}
		return otlptrace.NewUnstarted(otlptracegrpc.NewClient(options...)), func() {}
	}
	client, transport := e.httpClient()
	compression := otlptracehttp.NoCompression
	if e.Gzip {
		compression = otlptracehttp.GzipCompression
	}
	return otlptrace.NewUnstarted(otlptracehttp.NewClient(
		otlptracehttp.WithEndpointURL(e.Endpoint), otlptracehttp.WithHeaders(e.Headers), otlptracehttp.WithTimeout(e.timeout()),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: true, InitialInterval: firstPause, MaxInterval: mostPause, MaxElapsedTime: mostTrying}),
		otlptracehttp.WithCompression(compression), otlptracehttp.WithHTTPClient(client),
	)), transport.CloseIdleConnections
}

// compressor is of gRPC's. OTEL_EXPORTER_OTLP_COMPRESSION, which the exporter reads by
// itself, does not get through.
func (e *Exporter) compressor() string {
	if e.Gzip {
		return gzip.Name
	}
	return encoding.Identity
}
