package admin

import "net/http"

// prometheus serves the metrics to Prometheus and what reads the same formats.
func (a *api) prometheus(w http.ResponseWriter, r *http.Request) {
	if a.settings.Prometheus == nil {
		notFound(w, r)
		return
	}
	a.settings.Prometheus.ServeHTTP(w, r)
}
