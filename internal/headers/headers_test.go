package headers_test

import (
	"maps"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gozer-gateway/gozer/internal/headers"
)

func TestHopByHop(t *testing.T) {
	tests := map[string]struct{ in, want http.Header }{
		"http S13 each of them": {
			http.Header{
				"Keep-Alive": {"1"}, "Proxy-Connection": {"1"}, "Te": {"gzip"}, "Trailer": {"X"}, "Transfer-Encoding": {"chunked"},
				"Upgrade": {"x"}, "Proxy-Authorization": {"1"}, "Proxy-Authenticate": {"1"}, "Content-Length": {"3"},
				"Expect": {"100-continue"}, "Http2-Settings": {"A"}, "X-Stay": {"1"},
			},
			http.Header{"X-Stay": {"1"}},
		},
		"http S12 named by several Connection lines": {
			http.Header{"Connection": {"close, X-A", ",, x-b ,", "X-C"}, "X-A": {"1"}, "X-B": {"1"}, "X-C": {"1"}, "X-Ab": {"1"}},
			http.Header{"X-Ab": {"1"}},
		},
		"http S02 values keep their order": {
			http.Header{"X-A": {"2", "1"}, "Set-Cookie": {"a", "b"}}, http.Header{"X-A": {"2", "1"}, "Set-Cookie": {"a", "b"}},
		},
		"nothing": {http.Header{}, http.Header{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			received := maps.Clone(test.in)
			if diff := cmp.Diff(test.want, endToEnd(received)); diff != "" {
				t.Errorf("EndToEnd, -want +got\n%s", diff)
			}
			if diff := cmp.Diff(test.in, received); diff != "" {
				t.Errorf("EndToEnd changed what it read\n%s", diff)
			}
			headers.Strip(received)
			if diff := cmp.Diff(test.want, received); diff != "" {
				t.Errorf("Strip, -want +got\n%s", diff)
			}
		})
	}
}

func endToEnd(h http.Header) http.Header {
	out := http.Header{}
	headers.EndToEnd(out, h, nil)
	return out
}

func TestTrailersAreOffered(t *testing.T) {
	for te, want := range map[string]string{"trailers": "trailers", "gzip, TRAILERS": "trailers", "gzip": "", "x-trailers": ""} {
		h := http.Header{"Te": {te}, "Connection": {"TE"}}
		if got := endToEnd(h).Get("Te"); got != want {
			t.Errorf("http S33 TE %q: %q, want %q", te, got, want)
		}
		if headers.Strip(h); len(h) != 0 {
			t.Errorf("TE %q of a response: %v is left", te, h)
		}
	}
}

func TestAppendedValuesDoNotReachTheOriginal(t *testing.T) {
	lines := append(make([]string, 0, 4), "1")
	h := http.Header{"X-A": lines}
	out := endToEnd(h)
	out.Add("X-A", "2")
	if grown := lines[:2]; grown[1] != "" {
		t.Errorf("the received lines became %q", grown)
	}
}

func TestAlike(t *testing.T) {
	for name, want := range map[string]bool{"X-Request-Id": true, "x_request-ID": true, "X__request_id": false, "X-Request-Ie": false, "X-Request-Id-": false, "": false} {
		if headers.Alike(name, "X-Request-Id") != want || headers.Alike("X-Request-Id", name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

func TestOwn(t *testing.T) {
	received := []string{"1", "2"}
	tests := map[string]struct{ now, received, want []string }{
		"inherited":            {received, received, nil},
		"extended":             {append(received[:2:2], "3"), received, []string{"3"}},
		"replaced":             {[]string{"3"}, received, []string{"3"}},
		"replaced by as many":  {[]string{"3", "4"}, received, []string{"3", "4"}},
		"replaced by the same": {[]string{"1", "2"}, received, []string{"1", "2"}},
		"replaced by more":     {[]string{"1", "3", "2"}, received, []string{"1", "3", "2"}},
		"never received":       {[]string{"3"}, nil, []string{"3"}},
		"deleted":              {nil, received, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, headers.Own(test.now, test.received)); diff != "" {
				t.Error(diff)
			}
			if got, want := headers.Inherited(test.now, test.received), name == "inherited"; got != want {
				t.Errorf("inherited is %v", got)
			}
			out := http.Header{}
			if test.now != nil {
				out["X-A"] = test.now
			}
			headers.DropReceived(out, http.Header{"X-A": test.received}, "X-A")
			if diff := cmp.Diff(test.want, out["X-A"]); diff != "" {
				t.Errorf("DropReceived left %s", diff)
			}
		})
	}
}

func TestSet(t *testing.T) {
	s := headers.NewSet("x-SECRET", "", "cookie")
	for name, want := range map[string]bool{"X-Secret": true, "Cookie": true, "X-Other": false, "": false} {
		if s.Has(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
	if len(s) != 2 || headers.NewSet() != nil || headers.Set(nil).Has("X-A") {
		t.Error("empty names or sets count")
	}
}
