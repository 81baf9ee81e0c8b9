package gozer_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/trace"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/internal/otlptest"
	"github.com/gozer-gateway/gozer/internal/race"
)

// parents is an upstream that answers with the traceparent it got.
func parents(t *testing.T) string {
	t.Helper()
	return backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Header.Get("Traceparent"))
	})).Addr
}

func TestRetriedRequestShowsItsAttempts(t *testing.T) {
	busy := backendtest.Start(t, backendtest.Answer(http.StatusServiceUnavailable, "busy")).Addr
	g := tracing(t, "zuul.routes.users: {path: /users/**, retryable: true}\nusers.ribbon: {listOfServers: \""+busy+","+busy+"\", retryableStatusCodes: 503, MaxAutoRetries: 2, MaxAutoRetriesNextServer: 0}\n"+allSampled)
	if status, _ := g.ask(t, "/users/1"); status != http.StatusServiceUnavailable {
		t.Errorf("status %d", status)
	}
	g.finish()
	spans := g.collector.Await(t, 4)
	root, attempts := otlptest.Only(t, spans, "server"), otlptest.Of(spans, "client")
	if len(attempts) != 3 {
		t.Fatalf("%d attempts, want 3", len(attempts))
	}
	for i, a := range attempts {
		resend := ""
		if i > 0 {
			resend = strconv.Itoa(i)
		}
		if a.Parent != root.ID || !a.Failed || a.Attributes["http.request.resend_count"] != resend || a.Attributes["http.response.status_code"] != "503" {
			t.Errorf("attempt %d: %+v", i, a)
		}
	}
	if root.Attributes["gozer.attempts"] != "3" || !root.Failed || root.Attributes["error.type"] != "503" {
		t.Errorf("root: %+v", root)
	}
}

// What a request has failed of is what its last attempt has failed of, however many there were.
func TestErrorTypeIsThatOfTheLastAttempt(t *testing.T) {
	silent := backendtest.Start(t, backendtest.Hang()).Addr
	for name, tc := range map[string]struct {
		servers, more, want string
		attempts            int
	}{
		"one dead server":  {"127.0.0.1:1", ", MaxAutoRetriesNextServer: 0", "connect", 1},
		"dead servers":     {"127.0.0.1:1,127.0.0.2:1", "", "connect", 2},
		"one, tried again": {"127.0.0.1:1", ", MaxAutoRetries: 1, MaxAutoRetriesNextServer: 0", "connect", 2},
		"slow servers":     {silent + "," + silent, ", ReadTimeout: 20", "timeout", 2},
		"no TLS is spoken": {silent + "," + silent, ", IsSecure: true", "tls", 2},
		"broken, retried":  {backendtest.Start(t, backendtest.Reset()).Addr, ", MaxAutoRetries: 1, MaxAutoRetriesNextServer: 0", "broken", 2},
	} {
		t.Run(name, func(t *testing.T) {
			g := tracing(t, "zuul.routes.users: {path: /users/**, retryable: true}\nusers.ribbon: {listOfServers: \""+tc.servers+"\""+tc.more+"}\n"+allSampled)
			g.ask(t, "/users/1")
			g.finish()
			spans := g.collector.Await(t, tc.attempts+1)
			for _, s := range spans {
				if got := s.Attributes["error.type"]; got != tc.want || !s.Failed {
					t.Errorf("%s: error.type is %q, want %q", s.Kind, got, tc.want)
				}
			}
			if len(spans) != tc.attempts+1 {
				t.Errorf("%d spans, want %d", len(spans), tc.attempts+1)
			}
		})
	}
}

