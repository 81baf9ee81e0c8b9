package telemetry_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/contrib/propagators/b3"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/routing"
	"github.com/gozer-gateway/gozer/telemetry"
)

const (
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	spanID  = "00f067aa0ba902b7"
	w3c     = "traceparent: 00-" + traceID + "-" + spanID
)

// requestWith is the context of a GET with header lines "name: value".
func requestWith(tb testing.TB, lines ...string) *filters.Context {
	tb.Helper()
	r := httptest.NewRequestWithContext(tb.Context(), http.MethodGet, "/users/7", http.NoBody)
	for _, l := range lines {
		name, value, _ := strings.Cut(l, ": ")
		r.Header.Add(name, value)
	}
	return filters.NewContext(httptest.NewRecorder(), r, routing.Path{Raw: "/users/7", Clean: "/users/7"}, time.Now())
}

// shape replaces ids: T and S are those of the parent, t and s new ones.
func shape(value string) string {
	value = strings.NewReplacer(traceID, "T", spanID, "S").Replace(value)
	value = regexp.MustCompile(`[0-9a-f]{32}`).ReplaceAllString(value, "t")
	return regexp.MustCompile(`[0-9a-f]{16}`).ReplaceAllString(value, "s")
}

var traceFields = []string{"traceparent", "tracestate", "b3", "X-B3-TraceId", "X-B3-SpanId", "X-B3-ParentSpanId", "X-B3-Sampled", "X-B3-Flags"}

// sent are the fields of tracing that go upstream, in their shape.
func sent(c *filters.Context) string {
	var all []string
	for _, name := range traceFields {
		for _, v := range c.Out.Header.Values(name) {
			all = append(all, name+": "+shape(v))
		}
	}
	return strings.Join(all, "\n")
}

const (
	all    = telemetry.W3C | telemetry.B3 | telemetry.B3Multi
	onlyB3 = telemetry.B3
)

