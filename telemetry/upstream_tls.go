package telemetry

import "github.com/gozer-gateway/gozer/internal/tlsout"

// Handshakes are the TLS handshakes with the servers of a service or of URL routes.
type Handshakes struct {
	Service string // "" for those of URL routes
	Route   string // of a URL route with connections of its own
	*tlsout.Tally
}

// UpstreamTLS is the part about TLS sessions with servers, and why some did not come about.
func UpstreamTLS(all func() []Handshakes) Part {
	return func(e *Emitter) {
		for _, h := range all() {
			service := h.Service
			if service == "" {
				service = urlRoutes
			}
			const name, help = "gozer_upstream_tls_handshakes_total", "TLS sessions with servers that came about."
			full, resumed := h.Handshakes()
			e.Counter(name, help, float64(full), labelService, service, "route", h.Route, "resumed", "false")
			e.Counter(name, help, float64(resumed), labelService, service, "route", h.Route, "resumed", "true")
			for _, cause := range tlsout.Causes() {
				if n := h.Failed(cause); n > 0 {
					e.Counter("gozer_upstream_tls_failures_total", "TLS sessions with servers that did not come about.", float64(n),
						labelService, service, "route", h.Route, "cause", cause.String())
				}
			}
		}
	}
}
