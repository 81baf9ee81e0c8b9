package rest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/lb/rest"
)

// handled is a client whose calls a handler answers at once.
func handled(h http.HandlerFunc) *rest.Client {
	return rest.New(&http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Body != nil {
			defer r.Body.Close()
		}
		w := httptest.NewRecorder()
		h(w, r)
		res := w.Result()
		res.Request = r
		return res, nil
	})})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

type user struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

// seen is what a handler is asked for.
type seen struct{ Method, URL, Type, Accept, Body string }

// echo answers with what it has seen.
func echo(w http.ResponseWriter, r *http.Request) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	w.Header().Set("Location", "/made/1")
	w.Header().Set("Allow", "GET, HEAD,,PUT")
	_ = json.NewEncoder(w).Encode(seen{r.Method, r.URL.String(), r.Header.Get("Content-Type"), r.Header.Get("Accept"), string(body)})
}

func TestCalls(t *testing.T) {
	const asJSON = "application/json, application/*+json"
	c := handled(echo)
	c.Base = "http://users"
	for _, tc := range []struct {
		name string
		call func(context.Context) (seen, error)
		want seen
	}{
		{"get", func(ctx context.Context) (seen, error) {
			return rest.GetObject[seen](ctx, c, "/a/{x}?q={y}", "1/2", "3&4")
		}, seen{Method: "GET", URL: "http://users/a/1%2F2?q=3%264", Accept: asJSON}},
		{"a template of its own host", func(ctx context.Context) (seen, error) {
			return rest.GetObject[seen](ctx, c, "http://orders/{x}", rest.Vars{"x": 1})
		}, seen{Method: "GET", URL: "http://orders/1", Accept: asJSON}},
		{"get entity", func(ctx context.Context) (seen, error) {
			e, err := rest.GetEntity[seen](ctx, c, "?x=y")
			if e.Status != 200 || e.Header.Get("Allow") == "" {
				return seen{}, fmt.Errorf("entity %+v", e)
			}
			return e.Body, err
		}, seen{Method: "GET", URL: "http://users?x=y", Accept: asJSON}},
		{"post JSON", func(ctx context.Context) (seen, error) {
			return rest.PostObject[seen](ctx, c, "/a", user{1, "x"})
		}, seen{"POST", "http://users/a", "application/json", asJSON, `{"id":1,"name":"x"}`}},
		{"post a form", func(ctx context.Context) (seen, error) {
			return rest.PostObject[seen](ctx, c, "/a", url.Values{"b": {"c d"}})
		}, seen{"POST", "http://users/a", "application/x-www-form-urlencoded", asJSON, "b=c+d"}},
		{"post text", func(ctx context.Context) (seen, error) {
			e, err := rest.PostEntity[seen](ctx, c, "/a", "text")
			return e.Body, err
		}, seen{"POST", "http://users/a", "text/plain; charset=utf-8", asJSON, "text"}},
		{"patch bytes", func(ctx context.Context) (seen, error) {
			return rest.PatchObject[seen](ctx, c, "/a", []byte("raw"))
		}, seen{"PATCH", "http://users/a", "application/octet-stream", asJSON, "raw"}},
		{"exchange a stream", func(ctx context.Context) (seen, error) {
			e, err := rest.Exchange[seen](ctx, c, rest.Request{
				Method: "PUT", URI: "/{a}", Vars: []any{"x"}, Body: strings.NewReader("s"),
				Header: http.Header{"content-type": {"text/csv"}, "Accept": {"text/x"}},
			})
			return e.Body, err
		}, seen{"PUT", "http://users/x", "text/csv", "text/x", "s"}},
		{"exchange a URL as it is", func(ctx context.Context) (seen, error) {
			e, err := rest.Exchange[seen](ctx, c, rest.Request{URL: &url.URL{Scheme: "http", Host: "users", Path: "/a b", RawPath: "/a%20b", RawQuery: "x=%2B"}})
			return e.Body, err
		}, seen{Method: "GET", URL: "http://users/a%20b?x=%2B", Accept: asJSON}},
		{"text", func(ctx context.Context) (seen, error) {
			text, err := rest.GetObject[string](ctx, c, "/a")
			return unmarshal(text, err)
		}, seen{Method: "GET", URL: "http://users/a", Accept: "*/*"}},
		{"bytes", func(ctx context.Context) (seen, error) {
			text, err := rest.GetObject[[]byte](ctx, c, "/a")
			return unmarshal(string(text), err)
		}, seen{Method: "GET", URL: "http://users/a", Accept: "*/*"}},
		{"the response itself", func(ctx context.Context) (seen, error) {
			res, err := c.Get(ctx, "/a")
			if err != nil {
				return seen{}, err
			}
			defer res.Body.Close()
			text, err := io.ReadAll(res.Body)
			return unmarshal(string(text), err)
		}, seen{Method: "GET", URL: "http://users/a"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := tc.call(t.Context())
			if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
				t.Errorf("error %v, -want +got\n%s", err, diff)
			}
		})
	}
}

func unmarshal(text string, err error) (s seen, _ error) {
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal([]byte(text), &s)
}

