package gozer_test

import (
	"net/http"
	"testing"

	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// Each key of the connections of URL routes counts: with another value there are new
// connections, with the same one the old ones stay.
func TestChangedURLPoolOpensNewConnections(t *testing.T) {
	books := backendtest.Start(t, says("book"))
	yaml := "zuul.routes.books: /books/**=" + books.URL() + "\n"
	g := newGateway(t, yaml)
	wantAnswer(t, get(t, g, "/books/1"), http.StatusOK, "book")
	for n, setting := range []string{
		"connect-timeout-millis: 11000", "socket-timeout-millis: 2100", "connection-request-timeout-millis: 2500",
		"max-total-connections: 100", "max-per-route-connections: 10",
	} {
		t.Run("zuul 152 "+setting, func(t *testing.T) {
			yaml += "zuul.host." + setting + "\n"
			for range 2 {
				reload(t, g, yaml)
				wantAnswer(t, get(t, g, "/books/1"), http.StatusOK, "book")
			}
			if got, want := books.Connections(), int64(n+2); got != want {
				t.Errorf("%d connections, want %d", got, want)
			}
		})
	}
}

func TestPreflightGoesUpstream(t *testing.T) {
	t.Run("zuul 135", func(t *testing.T) {
		books := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") == http.MethodPut {
				w.Header().Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
			}
			w.WriteHeader(http.StatusNoContent)
		}))
		g := newGateway(t, "zuul.routes.books: /books/**="+books.URL())
		got := ask(t, g, http.MethodOptions, "/books/1", "Origin", "https://shop.test", "Access-Control-Request-Method", http.MethodPut)
		if got.Code != http.StatusNoContent || got.Header().Get("Access-Control-Allow-Origin") != "https://shop.test" {
			t.Errorf("%d %v is not the upstream's answer", got.Code, got.Header())
		}
	})
}

func TestServicesAreBuiltAtOnce(t *testing.T) {
	for name, more := range map[string]string{
		"zuul 156 eager":              "zuul.ribbon.eager-load.enabled: true",
		"zuul 156 not asked to":       "",
		"zuul 155 ribbon.okhttp":      "ribbon.okhttp.enabled: true",
		"zuul 155 ribbon.restclient":  "ribbon.restclient.enabled: true",
		"zuul 155 no Apache any more": "ribbon.httpclient.enabled: false",
	} {
		t.Run(name, func(t *testing.T) {
			users := backendtest.Start(t, says("user"))
			g := newGateway(t, usersAt(more+"\n", users.Addr))
			if n := len(g.Servers("users")); n != 1 {
				t.Errorf("%d servers before the first request", n)
			}
			wantAnswer(t, get(t, g, "/users/1"), http.StatusOK, "user")
		})
	}
}
