package post_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/post"
	"github.com/gozer-gateway/gozer/internal/leaktest"
	"github.com/gozer-gateway/gozer/internal/memhttp"
	"github.com/gozer-gateway/gozer/routing"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// answering is a front door whose only filter is SendResponse.
func answering(t *testing.T, answer func(*filters.Context)) (*http.Client, string) {
	t.Helper()
	chain, err := filters.NewChain([]filters.Spec{post.SendResponse(post.SendResponseSettings{})}, filters.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return memhttp.NewClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := filters.NewContext(w, r, routing.Path{}, time.Now())
		defer c.Release()
		answer(c)
		chain.Serve(c)
		if c.Aborted() {
			panic(http.ErrAbortHandler)
		}
	}))
}

// seen is what a client can see of a response.
type seen struct {
	Body    string
	Length  int64
	Chunked []string
	Types   []string
	Trailer http.Header
}

func ask(t *testing.T, client *http.Client, method, url string) (seen, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := client.Do(req)
	if err != nil {
		return seen{}, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	return seen{string(body), res.ContentLength, res.TransferEncoding, res.Header["Content-Type"], res.Trailer}, err
}

func TestOnTheWire(t *testing.T) {
	upstream := func(c *filters.Context, res *http.Response) {
		res.StatusCode = http.StatusOK
		if res.Header == nil {
			res.Header = http.Header{}
		}
		c.Receive(res)
	}
	tests := map[string]struct {
		method string
		answer func(*filters.Context)
		want   seen
		cut    bool
	}{
		"S22 no type is made up": {
			http.MethodGet, func(c *filters.Context) {
				upstream(c, &http.Response{Body: io.NopCloser(strings.NewReader("<html>")), ContentLength: 6})
			}, seen{Body: "<html>", Length: 6}, false,
		},
		"C035 one framing": {
			http.MethodGet, func(c *filters.Context) {
				header := http.Header{"Transfer-Encoding": {"chunked", "chunked"}, "Content-Length": {"3"}, "Content-Type": {"a/b"}}
				upstream(c, &http.Response{Header: header, Body: io.NopCloser(strings.NewReader("body")), ContentLength: -1})
			}, seen{Body: "body", Length: -1, Chunked: []string{"chunked"}, Types: []string{"a/b"}}, false,
		},
		"trailers": {
			http.MethodGet, func(c *filters.Context) {
				upstream(c, &http.Response{Body: io.NopCloser(strings.NewReader("body")), ContentLength: -1, Trailer: http.Header{"X-Sum": {"1"}}})
			}, seen{Body: "body", Length: -1, Chunked: []string{"chunked"}, Trailer: http.Header{"X-Sum": {"1"}}}, false,
		},
		"S28 C074 HEAD": {
			http.MethodHead, func(c *filters.Context) {
				upstream(c, &http.Response{Body: http.NoBody, ContentLength: 12345})
			}, seen{Length: 12345}, false,
		},
		"a body cut short, length known": {
			http.MethodGet, func(c *filters.Context) {
				upstream(c, &http.Response{Body: io.NopCloser(strings.NewReader("bo")), ContentLength: 4})
			}, seen{}, true,
		},
		"a body cut short, length unknown": {
			http.MethodGet, func(c *filters.Context) {
				body := io.MultiReader(strings.NewReader("bo"), iotest.ErrReader(errors.New("reset")))
				upstream(c, &http.Response{Body: io.NopCloser(body), ContentLength: -1})
			}, seen{}, true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			client, url := answering(t, test.answer)
			for range 3 { // on one connection, unless it is cut
				got, err := ask(t, client, test.method, url)
				if (err != nil) != test.cut {
					t.Fatalf("error %v, body %q", err, got.Body)
				}
				if diff := cmp.Diff(test.want, got); !test.cut && diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
			}
		})
	}
}
