package gozer_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/filters"
)

// seen is a gateway whose upstream keeps the fields that it got. last forgets them.
func seen(t *testing.T, yaml string, opts ...gozer.Option) (g *gozer.Gateway, last func() http.Header) {
	t.Helper()
	var header http.Header
	g = newGateway(t, yaml+"up.ribbon.listOfServers: up.test\n", opts...)
	g.SetTransport("up", answerWith(func(r *http.Request) string {
		header = r.Header.Clone()
		return "up"
	}))
	return g, func() http.Header {
		defer func() { header = nil }()
		return header
	}
}

const oneRoute = "zuul.routes.up: /up/**\n"

func TestVia(t *testing.T) {
	add := filters.Func("Add", filters.Pre, 1, func(c *filters.Context) error {
		if c.Request.URL.RawQuery == "add" {
			c.Out.Header.Add("Via", "1.1 filter")
		}
		return nil
	})
	on, last := seen(t, oneRoute, gozer.WithFilters(add))
	off, lastOff := seen(t, "gateway.via: false\n"+oneRoute)
	for _, tt := range []struct {
		name, target string
		minor        int
		received     []string
		want         []string
	}{
		{"S16 none before", "/up/x", 1, nil, []string{"1.1 gozer"}},
		{"S16 received as HTTP/1.0", "/up/x", 0, nil, []string{"1.0 gozer"}},
		{"S16 behind others", "/up/x", 1, []string{"1.0 a, 1.1 b (c)", "1.1 d"}, []string{"1.0 a, 1.1 b (c)", "1.1 d", "1.1 gozer"}},
		{"a filter's own", "/up/x?add", 1, nil, []string{"1.1 gozer", "1.1 filter"}},
		{"shared by no two requests", "/up/x", 1, nil, []string{"1.1 gozer"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, tt.target, http.NoBody)
			r.ProtoMinor = tt.minor
			if tt.received != nil {
				r.Header["Via"] = tt.received
			}
			on.ServeHTTP(httptest.NewRecorder(), r)
			if got := last()["Via"]; !slices.Equal(got, tt.want) {
				t.Errorf("Via %q, want %q", got, tt.want)
			}
			off.ServeHTTP(httptest.NewRecorder(), r)
			if got := lastOff()["Via"]; !slices.Equal(got, tt.received) {
				t.Errorf("switched off: Via %q, want %q", got, tt.received)
			}
		})
	}
}

func TestCircles(t *testing.T) {
	on, last := seen(t, oneRoute)
	off, lastOff := seen(t, "gateway.via: false\n"+oneRoute)
	eight := strings.Repeat("1.1 gozer, ", 8)
	for name, tt := range map[string]struct {
		via    string
		status int
	}{
		"S11 eight times through gateways":   {eight, http.StatusLoopDetected},
		"S11 seven times":                    {eight[len("1.1 gozer, "):], http.StatusOK},
		"S11 others do not count":            {strings.Repeat("1.1 gozers, 1.1 a gozer, gozer,", 8), http.StatusOK},
		"S11 every version and spacing does": {strings.Repeat("1.0 gozer,HTTP/2.0 gozer ,", 4), http.StatusLoopDetected},
	} {
		t.Run(name, func(t *testing.T) {
			w := ask(t, on, http.MethodGet, "/up/x", "Via", tt.via)
			if passed := last() != nil; w.Code != tt.status || passed != (tt.status == http.StatusOK) {
				t.Errorf("status %d, passed on %t; want %d", w.Code, passed, tt.status)
			}
			if w := ask(t, off, http.MethodGet, "/up/x", "Via", tt.via); w.Code != http.StatusOK || lastOff() == nil {
				t.Errorf("switched off: status %d", w.Code)
			}
		})
	}
}

func TestMaxForwards(t *testing.T) {
	g, last := seen(t, oneRoute)
	for _, tt := range []struct{ name, method, received, passed string }{
		{"S15 none left", http.MethodOptions, "0", ""},
		{"S15 the last one", http.MethodOptions, "1", "0"},
		{"S15 some", http.MethodOptions, "5", "4"},
		{"S15 the largest that can be counted", http.MethodOptions, "9223372036854775807", "9223372036854775806"},
		{"S15 one more", http.MethodOptions, "9223372036854775808", "9223372036854775807"},
		{"S15 many more", http.MethodOptions, "99999999999999999999999", "9223372036854775807"},
		{"S15 no number", http.MethodOptions, "abc", "abc"},
		{"S15 another method", http.MethodGet, "0", "0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := ask(t, g, tt.method, "/up/x", "Max-Forwards", tt.received)
			if got := last().Get("Max-Forwards"); got != tt.passed || w.Code != http.StatusOK {
				t.Errorf("passed on with %q, status %d; want %q", got, w.Code, tt.passed)
			}
			if allow := w.Header().Get("Allow"); (allow != "") != (tt.passed == "") {
				t.Errorf("Allow %q", allow)
			}
		})
	}
}

func TestRequestsAboutTheGateway(t *testing.T) {
	g, last := seen(t, "zuul.routes.up: /**\n")
	for name, tt := range map[string]struct {
		method, target string
		status         int
		passed         bool
	}{
		"M15 asterisk":                    {http.MethodOptions, "*", http.StatusOK, false},
		"M15 absolute form without path":  {http.MethodOptions, "http://g.test", http.StatusOK, false},
		"M15 absolute form with path":     {http.MethodOptions, "http://g.test/", http.StatusOK, true},
		"M15 absolute form with query":    {http.MethodOptions, "http://g.test?x", http.StatusOK, true},
		"M15 asterisk for another method": {http.MethodGet, "*", http.StatusBadRequest, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), tt.method, "/", http.NoBody)
			r.RequestURI = tt.target
			if tt.target == "*" {
				r.URL.Path = "*"
			}
			w := httptest.NewRecorder()
			g.ServeHTTP(w, r)
			passed := last() != nil
			if w.Code != tt.status || passed != tt.passed || (w.Header().Get("Allow") != "") != (tt.status == http.StatusOK && !passed) {
				t.Errorf("status %d %v, passed on %t", w.Code, w.Header(), passed)
			}
		})
	}
}