// A body that breaks off is a failure of its server, also of the attempt; one that its
// client does not want to the end is not.
func TestBodyThatBreaksOffOnTheSpans(t *testing.T) {
	hold := make(chan struct{})
	defer close(hold)
	answers := http.NewServeMux()
	answers.Handle("/cut", backendtest.Cut("half of it", 10))
	answers.HandleFunc("/silent", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "first")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-hold:
		}
	})
	upstream := backendtest.Start(t, answers).Addr
	for _, route := range []string{"users", "away"} {
		for target, want := range map[string]struct {
			read          int // so many bytes the client waits for
			root, attempt string
		}{"/cut": {100, "broken", "broken"}, "/silent": {5, "client_gone", ""}} {
			t.Run(route+target, func(t *testing.T) {
				g := tracing(t, usersAt(allSampled, upstream)+"zuul.routes.away: {path: /away/**, url: \"http://"+upstream+"\"}\n")
				conn := connect(t, strings.TrimPrefix(g.url, "http://"))
				_, _ = io.WriteString(conn, "GET /"+route+target+" HTTP/1.1\r\nHost: g\r\n\r\n")
				res, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.ReadAtLeast(res.Body, make([]byte, 100), want.read) // then it has broken off, or we do
				conn.Close()
				res.Body.Close()
				g.awaitEnded(t, 2)
				g.finish()
				spans := g.collector.Await(t, 2)
				root, attempt := otlptest.Only(t, spans, "server"), otlptest.Only(t, spans, "client")
				if got := root.Attributes["error.type"]; got != want.root || root.Failed != (want.attempt != "") {
					t.Errorf("server: error.type %q, failed %v", got, root.Failed)
				}
				if got := attempt.Attributes["error.type"]; got != want.attempt || attempt.Failed != (want.attempt != "") {
					t.Errorf("client: error.type %q, failed %v", got, attempt.Failed)
				}
			})
		}
	}
}

// What is refused for its path shows that path.
func TestRefusedPathsOnTheSpan(t *testing.T) {
	for request, want := range map[string]string{
		"GET /users/..%2fx?a=1": "/users/..%2fx", "GET /users/%00": "/users/%00", "GET http://g/users/..%2fx": "/users/..%2fx", "TRACE /users/1": "/users/1",
	} {
		g := tracing(t, usersAt(allSampled, "127.0.0.1:1"))
		conn := connect(t, strings.TrimPrefix(g.url, "http://"))
		_, _ = io.WriteString(conn, request+" HTTP/1.1\r\nHost: g\r\nConnection: close\r\n\r\n")
		if answer, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 40") {
			t.Errorf("%s: %q, %v", request, answer, err)
		}
		g.finish()
		if got := otlptest.Only(t, g.collector.Await(t, 1), "server").Attributes["url.path"]; got != want {
			t.Errorf("%s: url.path %q", request, got)
		}
	}
}

// What happens above the attempts is on the span of the request.
func TestCommandsOnTheSpan(t *testing.T) {
	const fallback = "gateway.fallback.users: {status: 203, body: sorry}\n"
	for name, tc := range map[string]struct{ yaml, event, errorType string }{
		"open circuit": {"hystrix.command.users.circuitBreaker.forceOpen: true\n", "circuit open", "shortcircuit"},
		"fallback":     {fallback + "hystrix.command.users.circuitBreaker.forceOpen: true\n", "circuit open fallback", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := tracing(t, usersAt(allSampled+tc.yaml, "127.0.0.1:1"))
			g.ask(t, "/users/1")
			g.finish()
			root := otlptest.Only(t, g.collector.Await(t, 1), "server")
			if got := strings.Join(root.Events, " "); got != tc.event || root.Attributes["error.type"] != tc.errorType {
				t.Errorf("events %q, error.type %q", got, root.Attributes["error.type"])
			}
		})
	}
}

func TestFullBulkheadOnTheSpan(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	upstream := backendtest.Start(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(entered)
		<-release
	})).Addr
	g := tracing(t, usersAt(allSampled+"hystrix.command.users.execution.isolation.semaphore.maxConcurrentRequests: 1\nhystrix.command.users.execution.timeout.enabled: false\n", upstream))
	var first sync.WaitGroup
	first.Go(func() { g.ask(t, "/users/1") })
	<-entered
	if status, _ := g.ask(t, "/users/2"); status != http.StatusServiceUnavailable {
		t.Errorf("status %d", status)
	}
	close(release)
	first.Wait()
	g.finish()
	for _, s := range otlptest.Of(g.collector.Await(t, 3), "server") {
		refused := s.Attributes["url.path"] == "/users/2"
		if full := strings.Join(s.Events, " ") == "bulkhead full"; full != refused || refused && s.Attributes["error.type"] != "rejected_semaphore_execution" {
			t.Errorf("%+v", s)
		}
	}
}

