package gozer_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/otlptest"
)

// traced is a gateway that records every request and sends the spans to a collector.
type traced struct {
	*gozer.Gateway
	collector *otlptest.Collector
	url       string
	finish    func() // stops the gateway, which sends what is left
}

const allSampled = "management.tracing.sampling.probability: 1\nspring.application.name: edge\nmanagement.server.port: -1\n"

// tracing starts a gateway whose spans go over HTTP unless yaml says otherwise; %COLLECTOR%
// stands for the collector's address.
func tracing(tb testing.TB, yaml string, opts ...gozer.Option) *traced {
	tb.Helper()
	c := otlptest.Start(tb)
	if !strings.Contains(yaml, "management.otlp.tracing.endpoint") {
		yaml += "management.otlp.tracing.endpoint: " + c.HTTP + "/v1/traces\n"
	}
	yaml = strings.NewReplacer("%HTTP%", c.HTTP, "%GRPC%", c.GRPC).Replace(yaml)
	t := &traced{collector: c}
	t.Gateway, t.url, t.finish = serving(tb, yaml, opts...)
	return t
}

// serving starts a gateway on a socket; finish stops it and waits for its end.
func serving(tb testing.TB, yaml string, opts ...gozer.Option) (g *gozer.Gateway, url string, finish func()) {
	tb.Helper()
	l := loopback(tb)
	front := gozer.WithListen(func(context.Context, string) (net.Listener, error) { return l, nil })
	g = newGateway(tb, patient+yaml, append(opts, front)...)
	r := run(tb, g)
	return g, "http://" + l.Addr().String(), func() {
		tb.Helper()
		r.stop()
		if err := <-r.done; err != nil {
			tb.Error(err)
		}
	}
}

// ask sends a GET and returns status and body; headers are name, value, name, value….
func (g *traced) ask(tb testing.TB, path string, headers ...string) (status int, body string) {
	tb.Helper()
	return fetch(tb, g.url+path, headers...)
}

// awaitEnded waits until so many spans have ended, sent or not.
func (g *traced) awaitEnded(tb testing.TB, spans int64) {
	tb.Helper()
	otlptest.Eventually(tb, func() bool {
		s := gozer.TraceStats(g.Gateway)
		return s.Waiting+s.Exported == spans
	})
}

func fetch(tb testing.TB, url string, headers ...string) (status int, body string) {
	tb.Helper()
	r, err := http.NewRequestWithContext(tb.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		tb.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(r)
	if err != nil {
		tb.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return res.StatusCode, string(text)
}

// instrumented is an upstream with tracing of its own, which continues the gateway's traces.
func instrumented(t *testing.T, c *otlptest.Collector) string {
	t.Helper()
	exporter, err := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpointURL(c.HTTP+"/v1/traces"), otlptracehttp.WithHTTPClient(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}))
	if err != nil {
		t.Fatal(err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter), sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "users"))))
	t.Cleanup(func() { _ = provider.Shutdown(context.Background()) })
	return backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		_, span := provider.Tracer("users").Start(ctx, "handle", trace.WithSpanKind(trace.SpanKindServer))
		defer span.End()
		_, _ = io.WriteString(w, "hello")
	})).Addr
}

func TestTraceAcrossGatewayAndUpstream(t *testing.T) {
	for name, yaml := range map[string]string{
		"HTTP": "management.otlp.tracing.compression: gzip\nmanagement.otlp.tracing.headers.x-tenant: acme\n",
		"gRPC": "management.otlp.tracing: {transport: grpc, compression: gzip}\nmanagement.otlp.tracing.endpoint: \"%GRPC%\"\nmanagement.otlp.tracing.headers.x-tenant: acme\n",
	} {
		t.Run(name, func(t *testing.T) {
			upstream := otlptest.Start(t)
			g := tracing(t, usersAt(allSampled+yaml, instrumented(t, upstream)))
			status, body := g.ask(t, "/users/7?token=hunter2", "User-Agent", "test/1")
			if status != http.StatusOK || body != "hello" {
				t.Fatalf("answered %d %q", status, body)
			}
			g.finish()
			spans := append(g.collector.Await(t, 2), upstream.Await(t, 1)...)
			checkFamily(t, spans)
			if got := g.collector.Header("x-tenant"); got != "acme" {
				t.Errorf("x-tenant of the messages is %q", got)
			}
			if r := g.collector.Resource(); r["service.name"] != "edge" || r["service.instance.id"] == "" {
				t.Errorf("resource %v", r)
			}
		})
	}
}

// checkFamily wants a root of the gateway, its attempt, and the upstream's span below.
func checkFamily(t *testing.T, spans []otlptest.Span) {
	t.Helper()
	byService := map[string][]otlptest.Span{}
	for _, s := range spans {
		byService[s.Service] = append(byService[s.Service], s)
	}
	root, attempt := otlptest.Only(t, byService["edge"], "server"), otlptest.Only(t, byService["edge"], "client")
	below := otlptest.Only(t, byService["users"], "server")
	if root.Parent != "" || attempt.Parent != root.ID || below.Parent != attempt.ID {
		t.Errorf("the ancestry is broken: %+v", spans)
	}
	if attempt.TraceID != root.TraceID || below.TraceID != root.TraceID {
		t.Errorf("three spans in more than one trace: %+v", spans)
	}
	wantAttributes(t, root, map[string]string{
		"http.request.method": "GET", "http.route": "/users/**", "url.path": "/users/7", "url.scheme": "http", "http.response.status_code": "200",
		"network.protocol.version": "1.1", "client.address": "127.0.0.1", "user_agent.original": "test/1", "gozer.route": "users", "gozer.service": "users", "gozer.attempts": "1",
	})
	wantAttributes(t, attempt, map[string]string{
		"http.request.method": "GET", "server.address": "127.0.0.1", "http.response.status_code": "200", "service.peer.name": "users", "gozer.rule": "ZoneAvoidanceRule", "gozer.outcome": "answered",
	})
	if root.Name != "GET /users/**" || attempt.Name != "GET" {
		t.Errorf("names %q and %q", root.Name, attempt.Name)
	}
	for _, s := range spans {
		for key, value := range s.Attributes {
			if strings.Contains(value, "hunter2") {
				t.Errorf("C225 %s of %s shows the query", key, s.Name)
			}
		}
	}
}

func wantAttributes(t *testing.T, s otlptest.Span, want map[string]string) {
	t.Helper()
	for key, value := range want {
		if s.Attributes[key] != value {
			t.Errorf("%s span: %s is %q, want %q", s.Kind, key, s.Attributes[key], value)
		}
	}
}