// What comes in, what goes out, and which trace the request is taken to belong to.
func TestPropagation(t *testing.T) {
	multi := []string{"X-B3-TraceId: " + traceID, "X-B3-SpanId: " + spanID}
	for _, tc := range []struct {
		name             string
		share            float64
		consume, produce telemetry.Formats
		in               []string
		out              string
		sampled          bool
	}{
		{"nothing in, sampled", 1, all, telemetry.W3C, nil, "traceparent: 00-t-s-01", true},
		{"nothing in, not sampled", 0, all, telemetry.W3C, nil, "traceparent: 00-t-s-00", false},
		{"W3C sampled", 0, all, telemetry.W3C, []string{w3c + "-01", "tracestate: a=1"}, "traceparent: 00-T-s-01\ntracestate: a=1", true},
		{"W3C not sampled stays as it came", 1, all, telemetry.W3C, []string{w3c + "-00", "tracestate: a=1"}, "traceparent: 00-T-S-00\ntracestate: a=1", false},
		{"W3C random", 0, all, telemetry.W3C, []string{w3c + "-03"}, "traceparent: 00-T-s-03", true},
		{"W3C of a version to come", 0, all, telemetry.W3C, []string{"traceparent: cc-" + traceID + "-" + spanID + "-01-more"}, "traceparent: 00-T-s-01", true},
		{"B3 to W3C", 0, all, telemetry.W3C, []string{"b3: " + traceID + "-" + spanID + "-1"}, "traceparent: 00-T-s-01", true},
		{"B3 with a parent", 0, all, telemetry.W3C, []string{"b3: " + traceID + "-" + spanID + "-1-05e3ac9a4f6e3b90"}, "traceparent: 00-T-s-01", true},
		{"B3 not sampled", 1, all, telemetry.W3C, []string{"b3: " + traceID + "-" + spanID + "-0"}, "traceparent: 00-T-S-00", false},
		{"B3 leaves the decision open", 1, all, telemetry.W3C, []string{"b3: " + traceID + "-" + spanID}, "traceparent: 00-T-s-01", true},
		{"B3 says no and nothing else", 1, all, telemetry.W3C, []string{"b3: 0"}, "traceparent: 00-t-s-00", false},
		{"B3 debug", 0, all, onlyB3, []string{"b3: " + traceID + "-" + spanID + "-d"}, "b3: T-s-d", true},
		{"B3 with a short id", 0, all, telemetry.W3C, []string{"b3: a3ce929d0e0e4736-" + spanID + "-1"}, "traceparent: 00-t-s-01", true},
		{"many fields to W3C", 0, all, telemetry.W3C, append(multi, "X-B3-Sampled: 1", "X-B3-ParentSpanId: 05e3ac9a4f6e3b90"), "traceparent: 00-T-s-01", true},
		{"many fields, not sampled", 1, all, telemetry.W3C, append(multi, "X-B3-Sampled: 0"), "traceparent: 00-T-S-00", false},
		{"many fields, debug", 0, all, telemetry.B3Multi, append(multi, "X-B3-Flags: 1"), "X-B3-TraceId: T\nX-B3-SpanId: s\nX-B3-Flags: 1", true},
		{"many fields say no", 1, all, telemetry.W3C, []string{"X-B3-Sampled: 0"}, "traceparent: 00-t-s-00", false},
		{"W3C to B3", 0, all, onlyB3, []string{w3c + "-01", "tracestate: a=1"}, "b3: T-s-1", true},
		{"W3C to many fields", 1, all, telemetry.B3Multi, []string{w3c + "-00"}, "X-B3-TraceId: T\nX-B3-SpanId: S\nX-B3-Sampled: 0", false},
		{"W3C to all", 0, all, all, []string{w3c + "-01"}, "traceparent: 00-T-s-01\nb3: T-s-1\nX-B3-TraceId: T\nX-B3-SpanId: s\nX-B3-Sampled: 1", true},
		{"W3C first, the others go", 0, all, telemetry.W3C, append(multi, w3c+"-00", "b3: 0"), "traceparent: 00-T-S-00", false},
		{"what is not consumed is left alone", 0, telemetry.W3C, telemetry.W3C, []string{"b3: 1", w3c + "-00"}, "traceparent: 00-T-S-00\nb3: 1", false},
		{"no formats at all", 0, 0, 0, []string{"b3: 1", w3c + "-01"}, w3c[:0] + "traceparent: 00-T-S-01\nb3: 1", false},
		{"hostile: malformed W3C, B3 counts", 0, all, telemetry.W3C, []string{"traceparent: 00-x", "tracestate: a=1", "b3: " + traceID + "-" + spanID + "-0"}, "traceparent: 00-T-S-00", false},
		{"hostile: malformed state goes", 0, all, telemetry.W3C, []string{w3c + "-01", "tracestate: ," + strings.Repeat("=", 40)}, "traceparent: 00-T-s-01", true},
		{"hostile: long state goes", 0, all, telemetry.W3C, []string{w3c + "-01", "tracestate: a=" + strings.Repeat("x", 5000)}, "traceparent: 00-T-s-01", true},
		{"hostile: state without parent", 0, all, telemetry.W3C, []string{"tracestate: a=1"}, "traceparent: 00-t-s-00", false},
		{"hostile: two parents", 0, all, telemetry.W3C, []string{w3c + "-01", w3c + "-01"}, "traceparent: 00-t-s-00", false},
		{"hostile: zeros", 0, all, telemetry.W3C, []string{"traceparent: 00-00000000000000000000000000000000-" + spanID + "-01"}, "traceparent: 00-t-s-00", false},
		{"hostile: capitals", 0, all, telemetry.W3C, []string{"traceparent: 00-" + strings.ToUpper(traceID) + "-" + spanID + "-01"}, "traceparent: 00-t-s-00", false},
		{"hostile: longer than it may be", 0, all, telemetry.W3C, []string{w3c + "-01-" + strings.Repeat("a", 5000)}, "traceparent: 00-t-s-00", false},
		{"hostile: B3 of dashes", 0, all, telemetry.W3C, []string{"b3: " + strings.Repeat("-", 5000)}, "traceparent: 00-t-s-00", false},
		{"hostile: half of the many fields", 0, all, telemetry.W3C, []string{"X-B3-TraceId: " + traceID, "X-B3-Sampled: 1"}, "traceparent: 00-t-s-00", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			spans := tracetest.NewSpanRecorder()
			tracer := telemetry.NewTracer(telemetry.TracerSettings{Probability: tc.share, Consume: tc.consume, Produce: tc.produce}, spans)
			c := requestWith(t, tc.in...)
			tracer.Begin(c)
			if got := sent(c); got != tc.out {
				t.Errorf("sent\n%s\nwant\n%s", got, tc.out)
			}
			if c.Trace.Sampled != tc.sampled || len(spans.Started()) != map[bool]int{true: 1}[tc.sampled] {
				t.Errorf("sampled %v with %d spans", c.Trace.Sampled, len(spans.Started()))
			}
			if !c.Trace.Valid() {
				t.Error("no trace id for logs")
			}
		})
	}
}