// Routes to URLs have attempts too, and so have the calls of filters, below the same span.
func TestAttemptsOfURLRoutesAndFilters(t *testing.T) {
	upstream := parents(t)
	var seen string
	look := filters.Func("Look", filters.Pre, 6, func(c *filters.Context) error {
		if !trace.SpanFromContext(c.Request.Context()).IsRecording() {
			t.Error("the filter finds no span")
		}
		r, err := http.NewRequestWithContext(c.Request.Context(), http.MethodGet, "http://users/look", http.NoBody)
		if err != nil {
			return err
		}
		res, err := c.Client().Do(r)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		seen = string(body)
		if len(r.Header["Traceparent"]) > 0 {
			t.Error("the filter's own request has been changed")
		}
		return err
	})
	g := tracing(t, usersAt(allSampled, upstream)+"zuul.routes.away: {path: /away/**, url: \"http://"+upstream+"\"}\n", gozer.WithFilters(look))
	_, got := g.ask(t, "/away/1")
	g.finish()
	spans := g.collector.Await(t, 3)
	root, attempts := otlptest.Only(t, spans, "server"), otlptest.Of(spans, "client")
	if len(attempts) != 2 || attempts[0].Parent != root.ID || attempts[1].Parent != root.ID {
		t.Fatalf("%+v", spans)
	}
	for i, sent := range []string{seen, got} {
		if want := "00-" + root.TraceID + "-" + attempts[i].ID + "-01"; sent != want {
			t.Errorf("call %d: upstream was told %q, want %q", i, sent, want)
		}
	}
}

// A span ends with the connection that has switched protocols.
func TestSpanOfATunnel(t *testing.T) {
	upstream := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		_, _ = io.Copy(conn, buffered)
	})).Addr
	g := tracing(t, usersAt(allSampled, upstream))
	conn := connect(t, strings.TrimPrefix(g.url, "http://"))
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET /users/1 HTTP/1.1\r\nHost: g\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	in := bufio.NewReader(conn)
	if res, err := http.ReadResponse(in, nil); err != nil || res.StatusCode != http.StatusSwitchingProtocols { //nolint:bodyclose // the connection is the body
		t.Fatal(res, err)
	}
	_, _ = io.WriteString(conn, "ping")
	if got, err := in.Peek(4); err != nil || string(got) != "ping" {
		t.Fatal(string(got), err)
	}
	if n := gozer.TraceStats(g.Gateway); n.Waiting+n.Exported > 0 {
		t.Errorf("%+v while the tunnel is open", n)
	}
	conn.Close()
	g.awaitEnded(t, 2)
	g.finish()
	spans := g.collector.Await(t, 2)
	if root := otlptest.Only(t, spans, "server"); root.Attributes["http.response.status_code"] != "101" || root.Failed {
		t.Errorf("%+v", root)
	}
}

// Without an endpoint tracing is off, and nobody's fields are touched.
func TestTracingOffLeavesHeadersAlone(t *testing.T) {
	fields := map[string]string{"Traceparent": "nonsense", "Tracestate": "a=1", "B3": "1", "X-B3-Sampled": "0", "Baggage": "a=b"}
	for name, yaml := range map[string]string{
		"no endpoint":  "management.tracing.sampling.probability: 1\n",
		"switched off": "management.tracing.enabled: false\nmanagement.otlp.tracing.endpoint: http://127.0.0.1:1/v1/traces\n",
	} {
		t.Run(name, func(t *testing.T) {
			g := newGateway(t, usersAt(yaml, "a:1"))
			var got http.Header
			g.SetTransport("users", answerWith(func(r *http.Request) string { got = r.Header.Clone(); return "" }))
			var headers []string
			for name, value := range fields {
				headers = append(headers, name, value)
			}
			ask(t, g, http.MethodGet, "/users/1", headers...)
			for name, value := range fields {
				if got.Get(name) != value {
					t.Errorf("%s: %q, want %q", name, got.Get(name), value)
				}
			}
		})
	}
}

// OpenTelemetry's variables count where no key is written out; what makes no sense in them
// is logged and not shown.
func TestVariablesOfOpenTelemetry(t *testing.T) {
	c := otlptest.Start(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.HTTP)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-token=a%20b")
	t.Setenv("OTEL_TRACES_SAMPLER", "parentbased_always_on")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "team=edge,service.name=lost")
	t.Setenv("OTEL_SERVICE_NAME", "front")
	_, url, finish := serving(t, usersAt("management.server.port: -1\n", parents(t)))
	fetch(t, url+"/users/1")
	finish()
	c.Await(t, 2)
	if r := c.Resource(); r["service.name"] != "front" || r["team"] != "edge" || c.Header("X-Token") != "a b" {
		t.Errorf("resource %v, token %q", r, c.Header("X-Token"))
	}
}

