package filters_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/filters/filtertest"
	"github.com/gozer-gateway/gozer/routing"
)

func TestOfferedProtocols(t *testing.T) {
	for name, tt := range map[string]struct {
		connection string
		upgrade    []string
		length     int64
		want       string
	}{
		"W01 one":               {"keep-alive, Upgrade", []string{"WebSocket"}, 0, "WebSocket"},
		"C095 h2c":              {"Upgrade", []string{"h2c"}, 0, ""},
		"C095 h2c among others": {"Upgrade", []string{" H2C,websocket ,, HTTP/2.0"}, 0, "websocket"},
		"several lines":         {"Upgrade", []string{"foo/2", "h2c", "websocket, bar"}, 0, "foo/2, websocket, bar"},
		"not in Connection":     {"close", []string{"websocket"}, 0, ""},
		"W01 with a body":       {"Upgrade", []string{"websocket"}, 1, ""},
		"W01 with chunks":       {"Upgrade", []string{"websocket"}, -1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
			r.Header = http.Header{"Connection": {tt.connection}, "Upgrade": tt.upgrade}
			r.ContentLength = tt.length
			c := filters.NewContext(httptest.NewRecorder(), r, routing.Path{Raw: "/", Clean: "/"}, time.Now())
			if c.Upgrade != tt.want {
				t.Errorf("offers %q, want %q", c.Upgrade, tt.want)
			}
		})
	}
}

func TestUpgradeOfAResponse(t *testing.T) {
	for status, want := range map[int]string{http.StatusUpgradeRequired: "websocket", http.StatusOK: ""} {
		c := filtertest.New(t, "GET /")
		c.Receive(&http.Response{StatusCode: status, Header: http.Header{"Upgrade": {"websocket, h2c"}}, Body: http.NoBody})
		if got := c.Response.Header.Get("Upgrade"); got != want {
			t.Errorf("%d: Upgrade %q, want %q", status, got, want)
		}
	}
}
