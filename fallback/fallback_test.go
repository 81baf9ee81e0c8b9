package fallback_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/fallback"
)

func named(name string) fallback.Provider {
	return &fallback.Static{Status: http.StatusOK, Body: []byte(name)}
}

// ask returns status, header and body of a provider's answer.
func ask(t *testing.T, p fallback.Provider) (int, http.Header, string) {
	t.Helper()
	resp, err := p.Fallback(t.Context(), "users", errors.New("boom"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.ContentLength != int64(len(body)) {
		t.Errorf("content length %d of %d bytes, %v", resp.ContentLength, len(body), err)
	}
	return resp.StatusCode, resp.Header, string(body)
}

func TestRegistry(t *testing.T) {
	r := fallback.NewRegistry(
		fallback.Entry{Service: "users", Provider: named("old users")},
		fallback.Entry{Service: "*", Provider: named("old default")},
		fallback.Entry{Service: "users", Provider: named("users")},
		fallback.Entry{Service: "", Provider: named("default")},
	)
	for service, want := range map[string]string{"users": "users", "orders": "default", "Users": "default", "*": "default"} {
		if _, _, got := ask(t, r.Provider(service)); got != want {
			t.Errorf("%s: got %q, want %q", service, got, want)
		}
	}
}

func TestRegistryWithoutProvider(t *testing.T) {
	only := fallback.NewRegistry(fallback.Entry{Service: "users", Provider: named("users")})
	for name, r := range map[string]*fallback.Registry{"nil": nil, "no default": only} {
		if p := r.Provider("orders"); p != nil {
			t.Errorf("%s: found %v", name, p)
		}
	}
}

func TestStatic(t *testing.T) {
	tests := map[string]struct {
		static fallback.Static
		status int
		header http.Header
		body   string
	}{
		"zero value": {
			status: http.StatusServiceUnavailable,
			header: http.Header{"X-Gateway-Fallback": {"true"}, "Cache-Control": {"no-store"}, "Content-Length": {"0"}},
		},
		"headers and body": {
			static: fallback.Static{
				Status: http.StatusOK,
				Header: http.Header{"content-type": {"application/json"}, "Cache-Control": {"max-age=5"}, "Vary": {"A", "B"}},
				Body:   []byte(`{"users":[]}`),
			},
			status: http.StatusOK,
			header: http.Header{
				"X-Gateway-Fallback": {"true"}, "Cache-Control": {"max-age=5"}, "Content-Length": {"12"},
				"Content-Type": {"application/json"}, "Vary": {"A", "B"},
			},
			body: `{"users":[]}`,
		},
		"guessed content type": {
			static: fallback.Static{Body: []byte("sorry")},
			status: http.StatusServiceUnavailable,
			header: http.Header{
				"X-Gateway-Fallback": {"true"}, "Cache-Control": {"no-store"}, "Content-Length": {"5"},
				"Content-Type": {"text/plain; charset=utf-8"},
			},
			body: "sorry",
		},
		"K05 no validators, framing is ours": {
			static: fallback.Static{
				Status: http.StatusNoContent,
				Header: http.Header{
					"ETag": {`"1"`}, "Last-Modified": {"now"}, "Content-Length": {"99"}, "Transfer-Encoding": {"chunked"},
					"Connection": {"X"}, "X-Gateway-Fallback": {"false"},
				},
			},
			status: http.StatusNoContent,
			header: http.Header{"X-Gateway-Fallback": {"true"}, "Cache-Control": {"no-store"}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			status, header, body := ask(t, &tt.static)
			if status != tt.status || body != tt.body {
				t.Errorf("got %d %q", status, body)
			}
			if diff := cmp.Diff(tt.header, header); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestStaticIsFreshEachTime(t *testing.T) {
	s := &fallback.Static{Header: http.Header{"X-List": {"a"}}, Body: []byte("body")}
	_, first, _ := ask(t, s)
	first["X-List"][0] = "spoiled"
	first.Set("X-Other", "b")
	_, second, body := ask(t, s)
	if second.Get("X-List") != "a" || second.Get("X-Other") != "" || body != "body" {
		t.Errorf("second answer is %v %q", second, body)
	}
}

func TestStaticValidate(t *testing.T) {
	tests := map[string]struct {
		static fallback.Static
		ok     bool
	}{
		"zero":             {fallback.Static{}, true},
		"200 with body":    {fallback.Static{Status: 200, Body: []byte("x")}, true},
		"204":              {fallback.Static{Status: 204}, true},
		"204 with a body":  {fallback.Static{Status: 204, Body: []byte("x")}, false},
		"304 with a body":  {fallback.Static{Status: 304, Body: []byte("x")}, false},
		"informational":    {fallback.Static{Status: 101}, false},
		"not a status":     {fallback.Static{Status: 600}, false},
		"not even a digit": {fallback.Static{Status: -1}, false},
	}
	for name, tt := range tests {
		if err := tt.static.Validate(); (err == nil) != tt.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFunc(t *testing.T) {
	f := fallback.Func(func(ctx context.Context, service string, _ error) (*http.Response, error) {
		return (&fallback.Static{Body: []byte(service)}).Fallback(ctx, service, nil)
	})
	if _, _, body := ask(t, f); body != "users" {
		t.Errorf("got %q", body)
	}
}