// OTEL_EXPORTER_OTLP_PROTOCOL tells of the variables' endpoint and not of the key's.
func TestProtocolOfAnotherEndpoint(t *testing.T) {
	c := otlptest.Start(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	t.Setenv("OTEL_TRACES_SAMPLER", "always_on")
	_, url, finish := serving(t, usersAt("management.server.port: -1\nmanagement.otlp.tracing.endpoint: "+c.HTTP+"/v1/traces\n", parents(t)))
	fetch(t, url+"/users/1")
	finish()
	c.Await(t, 2)
}

// Metrics go out by OTLP too: those that Prometheus would scrape, once more at the end.
func TestMetricsByOTLP(t *testing.T) {
	for _, protocol := range []string{"http/protobuf", "grpc"} {
		t.Run(protocol, func(t *testing.T) {
			c := otlptest.Start(t)
			t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
			t.Setenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", map[string]string{"grpc": c.GRPC, "http/protobuf": c.HTTP + "/v1/metrics"}[protocol])
			_, url, finish := serving(t, usersAt(allSampled, parents(t)))
			fetch(t, url+"/users/1")
			finish()
			if _, ok := c.Metric("gozer_ready"); !ok || c.Resource()["service.name"] != "edge" {
				t.Errorf("no metrics, or of nobody: %v", c.Resource())
			}
		})
	}
}

func TestBadVariables(t *testing.T) {
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_HEADERS": "hunter2", "OTEL_EXPORTER_OTLP_PROTOCOL": "hunter2", "OTEL_TRACES_SAMPLER": "hunter2", "OTEL_PROPAGATORS": "jaeger",
		"OTEL_BSP_MAX_QUEUE_SIZE": "hunter2", "OTEL_RESOURCE_ATTRIBUTES": "hunter2", "OTEL_EXPORTER_OTLP_TIMEOUT": "hunter2", "OTEL_EXPORTER_OTLP_CERTIFICATE": "/hunter/2",
		"OTEL_EXPORTER_OTLP_CLIENT_KEY": "/hunter/2", "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE": "/hunter/2",
	} {
		t.Run("C225 "+name, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
			t.Setenv(name, value)
			log, lines := logged()
			g := newGateway(t, usersAt("", "a:1"), log)
			g.SetTransport("users", answerWith(func(r *http.Request) string { return r.Header.Get("Traceparent") }))
			wantAnswer(t, get(t, g, "/users/1"), http.StatusOK, "")
			if text := lines.String(); !strings.Contains(text, "requests are not traced") || strings.Contains(text, "hunter2") {
				t.Errorf("log: %s", text)
			}
		})
	}
}

func TestOTELSDKDisabledWins(t *testing.T) {
	t.Setenv("OTEL_SDK_DISABLED", "true")
	g := newGateway(t, usersAt(allSampled+"management.otlp.tracing.endpoint: http://127.0.0.1:1/v1/traces\n", "a:1"))
	g.SetTransport("users", answerWith(func(r *http.Request) string { return r.Header.Get("Traceparent") }))
	wantAnswer(t, get(t, g, "/users/1"), http.StatusOK, "")
}

func TestReloadOfSampling(t *testing.T) {
	const endpoint = "management.otlp.tracing.endpoint: http://127.0.0.1:1/v1/traces\nmanagement.tracing.sampling.probability: "
	g := newGateway(t, usersAt(endpoint+"0\n", "a:1"))
	flag := func() string {
		g.SetTransport("users", answerWith(func(r *http.Request) string { return r.Header.Get("Traceparent") }))
		_, flags := cutTraceparent(get(t, g, "/users/1").Body.String())
		return flags
	}
	if got := flag(); got != "00" {
		t.Errorf("at 0: %q", got)
	}
	reload(t, g, usersAt(endpoint+"1\n", "a:1"))
	if got := flag(); got != "01" {
		t.Errorf("at 1: %q", got)
	}
	reload(t, g, usersAt(endpoint+"1\nmanagement.tracing.enabled: false\n", "a:1"))
	if got := flag(); got != "" {
		t.Errorf("switched off: %q", got)
	}
}

func cutTraceparent(s string) (traceID, flags string) {
	parts := strings.Split(s, "-")
	if len(parts) != 4 {
		return "", ""
	}
	return parts[1], parts[3]
}

