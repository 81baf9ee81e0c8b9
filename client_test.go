package gozer_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/backendtest"
	"github.com/gozer-gateway/gozer/lb"
	"github.com/gozer-gateway/gozer/lb/rest"
)

// asking is a filter that answers with what a service tells it.
func asking(uri string) filters.Spec {
	return filters.Func("Asking", filters.Pre, 4, func(c *filters.Context) error {
		if c.Path.Raw != "/ask" {
			return nil
		}
		text, err := rest.GetObject[string](c.Request.Context(), rest.New(c.Client()), uri)
		if err != nil {
			return err
		}
		c.Respond(http.StatusOK, nil, strings.NewReader(text))
		return nil
	})
}

const askingYAML = patient + "zuul.routes.users: /users/**\nserver.http1.engine: %s\nusers.ribbon:\n  listOfServers: %s\n"

// A filter's call and a routed request take turns at the servers and share connections.
func TestFilterCallsAService(t *testing.T) {
	for _, engine := range []string{"native", "nethttp"} {
		t.Run(engine, func(t *testing.T) {
			a, b := newTeller(t, "a"), newTeller(t, "b")
			g := newGateway(t, fmt.Sprintf(askingYAML, engine, a.Addr+","+b.Addr), gozer.WithFilters(asking("http://USERS/x")))
			defer g.CloseIdle()
			for range 3 {
				for _, step := range []struct{ target, want string }{
					{"/ask", "a"}, {"/users/1", "b"}, {"/ask", "a"}, {"/ask", "b"}, {"/users/1", "a"}, {"/users/1", "b"},
				} {
					wantAnswer(t, get(t, g, step.target), http.StatusOK, step.want)
				}
			}
			if !a.shared() || !b.shared() {
				t.Errorf("calls of the filter came over other connections than routed requests: %v, %v", a.paths, b.paths)
			}
		})
	}
}

// teller is a server that remembers which paths it was asked for over which connection.
type teller struct {
	*backendtest.Backend
	mu    sync.Mutex
	paths map[string]map[string]bool
}

func newTeller(t *testing.T, word string) *teller {
	t.Helper()
	s := &teller{paths: map[string]map[string]bool{}}
	s.Backend = backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.paths[r.RemoteAddr] == nil {
			s.paths[r.RemoteAddr] = map[string]bool{}
		}
		s.paths[r.RemoteAddr][r.URL.Path] = true
		_, _ = io.WriteString(w, word)
	}))
	return s
}

// shared tells whether requests for different paths have come over one connection. Not all
// need to: net/http keeps none that it has not done with when the answer has been read.
func (s *teller) shared() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, paths := range s.paths {
		if len(paths) > 1 {
			return true
		}
	}
	return false
}

// What a filter's call finds out about a server, routed requests know.
func TestFilterCallsCountForTheServer(t *testing.T) {
	a, b := backendtest.Start(t, says("a")), backendtest.Start(t, says("b"))
	g := newGateway(t, fmt.Sprintf(askingYAML, "native", a.Addr+","+b.Addr), gozer.WithFilters(asking("http://users/x")))
	defer g.CloseIdle()
	a.Kill()
	for range 6 {
		wantAnswer(t, get(t, g, "/ask"), http.StatusOK, "b")
	}
	a.Revive()
	for range 4 {
		wantAnswer(t, get(t, g, "/users/1"), http.StatusOK, "b")
	}
}

func TestFilterCallsFail(t *testing.T) {
	redirecting := backendtest.Start(t, http.RedirectHandler("http://elsewhere.test/", http.StatusFound))
	for _, tc := range []struct {
		name, uri string
		is        error
	}{
		{"a service that there is not", "http://orders/", lb.ErrUnknownService},
		{"another host", "http://" + redirecting.Addr + "/", lb.ErrUnknownService},
		{"no server", "http://empty/", lb.ErrNoServer},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var failure error
			note := filters.Func("Note", filters.Error, -1, func(c *filters.Context) error {
				failure = c.Err
				return nil
			})
			yaml := fmt.Sprintf(askingYAML, "native", redirecting.Addr) + "zuul.routes.empty: /empty/**\n"
			g := newGateway(t, yaml, gozer.WithFilters(asking(tc.uri), note))
			defer g.CloseIdle()
			got := get(t, g, "/ask")
			if !errors.Is(failure, tc.is) || got.Code != http.StatusServiceUnavailable {
				t.Errorf("status %d, error %v, want %v", got.Code, failure, tc.is)
			}
		})
	}
	t.Run("a redirect is an answer", func(t *testing.T) {
		var status int
		ask := filters.Func("Ask", filters.Pre, 4, func(c *filters.Context) error {
			res, err := rest.New(c.Client()).Get(c.Request.Context(), "http://users/")
			if err != nil {
				return err
			}
			defer res.Body.Close()
			status = res.StatusCode
			_, err = io.Copy(io.Discard, res.Body)
			return err
		})
		g := newGateway(t, fmt.Sprintf(askingYAML, "native", redirecting.Addr), gozer.WithFilters(ask))
		defer g.CloseIdle()
		get(t, g, "/")
		if status != http.StatusFound {
			t.Errorf("status %d", status)
		}
	})
}
