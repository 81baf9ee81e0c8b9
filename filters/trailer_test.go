package filters_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/routing"
)

// lateTrailer fills the trailer of a request when its body ends, as servers do.
type lateTrailer struct {
	io.Reader
	fill func()
}

func (b lateTrailer) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil {
		b.fill()
	}
	return n, err
}

func TestTrailerOfARequest(t *testing.T) {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", http.NoBody)
	r.Trailer = http.Header{"X-Sum": nil, "Cookie": nil, "X-Secret": nil, "X_request_id": nil}
	r.Header.Set("Connection", "x-hop, close")
	r.Body = io.NopCloser(lateTrailer{strings.NewReader("body"), func() {
		for _, name := range []string{
			"X-Sum", "X-Late", "Cookie", "X-Secret", "X-Hop", "Content-Length", "Authorization", "If-Match", "Max-Forwards",
			"X-Forwarded-For", "X_Forwarded_For", "X-Real-IP", "X_Real-IP", "Forwarded", "X_Request_Id", "X-Request-ID", "X-Trace", "x_trace", "X-Client-Cert", "X_Client_Cert",
		} {
			r.Trailer.Set(name, "1")
		}
	}})
	c := filters.NewContext(httptest.NewRecorder(), r, routing.Path{Raw: "/", Clean: "/"}, time.Now())
	(&filters.RequestIDs{Header: "X-Trace"}).Assign(c)
	(&filters.RequestIDs{Header: "X-Request-Id"}).Assign(c)
	c.Reserve("X-Client-Cert")
	c.IgnoreHeaders("x-secret")
	c.DropIgnored()
	if diff := cmp.Diff(http.Header{"X-Sum": nil}, r.Trailer); diff != "" {
		t.Errorf("S12 M39 announced: -want +got\n%s", diff)
	}
	if _, err := io.Copy(io.Discard, c.Out.Body); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(http.Header{"X-Sum": {"1"}, "X-Late": {"1"}}, r.Trailer); diff != "" {
		t.Errorf("S12 M39 received: -want +got\n%s", diff)
	}
}

func TestTrailerOfAResponse(t *testing.T) {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	c := filters.NewContext(httptest.NewRecorder(), r, routing.Path{Raw: "/", Clean: "/"}, time.Now())
	(&filters.RequestIDs{Header: "X-Request-Id", Echo: true}).Assign(c)
	c.CleanTrailer() // nothing there yet
	c.Receive(&http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Connection": {"close", "X-Hop"}}, Body: http.NoBody,
		Trailer: http.Header{"X-Sum": {"1"}, "X-Hop": {"1"}, "X-Request-Id": {"1"}, "X_forwarded_for": {"1"}, "Set-Cookie": {"a=b"}, "Transfer-Encoding": {"chunked"}},
	})
	c.CleanTrailer()
	var left []string
	for name := range c.Response.Trailer {
		left = append(left, name)
	}
	if !slices.Equal(left, []string{"X-Sum"}) {
		t.Errorf("S12 M39 left: %q", left)
	}
}
