package gozer_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/internal/race"
)

// mostAllocs is what one request through all filters may allocate, the response
// of the stand-in for the network included. Sockets and HTTP come on top.
const mostAllocs = 9

// wholePath is a gateway before an upstream without a network, and a request.
func wholePath(tb testing.TB) (*gozer.Gateway, *http.Request) {
	tb.Helper()
	g := newGateway(tb, usersAt("", "one:80", "two:80"))
	g.SetTransport("users", roundTrip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: http.StatusOK,
			Header:     http.Header{"Content-Type": {"application/json"}, "Set-Cookie": {"a=b"}},
			Body:       http.NoBody, Request: r,
		}, nil
	}))
	r := httptest.NewRequestWithContext(tb.Context(), http.MethodGet, "/users/7?verbose", http.NoBody)
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "bench")
	r.Header.Set("Cookie", "secret")
	return g, r
}

// sink is a client that keeps nothing.
type sink struct {
	header http.Header
	status int
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(status int)      { s.status = status }
func (s *sink) Write(p []byte) (int, error) { return len(p), nil }
func (s *sink) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(io.Discard, r)
}

func (s *sink) serve(g *gozer.Gateway, r *http.Request) {
	clear(s.header)
	g.ServeHTTP(s, r)
}

// BenchmarkServe is the gateway's own part of a request to a service.
func BenchmarkServe(b *testing.B) {
	g, r := wholePath(b)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		client := &sink{header: http.Header{}}
		for pb.Next() { // not even once, perhaps, on all but one of the cores
			if client.serve(g, r); client.status != http.StatusOK {
				b.Errorf("status %d", client.status)
			}
		}
	})
}

func TestServeAllocates(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	g, r := wholePath(t)
	client := &sink{header: http.Header{}}
	got := testing.AllocsPerRun(200, func() { client.serve(g, r) })
	if client.status != http.StatusOK {
		t.Fatalf("status %d", client.status)
	}
	if got > mostAllocs {
		t.Errorf("%v allocations, want at most %d", got, mostAllocs)
	}
}