// A collector that is down costs spans, and nothing else.
func TestCollectorDown(t *testing.T) {
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "16")
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "3600000")
	log, lines := messages(1000)
	g := tracing(t, usersAt(allSampled+"management.otlp.tracing.endpoint: http://127.0.0.1:1/v1/traces\nmanagement.otlp.tracing.headers.authorization: Bearer hunter2\n", parents(t)), gozer.WithLogger(log))
	for range 40 {
		if status, _ := g.ask(t, "/users/1"); status != http.StatusOK {
			t.Fatalf("status %d", status)
		}
	}
	otlptest.Eventually(t, func() bool {
		s := gozer.TraceStats(g.Gateway)
		return s.Waiting <= 16 && s.Dropped+s.Failed+s.Waiting >= 80
	})
	g.finish()
	troubles := 0
	for len(lines) > 0 {
		line := <-lines
		if strings.Contains(line, "in trouble") {
			troubles++
		}
		if strings.Contains(line, "hunter2") {
			t.Errorf("C225 the log shows a header: %s", line)
		}
	}
	if troubles != 1 {
		t.Errorf("the log speaks %d times of the collector, want once", troubles)
	}
}

// Log lines about a request name its trace.
func TestLogNamesTheTrace(t *testing.T) {
	var lines bytes.Buffer
	var mu sync.Mutex
	log := slog.New(slog.NewTextHandler(lockedWriter{&mu, &lines}, nil))
	speak := filters.Func("Speak", filters.Pre, 6, func(c *filters.Context) error {
		c.Logger().Info("spoken")
		return nil
	})
	for _, share := range []string{"0", "1"} {
		lines.Reset()
		g := newGateway(t, usersAt("management.otlp.tracing.endpoint: http://127.0.0.1:1/v1/traces\nmanagement.tracing.sampling.probability: "+share+"\n", "a:1"), gozer.WithLogger(log), gozer.WithFilters(speak))
		var traceID string
		g.SetTransport("users", roundTrip(func(r *http.Request) (*http.Response, error) {
			traceID, _ = cutTraceparent(r.Header.Get("Traceparent"))
			return nil, errLost
		}))
		get(t, g, "/users/1")
		for _, about := range []string{"spoken", "request failed"} {
			line := lineWith(lines.String(), about)
			if traceID == "" || !strings.Contains(line, "traceId="+traceID) || !strings.Contains(line, "spanId=") {
				t.Errorf("%s %%: %q names no trace %s", share, line, traceID)
			}
		}
	}
}

type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (w lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.w.Write(p)
}

func lineWith(text, word string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, word) {
			return line
		}
	}
	return ""
}

// C221 what clients make up names no span and fills no attribute without bound.
func TestHostileRequestsMakeNoNames(t *testing.T) {
	g := tracing(t, usersAt(allSampled, parents(t)))
	r, err := http.NewRequestWithContext(t.Context(), "XAAA1", g.url+"/users/"+strings.Repeat("x", 3000), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("User-Agent", strings.Repeat("\xe2\x80\xae", 500))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	g.finish()
	for _, s := range g.collector.Await(t, 2) {
		if name := strings.TrimSuffix(s.Name, " /users/**"); name != "HTTP" || s.Attributes["http.request.method"] != "_OTHER" {
			t.Errorf("C221 span %q of method %q", s.Name, s.Attributes["http.request.method"])
		}
		for key, value := range s.Attributes {
			if len(value) > 300 {
				t.Errorf("C221 %s has %d bytes", key, len(value))
			}
		}
	}
}

// tracedServe is the way of a request from ServeHTTP to a stub transport.
func tracedServe(tb testing.TB, yaml string) func() {
	tb.Helper()
	g := newGateway(tb, usersAt(yaml, "a:1"))
	g.SetTransport("users", answerWith(func(*http.Request) string { return "x" }))
	ctx := g.Context(context.Background())
	return func() {
		g.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/users/7", http.NoBody))
	}
}

const deadEndpoint = "management.otlp.tracing.endpoint: http://127.0.0.1:1/v1/traces\nmanagement.tracing.sampling.probability: "

// A request that is not recorded allocates the header that says so, and nothing else.
func TestTracingAllocates(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	off := testing.AllocsPerRun(500, tracedServe(t, ""))
	if zero := testing.AllocsPerRun(500, tracedServe(t, deadEndpoint+"0\n")); zero > off+1 {
		t.Errorf("%v allocations at 0 %%, %v with tracing off", zero, off)
	}
}

func BenchmarkTracing(b *testing.B) {
	for name, yaml := range map[string]string{"off": "", "0%": deadEndpoint + "0\n", "1%": deadEndpoint + "0.01\n", "100%": deadEndpoint + "1\n"} {
		b.Run(name, func(b *testing.B) {
			serve := tracedServe(b, yaml)
			b.ReportAllocs()
			for b.Loop() {
				serve()
			}
		})
	}
}
