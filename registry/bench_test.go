package registry_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer/internal/race"
	"github.com/gozer-gateway/gozer/registry"
)

// sink is a response writer that costs nothing.
type sink struct{ header http.Header }

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) Write(p []byte) (int, error) { return len(p), nil }
func (*sink) WriteHeader(int)               {}

// filled is the handler of a registry with many instances, which does not run.
func filled(tb testing.TB, instances, apps int, change ...func(*registry.Settings)) http.Handler {
	tb.Helper()
	s := registry.DefaultSettings()
	for _, c := range change {
		c(&s)
	}
	r, err := registry.New(s)
	if err != nil {
		tb.Fatal(err)
	}
	h := r.Handler()
	for k := range instances {
		i := instance(fmt.Sprintf("app-%d", k%apps), fmt.Sprintf("host-%d:80", k))
		req := httptest.NewRequestWithContext(tb.Context(), http.MethodPost, "/eureka/apps/"+i.App, strings.NewReader(document(i)))
		req.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		if w.Code != http.StatusNoContent {
			tb.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	return h
}

func request(tb testing.TB, method, path string) *http.Request {
	tb.Helper()
	req := httptest.NewRequestWithContext(tb.Context(), method, path, http.NoBody)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Accept-Encoding", "gzip")
	return req
}

func calls() map[string][2]string {
	return map[string][2]string{
		"heartbeat": {http.MethodPut, "/eureka/apps/APP-1/host-1:80?status=UP&lastDirtyTimestamp=100"},
		"delta":     {http.MethodGet, "/eureka/apps/delta"},
		"full":      {http.MethodGet, "/eureka/apps/"},
	}
}

// What a call may allocate, routing included. That it does not depend on the number of
// instances is the point: lists come from the cache.
func TestAllocations(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	h := filled(t, 2000, 100)
	for name, most := range map[string]float64{"heartbeat": 20, "delta": 25, "full": 25} {
		call := calls()[name]
		w := &sink{header: http.Header{}}
		req := request(t, call[0], call[1])
		if got := testing.AllocsPerRun(100, func() { h.ServeHTTP(w, req) }); got > most {
			t.Errorf("%s allocates %.0f times, at most %.0f", name, got, most)
		}
	}
}

func BenchmarkCalls(b *testing.B) {
	h := filled(b, 10_000, 500)
	for name, call := range calls() {
		b.Run(name, func(b *testing.B) {
			w := &sink{header: http.Header{}}
			req := request(b, call[0], call[1])
			b.ReportAllocs()
			for b.Loop() {
				h.ServeHTTP(w, req)
			}
		})
	}
}

// BenchmarkRebuild makes the lists of a large registry anew.
func BenchmarkRebuild(b *testing.B) {
	h := filled(b, 10_000, 500, immediate)
	body := document(instance("app-1", "host-1:80"))
	for name, path := range map[string]string{"delta": "/eureka/apps/delta", "full": "/eureka/apps/"} {
		b.Run(name, func(b *testing.B) {
			w := &sink{header: http.Header{}}
			read := request(b, http.MethodGet, path)
			change := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/eureka/apps/APP-1", http.NoBody)
			change.Header.Set("Content-Type", "application/json")
			b.ReportAllocs()
			for b.Loop() {
				change.Body = io.NopCloser(strings.NewReader(body))
				h.ServeHTTP(w, change)
				h.ServeHTTP(w, read)
			}
		})
	}
}