func TestCallsWithoutAnObject(t *testing.T) {
	var got []string
	c := handled(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Method+" "+r.URL.Path)
		echo(w, r)
	})
	ctx := t.Context()
	header, err := c.Head(ctx, "http://users/{x}", 1)
	if err != nil || header.Get("Location") != "/made/1" {
		t.Errorf("head: %v, %v", header, err)
	}
	methods, err := c.Options(ctx, "http://users/{x}", 2)
	if diff := cmp.Diff([]string{"GET", "HEAD", "PUT"}, methods); diff != "" || err != nil {
		t.Errorf("options: %v %s", err, diff)
	}
	location, err := c.PostLocation(ctx, "http://users/{x}", user{}, 3)
	if err != nil || location.String() != "http://users/made/1" {
		t.Errorf("location %v, %v", location, err)
	}
	if err := errors.Join(c.Put(ctx, "http://users/{x}", user{}, 4), c.Delete(ctx, "http://users/{x}", 5)); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"HEAD /1", "OPTIONS /2", "POST /3", "PUT /4", "DELETE /5"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestNothingMade(t *testing.T) {
	location, err := handled(func(http.ResponseWriter, *http.Request) {}).PostLocation(t.Context(), "http://users/", nil)
	if location != nil || err != nil {
		t.Errorf("location %v, %v", location, err)
	}
}

func TestHeaders(t *testing.T) {
	c := handled(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Header.Get("X-A"), r.Header.Get("X-B")) })
	c.Header = http.Header{"X-A": {"1"}, "x-b": {"2"}}
	e, err := rest.Exchange[string](t.Context(), c, rest.Request{URI: "http://users/", Header: http.Header{"X-B": {"3"}}})
	if e.Body != "13" || err != nil {
		t.Errorf("%q, %v", e.Body, err)
	}
}

func TestStatusErrors(t *testing.T) {
	for _, tc := range []struct {
		status         int
		body           string
		client, server bool
		kept           string
		cut            bool
	}{
		{399, "ok", false, false, "", false},
		{400, "bad", true, false, "bad", false},
		{404, "12345678", true, false, "12345678", false},
		{499, "123456789", true, false, "12345678", true},
		{500, "", false, true, "", false},
		{503, strings.Repeat("x", 1<<20), false, true, "xxxxxxxx", true},
	} {
		t.Run(strconv.Itoa(tc.status), func(t *testing.T) {
			c := handled(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Id", "7")
				w.WriteHeader(tc.status)
				fmt.Fprint(w, tc.body)
			})
			c.MaxError = 8
			_, err := rest.GetObject[string](t.Context(), c, "http://us:secret@users/{id}?token={t}", "secret", "secret")
			if errors.Is(err, rest.ErrClient) != tc.client || errors.Is(err, rest.ErrServer) != tc.server {
				t.Fatalf("error %v", err)
			}
			e, ok := errors.AsType[*rest.Error](err)
			if !ok {
				if err != nil || rest.StatusOf(err) != 0 {
					t.Errorf("error %v", err)
				}
				return
			}
			if string(e.Body) != tc.kept || e.Cut != tc.cut || e.Header.Get("X-Id") != "7" || rest.StatusOf(err) != tc.status {
				t.Errorf("error %+v", e)
			}
			want := strings.TrimSpace(fmt.Sprintf("rest: GET http://***@users/{id}?token={t}: %d %s", tc.status, http.StatusText(tc.status)))
			if strings.TrimSpace(e.Error()) != want {
				t.Errorf("text %q, want %q", e, want)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	lost := errors.New("connection lost")
	cut := handled(func(w http.ResponseWriter, _ *http.Request) {})
	cut.HTTP.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(io.MultiReader(strings.NewReader("{"), errReader{lost})), Request: r}, nil
	})
	failing := rest.New(&http.Client{Transport: roundTripper(func(*http.Request) (*http.Response, error) { return nil, lost })})
	text := handled(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html>")
	})
	text.MaxBody = 6
	long := handled(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "1234567") })
	long.MaxBody = 6
	for _, tc := range []struct {
		name   string
		client *rest.Client
		body   any
		is     error
		text   string
	}{
		{"no connection", failing, nil, lost, "rest: POST http://users/{id}?t={t}: connection lost"},
		{"cut short", cut, nil, lost, "rest: POST http://users/{id}?t={t}: reading the response: connection lost"},
		{"no JSON", text, nil, nil, `rest: POST http://users/{id}?t={t}: decoding a response of type "text/html": invalid character '<' looking for beginning of value`},
		{"too large", long, nil, rest.ErrTooLarge, "rest: POST http://users/{id}?t={t}: rest: response body is too large: more than 6 bytes"},
		{"a body that is none", long, make(chan int), nil, "rest: POST http://users/{id}?t={t}: encoding the body: json: unsupported type: chan int"},
		{"no client", rest.New(nil), nil, nil, "rest: POST http://users/{id}?t={t}: the client has no HTTP client"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := rest.PostObject[user](t.Context(), tc.client, "http://users/{id}?t={t}", tc.body, "secret", "secret")
			if err == nil || err.Error() != tc.text || tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("error %v\nwant  %s", err, tc.text)
			}
		})
	}
}

type errReader struct{ err error }

func (e errReader) Read([]byte) (int, error) { return 0, e.err }

// An empty answer leaves the object as it is.
func TestEmptyAnswer(t *testing.T) {
	c := handled(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	e, err := rest.GetEntity[user](t.Context(), c, "http://users/")
	if diff := cmp.Diff(user{}, e.Body); diff != "" || err != nil || e.Status != http.StatusNoContent {
		t.Errorf("%+v, %v", e, err)
	}
}

func TestContextEndsACall(t *testing.T) {
	c := rest.New(&http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, context.Cause(r.Context())
	})})
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := c.Head(ctx, "http://users/"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}