// The span that filters find, with what came as its parent.
func TestSpanInTheContext(t *testing.T) {
	spans := tracetest.NewSpanRecorder()
	tracer := telemetry.NewTracer(telemetry.TracerSettings{Consume: all | telemetry.Baggage, Produce: all}, spans)
	c := requestWith(t, w3c+"-01", "tracestate: a=1", "baggage: tenant=acme,bad")
	tracer.Begin(c)
	sc := trace.SpanContextFromContext(c.Request.Context())
	if sc.TraceID().String() != traceID || !sc.IsSampled() || sc.TraceState().Get("a") != "1" {
		t.Errorf("span %v", sc)
	}
	if p := spans.Started()[0].Parent(); p.SpanID().String() != spanID || !p.IsRemote() {
		t.Errorf("parent %v", p)
	}
	if b := baggage.FromContext(c.Request.Context()); b.Len() != 0 {
		t.Errorf("malformed baggage was read: %v", b)
	}
	c = requestWith(t, w3c+"-01", "baggage: tenant=acme")
	tracer.Begin(c)
	if b := baggage.FromContext(c.Request.Context()); b.Member("tenant").Value() != "acme" {
		t.Errorf("baggage %v", b)
	}
}

func TestTrustedParentsOnly(t *testing.T) {
	tracer := telemetry.NewTracer(telemetry.TracerSettings{Consume: all, Produce: telemetry.W3C, TrustedOnly: true}, tracetest.NewSpanRecorder())
	c := requestWith(t, w3c+"-01", "tracestate: a=1")
	tracer.Begin(c)
	if got := sent(c); got != "traceparent: 00-t-s-00" {
		t.Errorf("a stranger's trace goes on: %s", got)
	}
}

// Sampling goes by the share, and by the parent unless it is told not to.
func TestSampling(t *testing.T) {
	for _, tc := range []struct {
		name     string
		settings telemetry.TracerSettings
		header   string
		low, top int // of 4000
	}{
		{"0 %", telemetry.TracerSettings{}, "", 0, 0},
		{"1 %", telemetry.TracerSettings{Probability: 0.01}, "", 5, 120}, // 40 as a rule; once in 10^12 runs it is fewer or more
		{"100 %", telemetry.TracerSettings{Probability: 1}, "", 4000, 4000},
		{"0 %, the parent is sampled", telemetry.TracerSettings{}, w3c + "-01", 4000, 4000},
		{"100 %, the parent is not", telemetry.TracerSettings{Probability: 1}, w3c + "-00", 0, 0},
		{"0 % whatever the parent", telemetry.TracerSettings{IgnoreParent: true}, w3c + "-01", 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.settings.Consume, tc.settings.Produce = all, telemetry.W3C
			tracer := telemetry.NewTracer(tc.settings, nothing{})
			n := 0
			for range 4000 {
				var lines []string
				if tc.header != "" {
					lines = []string{tc.header}
				}
				c := requestWith(t, lines...)
				tracer.Begin(c)
				if c.Trace.Sampled {
					n++
				}
			}
			if n < tc.low || n > tc.top {
				t.Errorf("%d of 4000 are sampled", n)
			}
		})
	}
}

// nothing hears of spans and keeps none.
type nothing struct{}

func (nothing) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (nothing) OnEnd(sdktrace.ReadOnlySpan)                     {}
func (nothing) Shutdown(context.Context) error                  { return nil }
func (nothing) ForceFlush(context.Context) error                { return nil }

// FuzzTraceparent wants what OpenTelemetry's own parser says.
func FuzzTraceparent(f *testing.F) {
	for _, s := range []string{w3c[len("traceparent: "):] + "-01", "cc-" + traceID + "-" + spanID + "-01-x", "00-" + traceID, "", "ff-" + traceID + "-" + spanID + "-01"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := telemetry.ParseTraceparent(s)
		ctx := propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": s})
		want := trace.SpanContextFromContext(ctx)
		if ok != want.IsValid() || ok && (got.Trace != want.TraceID().String() || got.Span != want.SpanID().String() || got.Sampled != want.IsSampled()) {
			t.Errorf("%q: %+v %v, want %v", s, got, ok, want)
		}
	})
}

// FuzzB3 wants of whatever is taken what OpenTelemetry's parser makes of it.
func FuzzB3(f *testing.F) {
	for _, s := range []string{traceID + "-" + spanID, traceID + "-" + spanID + "-1", traceID + "-" + spanID + "-d-" + spanID, "0", "-", traceID + "-" + spanID + "-true"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := telemetry.ParseB3(s)
		ctx := b3.New().Extract(context.Background(), propagation.MapCarrier{"b3": s})
		want := trace.SpanContextFromContext(ctx)
		if lenient := strings.Contains(s, "-true") || strings.Contains(s, "-false"); ok && !lenient && (got.Trace != want.TraceID().String() || got.Span != want.SpanID().String() || got.Sampled != want.IsSampled()) {
			t.Errorf("%q: %+v, want %v", s, got, want)
		}
	})
}
