// Package otlptest is an OTLP collector for tests: it takes traces and metrics over gRPC
// and over HTTP and keeps them.
package otlptest

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	_ "google.golang.org/grpc/encoding/gzip" // what clients may send
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

// Collector keeps what it is sent. Any number of goroutines may use it.
type Collector struct {
	// HTTP and GRPC are the base URLs.
	HTTP, GRPC string

	mu       sync.Mutex
	spans    []Span             // guarded by mu
	metrics  map[string]float64 // guarded by mu; the last sum or gauge of each name
	resource map[string]string  // guarded by mu; of the last message
	headers  []http.Header      // guarded by mu; of all messages, gRPC's metadata included
	packed   bool               // guarded by mu; a message was compressed
	refusing int                // guarded by mu; status for messages over HTTP, 0 for none
}

// Start listens until the test ends.
func Start(tb testing.TB) *Collector {
	tb.Helper()
	c := &Collector{metrics: map[string]float64{}}
	web := httptest.NewServer(c)
	var config net.ListenConfig
	l, err := config.Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	s := grpc.NewServer()
	tracepb.RegisterTraceServiceServer(s, traceService{c: c})
	metricspb.RegisterMetricsServiceServer(s, metricsService{c: c})
	var serving sync.WaitGroup
	serving.Go(func() { _ = s.Serve(l) }) // returns when it is stopped
	tb.Cleanup(func() {
		s.Stop()
		serving.Wait()
		web.Close()
	})
	c.HTTP, c.GRPC = web.URL, "http://"+l.Addr().String()
	return c
}

// Refuse answers messages over HTTP with a status; 0 takes them again.
func (c *Collector) Refuse(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refusing = status
}

func (c *Collector) note(h http.Header, packed bool) (refusal int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.headers = append(c.headers, h.Clone())
	c.packed = c.packed || packed
	return c.refusing
}

// ServeHTTP is OTLP over HTTP.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	packed := r.Header.Get("Content-Encoding") == "gzip"
	if packed && err == nil {
		var unpack *gzip.Reader
		if unpack, err = gzip.NewReader(bytes.NewReader(body)); err == nil {
			body, err = io.ReadAll(unpack)
		}
	}
	if refusal := c.note(r.Header, packed); refusal != 0 {
		w.WriteHeader(refusal)
		return
	}
	switch {
	case err != nil:
	case strings.HasSuffix(r.URL.Path, "/v1/traces"):
		var m tracepb.ExportTraceServiceRequest
		if err = proto.Unmarshal(body, &m); err == nil {
			c.addSpans(&m)
		}
	case strings.HasSuffix(r.URL.Path, "/v1/metrics"):
		var m metricspb.ExportMetricsServiceRequest
		if err = proto.Unmarshal(body, &m); err == nil {
			c.addMetrics(&m)
		}
	default:
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

type traceService struct {
	tracepb.UnimplementedTraceServiceServer
	c *Collector
}

func (s traceService) Export(ctx context.Context, m *tracepb.ExportTraceServiceRequest) (*tracepb.ExportTraceServiceResponse, error) {
	s.c.note(headerOf(ctx), false)
	s.c.addSpans(m)
	return &tracepb.ExportTraceServiceResponse{}, nil
}

type metricsService struct {
	metricspb.UnimplementedMetricsServiceServer
	c *Collector
}

func (s metricsService) Export(ctx context.Context, m *metricspb.ExportMetricsServiceRequest) (*metricspb.ExportMetricsServiceResponse, error) {
	s.c.note(headerOf(ctx), false)
	s.c.addMetrics(m)
	return &metricspb.ExportMetricsServiceResponse{}, nil
}

func headerOf(ctx context.Context) http.Header {
	md, _ := metadata.FromIncomingContext(ctx)
	h := http.Header{}
	for name, values := range md {
		for _, v := range values {
			h.Add(name, v)
		}
	}
	return h
}

// Header is a field of the last message that had it.
func (c *Collector) Header(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range slices.Backward(c.headers) {
		if v := h.Get(name); v != "" {
			return v
		}
	}
	return ""
}

// Messages is how many there have been, refused ones too.
func (c *Collector) Messages() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.headers)
}

// Packed reports whether a message over HTTP was compressed.
func (c *Collector) Packed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.packed
}

// Resource is that of the last message, by attribute.
func (c *Collector) Resource() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.resource
}

// Metric is the last value of a sum or gauge without regard to its attributes, or the
// count of a histogram.
func (c *Collector) Metric(name string) (value float64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	value, ok = c.metrics[name]
	return value, ok
}

// patience is more than any machine needs.
const patience = 20 * time.Second

// Await returns the spans once there are at least n.
func (c *Collector) Await(tb testing.TB, n int) []Span {
	tb.Helper()
	Eventually(tb, func() bool { return len(c.Spans()) >= n })
	return c.Spans()
}

// Eventually waits for something to be true.
func Eventually(tb testing.TB, is func() bool) {
	tb.Helper()
	look, end := time.NewTicker(5*time.Millisecond), time.After(patience)
	defer look.Stop()
	for !is() {
		select {
		case <-look.C:
		case <-end:
			tb.Fatal("it has not happened")
		}
	}
}
