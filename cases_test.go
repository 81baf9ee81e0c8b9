package gozer_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/gozer-gateway/gozer"
	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/backendtest"
)

// Each key of the connections of URL routes counts: with another value there are new
// connections, with the same one the old ones stay.
func TestChangedURLPoolOpensNewConnections(t *testing.T) {
	books := backendtest.Start(t, says("book"))
	yaml := "zuul.routes.books: /books/**=" + books.URL() + "\n"
	g := newGateway(t, yaml+"zuul.host.connect-timeout-millis: 60000\n")
	wantAnswer(t, get(t, g, "/books/1"), http.StatusOK, "book")
	for n, setting := range []string{
		"connect-timeout-millis: 61000", "socket-timeout-millis: 61000", "connection-request-timeout-millis: 61000",
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
			g := newGateway(t, usersAt(patient+more+"\n", users.Addr))
			if n := len(g.Servers("users")); n != 1 {
				t.Errorf("%d servers before the first request", n)
			}
			wantAnswer(t, get(t, g, "/users/1"), http.StatusOK, "user")
		})
	}
}

// The gateway keeps no cookies: neither does it send back what an upstream has set, nor
// does a client see it unless its route lets it through.
func TestCookiesOfUpstreams(t *testing.T) {
	books := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", "s=1")
		_, _ = fmt.Fprint(w, r.Header["Cookie"])
	}))
	g := newGateway(t, fmt.Sprintf(`
zuul.routes:
  hidden: {path: /hidden/**, url: %q}
  passed: {path: /passed/**, url: %[1]q, sensitive-headers: ""}
`, books.URL()))
	for path, want := range map[string]string{"/hidden/1": "", "/passed/1": "s=1"} {
		t.Run("zuul 132 "+path, func(t *testing.T) {
			for range 2 {
				got := get(t, g, path)
				wantAnswer(t, got, http.StatusOK, "[]")
				if cookie := got.Header().Get("Set-Cookie"); cookie != want {
					t.Errorf("Set-Cookie %q, want %q", cookie, want)
				}
			}
		})
	}
}

func TestFilterReplacesTheQuery(t *testing.T) {
	books := backendtest.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, r.URL.RawQuery)
	}))
	override := filters.Func("Override", filters.Pre, 6, func(c *filters.Context) error {
		if c.Request.URL.Query().Has("override") {
			c.Out.Query = "key=overridden"
		}
		return nil
	})
	g := newGateway(t, "zuul.routes.books: /books/**="+books.URL(), gozer.WithFilters(override))
	for target, want := range map[string]string{
		"/books/q?override=true&different=key": "key=overridden",
		"/books/q?different=key":               "different=key",
	} {
		t.Run("zuul 100 "+target, func(t *testing.T) { wantAnswer(t, get(t, g, target), http.StatusOK, want) })
	}
}
