package route_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gozer-gateway/gozer/filters"
	errorfilter "github.com/gozer-gateway/gozer/filters/errors"
	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/filters/route"
	"github.com/gozer-gateway/gozer/internal/http1"
	"github.com/gozer-gateway/gozer/lb"
	"github.com/gozer-gateway/gozer/ribboncmd"
	"github.com/gozer-gateway/gozer/routing"
)

func TestWhatFiltersMakeIsNotBlamedOnUpstreams(t *testing.T) {
	tests := map[string]func(*filters.Context){
		"line break in a field":   func(c *filters.Context) { c.Out.Header.Set("X-A", "a\r\nX-B: c") },
		"field name with a blank": func(c *filters.Context) { c.Out.Header["X A"] = []string{"b"} },
		"method":                  func(c *filters.Context) { c.Out.Method = "GET /" },
		"path with a blank":       func(c *filters.Context) { c.Out.Path = "/a b" },
		"path without a slash":    func(c *filters.Context) { c.Out.Path = "a" },
		"query with a line break": func(c *filters.Context) { c.Out.Query = "a\n" },
		"host":                    func(c *filters.Context) { c.Out.Host = "a/b" },
		"no body for its length":  func(c *filters.Context) { c.Out.Body, c.Out.ContentLength = nil, 3 },
		"body beyond its length": func(c *filters.Context) {
			c.Out.Body, c.Out.ContentLength = io.NopCloser(strings.NewReader("longer body")), 3
		},
	}
	transports := map[string]func(w *wire) http.RoundTripper{
		"checked before": func(w *wire) http.RoundTripper { return w },
		"checked while writing": func(*wire) http.RoundTripper { // a request that it sends fails with 502
			return http1.NewTransport(http1.TransportSettings{})
		},
	}
	for name, spoil := range tests {
		for how, transport := range transports {
			t.Run(name+", "+how, func(t *testing.T) {
				w := &wire{}
				services := users(t, transport(w))
				c := filtertest.New(t, "POST /x", filtertest.Body("body"))
				c.ServiceID = "users"
				spoil(c)
				err := filtertest.Run(t, c, route.RibbonRouting(services))
				if got := (errorfilter.Mapping{}).Answer(c).Status; got != http.StatusInternalServerError {
					t.Errorf("status %d, want 500 (%v)", got, err)
				}
				unblamed(t, services)
				if w.body != "" && w.err == nil && name != "body beyond its length" {
					t.Errorf("the upstream got %q", w.body)
				}
			})
		}
	}
}

// unblamed checks that neither the circuit nor the server has a failure to show.
func unblamed(t *testing.T, services known) {
	t.Helper()
	s := services["users"]
	if events := s.Command.Snapshot().Events; events[ribboncmd.EventFailure] != 0 || events[ribboncmd.EventTimeout] != 0 {
		t.Errorf("the circuit counts %v", events)
	}
	if n := s.Balance.Balancer.Servers()[0].Stats().SuccessiveFailures(); n != 0 {
		t.Errorf("the server has %d failures", n)
	}
}

// stalled is the body of a client that sends a little and then nothing until its
// connection's deadline.
type stalled struct {
	io.Reader
	ended context.Context //nolint:containedctx // of the test
}

func (s stalled) Read(p []byte) (int, error) {
	if n, err := s.Reader.Read(p); err == nil {
		return n, nil
	}
	<-s.ended.Done()
	return 0, io.ErrUnexpectedEOF
}

func (stalled) Close() error { return nil }

// uploading is a transport that reads the body beside waiting for an answer that
// does not come, as both engines do with long bodies.
type uploading struct{}

func (uploading) RoundTrip(r *http.Request) (*http.Response, error) {
	go func() { _, _ = io.Copy(io.Discard, r.Body) }()
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}

func TestStalledUploadIsTheClientsFailure(t *testing.T) {
	for name, tt := range map[string]struct {
		body   io.Reader
		status int
		blamed bool
	}{
		"the client sends no more":     {strings.NewReader("some"), http.StatusRequestTimeout, false},
		"the upstream does not answer": {nil, http.StatusGatewayTimeout, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ended, end := context.WithCancel(t.Context())
				defer end()
				r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/x", strings.NewReader("all"))
				if tt.body != nil {
					r.Body, r.ContentLength = stalled{tt.body, ended}, 1000
				}
				c := filters.NewContext(httptest.NewRecorder(), r, routing.Path{Raw: "/x", Clean: "/x"}, time.Now())
				c.ServiceID = "users"
				services := users(t, uploading{})
				err := filtertest.Run(t, c, route.RibbonRouting(services))
				if got := (errorfilter.Mapping{}).Answer(c).Status; got != tt.status {
					t.Errorf("status %d, want %d (%v)", got, tt.status, err)
				}
				if tt.blamed {
					failure, ok := errors.AsType[*lb.Error](err)
					if !ok || failure.Kind != lb.SocketTimeout {
						t.Errorf("error %v, want a socket timeout", err)
					}
					return
				}
				unblamed(t, services)
			})
		})
	}
}
