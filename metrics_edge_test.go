package gozer_test

import (
	"path/filepath"
	"testing"
)

// Lines that got lost show, and so does what has come of PROXY protocol heads.
func TestMetricsOfTheEdge(t *testing.T) {
	g := newGateway(t, usersAt("server.proxy-protocol: {enabled: true, trusted-proxies: 10.0.0.0/8}\n"+
		"gateway.access-log: {enabled: true, file: \""+filepath.Join(t.TempDir(), "a.log")+"\"}\n", "one:80"))
	answers(g)
	get(t, g, "/users/200")
	wantSeries(t, g, "gozer_access_log_lines_total 1", "gozer_access_log_lost_total 0", `gozer_proxy_protocol_connections_total{outcome="late"} 0`)
}
