package gozer_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gorilla/mux"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/backendtest"
)

func TestWhatCannotBeServed(t *testing.T) {
	passed := 0
	count := filters.Func("Count", filters.Error, -1, func(*filters.Context) error { passed++; return nil })
	g := newGateway(t, usersAndBooks, gozer.WithFilters(count))
	tests := []struct {
		name, method, target string
		status               int
		message              string
	}{
		{"zuul 33 semicolon behind dots", http.MethodGet, "/users/..;/admin", http.StatusBadRequest, "Unsafe path"},
		{"zuul 34 encoded backslash", http.MethodGet, "/users/..%5Cadmin", http.StatusBadRequest, "Unsafe path"},
		{"zuul 35 encoded twice", http.MethodGet, "/users/..%252Fadmin", http.StatusBadRequest, "Unsafe path"},
		{"a letter in the query that no target may hold", http.MethodGet, "/users/1?a=é", http.StatusBadRequest, "Invalid character in query"},
		{"TRACE", http.MethodTrace, "/users/1", http.StatusMethodNotAllowed, "Method not allowed"},
		{"CONNECT", http.MethodConnect, "/users/1", http.StatusMethodNotAllowed, "Method not allowed"},
		{"zuul 141 no route", http.MethodGet, "/nowhere", http.StatusNotFound, "No route and no local handler for this path"},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ask(t, g, tt.method, tt.target)
			wantFailure(t, got, tt.status, tt.message)
			if passed != i+1 {
				t.Error("the error filters did not run")
			}
			if allow := got.Header().Get("Allow"); (allow != "") != (tt.status == http.StatusMethodNotAllowed) {
				t.Errorf("Allow %q with %d", allow, tt.status)
			}
		})
	}
}

func TestRequestsWithoutATargetOfTheirOwn(t *testing.T) {
	g := newGateway(t, "zuul.routes.all: /**=forward:/", localEcho())
	tests := []struct{ name, uri, want string }{
		{"absolute form", "http://example.com/a%2Fb?x", "/a%2Fb"},
		{"absolute form without a path", "http://example.com", "/"},
		{"made by a program", "", "/a/b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/a/b", http.NoBody)
			r.RequestURI = tt.uri
			w := httptest.NewRecorder()
			g.ServeHTTP(w, r)
			wantAnswer(t, w, http.StatusOK, tt.want)
		})
	}
}

func localEcho() gozer.Option {
	return gozer.WithLocal(func(r *mux.Router) {
		r.PathPrefix("/").HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				w.WriteHeader(http.StatusRequestEntityTooLarge)
			}
			_, _ = io.WriteString(w, r.URL.EscapedPath())
		})
	})
}

func TestNothingAnswered(t *testing.T) {
	t.Run("without a failure it is 404", func(t *testing.T) {
		g := newGateway(t, usersAndBooks+"zuul.PreDecorationFilter.pre.disable: true\n")
		wantAnswer(t, get(t, g, "/users/1"), http.StatusNotFound, "")
	})
	t.Run("a failure is 500", func(t *testing.T) {
		g := newGateway(t, usersAndBooks+"zuul.SendErrorFilter.error.disable: true\n")
		wantAnswer(t, get(t, g, "/nowhere"), http.StatusInternalServerError, "")
	})
}

// withBodyLimit is a gateway that takes bodies of ten bytes.
func withBodyLimit(t *testing.T) (*backendtest.Backend, *gozer.Gateway) {
	t.Helper()
	upstream := backendtest.Start(t, backendtest.Echo("books"))
	return upstream, newGateway(t, `
gateway.limits.max-request-body: 10
zuul.routes:
  books: /books/**=`+upstream.URL()+`
  local: /local/**=forward:/
`, localEcho())
}

func TestBodyLimit(t *testing.T) {
	_, g := withBodyLimit(t)
	tests := []struct {
		name, target, body string
		chunked            bool
		status             int
	}{
		{"announced, at the limit", "/books/1", "0123456789", false, http.StatusOK},
		{"announced, over it", "/books/1", "0123456789a", false, http.StatusRequestEntityTooLarge},
		{"chunked, at the limit", "/books/1", "0123456789", true, http.StatusOK},
		{"chunked, over it", "/books/1", "0123456789a", true, http.StatusRequestEntityTooLarge},
		{"to a local handler, at the limit", "/local/1", "0123456789", true, http.StatusOK},
		{"to a local handler, over it", "/local/1", "0123456789a", true, http.StatusRequestEntityTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, tt.target, strings.NewReader(tt.body))
			if tt.chunked {
				r.ContentLength = -1
			}
			w := httptest.NewRecorder()
			g.ServeHTTP(w, r)
			if w.Code != tt.status {
				t.Errorf("status %d, want %d: %s", w.Code, tt.status, w.Body)
			}
		})
	}
	t.Run("an announced one is not sent at all", func(t *testing.T) {
		upstream, g := withBodyLimit(t) // the one above may be about to get what was cut off
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/books/1", strings.NewReader("0123456789a"))
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		if upstream.Requests() != 0 {
			t.Error("the upstream got the request")
		}
		wantFailure(t, w, http.StatusRequestEntityTooLarge, "Request body too large")
	})
}

func TestPanicHarmsOneRequestOnly(t *testing.T) {
	g := newGateway(t, usersAndBooks, gozer.WithFilters(
		filters.Func("Fragile", filters.Pre, 0, func(c *filters.Context) error {
			if c.Path.Clean == "/panic" {
				panic("nobody expected this")
			}
			return nil
		}),
		respond("Answer", filters.Pre, 1, "fine")))
	for range 3 {
		wantFailure(t, get(t, g, "/panic"), http.StatusInternalServerError, "pre:Fragile")
		wantAnswer(t, get(t, g, "/"), http.StatusOK, "fine")
	}
}

func TestRefusalBringsFields(t *testing.T) {
	g := newGateway(t, usersAndBooks, gozer.WithFilters(filters.Func("Limit", filters.Pre, 0, func(*filters.Context) error {
		return &filters.StatusError{
			Status: http.StatusTooManyRequests, Cause: "Slow down",
			Header: http.Header{"Retry-After": {"7"}}, Err: errors.New("bucket is empty"),
		}
	})))
	got := get(t, g, "/users/1")
	wantFailure(t, got, http.StatusTooManyRequests, "Slow down")
	if after := got.Header().Get("Retry-After"); after != "7" {
		t.Errorf("Retry-After %q", after)
	}
}

func TestCutResponseIsNotMistakenForAWholeOne(t *testing.T) {
	upstream := backendtest.Start(t, backendtest.Cut("half", 4))
	g := newGateway(t, "zuul.routes.books: /books/**="+upstream.URL())
	defer func() {
		if v := recover(); v != http.ErrAbortHandler { //nolint:errorlint // a panic is no error chain
			t.Errorf("panicked with %v, want http.ErrAbortHandler", v)
		}
	}()
	get(t, g, "/books/1")
	t.Error("the handler ended as if all were well")
}
