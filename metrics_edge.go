package gozer

import "github.com/gozer-gateway/gozer/telemetry"

// accessLogging tells of the lines of the access log.
func (g *Gateway) accessLogging(e *telemetry.Emitter) {
	w := g.state.accessLog
	e.Counter("gozer_access_log_lines_total", "Lines of the access log that were taken to be written.", float64(w.Lines()))
	e.Counter("gozer_access_log_lost_total", "Lines of the access log for which there was no room, or that could not be written.", float64(w.Lost()))
}

// introducing tells what became of connections that should begin with a PROXY protocol head.
func (g *Gateway) introducing(e *telemetry.Emitter) {
	c := &g.state.introductions
	const name, help = "gozer_proxy_protocol_connections_total", "Connections to the proxy port while PROXY protocol heads are expected, by what became of these."
	e.Counter(name, help, float64(c.Accepted.Load()), "outcome", "accepted")
	e.Counter(name, help, float64(c.Refused.Load()), "outcome", "refused")
	e.Counter(name, help, float64(c.Malformed.Load()), "outcome", "malformed")
	e.Counter(name, help, float64(c.Late.Load()), "outcome", "late")
}
