package e2e_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/otlptest"
)

// never sends spans before the end of the process.
const never = "OTEL_BSP_SCHEDULE_DELAY=3600000"

// startTraced runs a gateway that records every request and sends no span before its end.
func startTraced(t *testing.T, yaml string) (*gateway, *otlptest.Collector) {
	t.Helper()
	c := otlptest.Start(t)
	yaml += "\nmanagement.tracing.sampling.probability: 1\nmanagement.otlp.tracing.endpoint: " + c.HTTP + "/v1/traces\n"
	return start{yaml: yaml, env: []string{never}}.ready(t), c
}

// spansOf ends a gateway and gives what it has flushed.
func spansOf(t *testing.T, g *gateway, c *otlptest.Collector) []otlptest.Span {
	t.Helper()
	if n := c.Messages(); n != 0 {
		t.Errorf("%d messages before the end", n)
	}
	if code := g.Stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	return c.Spans()
}

// listener keeps the traceparent of each attempt; all but the last one fail.
type listener struct {
	mu      sync.Mutex
	parents []string // guarded by mu
	failing int
}

func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.parents = append(l.parents, r.Header.Get("Traceparent"))
	if len(l.parents) <= l.failing {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// The client's span, the gateway's, one for each attempt, and what each server was told: one
// trace, which the access log names.
func TestTraceOfARetriedRequest(t *testing.T) {
	t.Parallel()
	const trace, caller = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	heard := &listener{failing: 2}
	b := backendtest.Start(t, heard)
	file := filepath.Join(t.TempDir(), "access.log")
	g, c := startTraced(t, oneYAML(b.Addr, retryable, ", retryableStatusCodes: 503, MaxAutoRetries: 2"+notNext)+strings.ReplaceAll(quickLog, "FILE", file))
	g.Get("/one/x", "Traceparent: 00-"+trace+"-"+caller+"-01").wantStatus(t, http.StatusOK)
	line := logLines(t, file, 1)[0]
	g.wantMetric("gozer_trace_spans_waiting 4")
	spans := spansOf(t, g, c)
	root, attempts := otlptest.Only(t, spans, "server"), otlptest.Of(spans, "client")
	if root.TraceID != trace || root.Parent != caller || root.Failed || root.Name != "GET /one/**" {
		t.Errorf("the request: %+v", root)
	}
	if len(attempts) != 3 || len(heard.parents) != 3 {
		t.Fatalf("%d spans of %d attempts, want 3", len(attempts), len(heard.parents))
	}
	for i, a := range attempts {
		if a.Parent != root.ID || a.TraceID != trace || a.Failed != (i < 2) {
			t.Errorf("attempt %d: %+v", i, a)
		}
		if want := "00-" + trace + "-" + a.ID + "-01"; heard.parents[i] != want {
			t.Errorf("attempt %d: the server was told %q, want %q", i, heard.parents[i], want)
		}
	}
	var logged struct {
		TraceID string `json:"trace_id"`
		SpanID  string `json:"span_id"`
	}
	if err := json.Unmarshal([]byte(line), &logged); err != nil || logged.TraceID != trace || logged.SpanID != root.ID {
		t.Errorf("the access log says %s, %v", line, err)
	}
}

// At 100 % nothing is missing, and every trace is one of its own.
func TestEveryRequestIsTraced(t *testing.T) {
	t.Parallel()
	b := backendtest.Start(t, backendtest.Answer(http.StatusOK, "served"))
	g, c := startTraced(t, oneYAML(b.Addr, "", ""))
	const requests = 30
	for i := range requests {
		g.Get("/one/"+strconv.Itoa(i)).wantStatus(t, http.StatusOK)
	}
	spans := spansOf(t, g, c)
	roots := map[string]otlptest.Span{}
	for _, s := range otlptest.Of(spans, "server") {
		roots[s.TraceID] = s
	}
	attempts := otlptest.Of(spans, "client")
	if len(roots) != requests || len(attempts) != requests {
		t.Fatalf("%d traces and %d attempts of %d requests", len(roots), len(attempts), requests)
	}
	for _, a := range attempts {
		if a.Parent != roots[a.TraceID].ID {
			t.Errorf("attempt %+v below %+v", a, roots[a.TraceID])
		}
	}
}

// The other front doors give the same spans.
func TestTracesOfHTTP2AndGRPC(t *testing.T) {
	t.Parallel()
	up := startGreeter(t)
	b := backendtest.Start(t, backendtest.Answer(http.StatusOK, "served"))
	g, c := startTraced(t, greeting(oneYAML(b.Addr, "", ""), up.addr))
	client := g.dialH2()
	client.ask(get2("/one/x")...).wantStatus(t, http.StatusOK)
	g.wantMetric("gozer_trace_spans_waiting 2") // before those of the next request
	conn := dialGRPC(t, g.Proxy)
	if got, err := call(within(t, patience), conn, "/greeter/Hello", "!metadata traceparent"); err != nil || strings.Count(got, "-") < 3 {
		t.Errorf("the server was told %q, %v", got, err)
	}
	_ = conn.Close()
	_ = client.conn.Close()
	spans := spansOf(t, g, c)
	roots, attempts := otlptest.Of(spans, "server"), otlptest.Of(spans, "client")
	if len(roots) != 2 || len(attempts) != 2 {
		t.Fatalf("%+v", spans)
	}
	var names []string
	for i, root := range roots {
		names = append(names, root.Name)
		if root.Attributes["network.protocol.version"] != "2" || root.Failed || attempts[i].Parent != root.ID {
			t.Errorf("%+v with %+v", root, attempts[i])
		}
	}
	if want := []string{"GET /one/**", "POST /greeter/**"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}
