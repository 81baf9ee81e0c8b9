package registry

import (
	"io"
	"net/http"
	"strings"

	"github.com/gorilla/mux"
)

// pages serves what is no part of the REST API.
func (r *Registry) pages() http.Handler {
	router := mux.NewRouter().SkipClean(true).UseEncodedPath()
	router.NotFoundHandler = http.HandlerFunc(empty(http.StatusNotFound))
	router.MethodNotAllowedHandler = http.HandlerFunc(empty(http.StatusMethodNotAllowed))
	for _, path := range []string{"", "/liveness", "/readiness"} {
		router.Handle("/actuator/health"+path, methods{http.MethodGet: r.actuatorHealth(path == "/readiness")})
	}
	if !r.settings.Dashboard {
		return router
	}
	path := "/" + strings.Trim(r.settings.DashboardPath, "/")
	router.Handle(path, methods{http.MethodGet: r.allow(need{}, page(func() markup { p := r.homePage(); return p.markup() }))})
	router.Handle(strings.TrimRight(path, "/")+"/lastn", methods{http.MethodGet: r.allow(need{}, page(func() markup { p := r.lastPage(); return p.markup() }))})
	return router
}

// actuatorHealth is for probes that were written for Spring's registry. Readiness
// fails while reads are refused.
func (r *Registry) actuatorHealth(readiness bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if readiness && r.gated.Load() {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"status":"OUT_OF_SERVICE"}`))
			return
		}
		sendJSON(w, map[string]string{"status": "UP"})
	}
}

// page serves a page; nothing on it may come from elsewhere.
func page(content func() markup) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		_, _ = io.WriteString(w, string(content()))
	}
}
