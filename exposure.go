package gozer

import (
	"slices"
	"strings"

	"github.com/gozer-gateway/gozer/admin"
	"github.com/gozer-gateway/gozer/config"
)

// warnOfEndpoints reports the ids that management.endpoints.web.exposure.* names
// in vain. To exclude what Spring has and the gateway has not is no mistake.
func warnOfEndpoints(cfg *config.Config, report *config.Report) {
	const exposure = "management.endpoints.web.exposure."
	for _, id := range cfg.Management.Include {
		if springEndpoint(id) {
			warnOfEndpoint(cfg, report, exposure+"include", id, "is an endpoint of Spring that is not served")
		} else {
			warnOfEndpoint(cfg, report, exposure+"include", id, "is no endpoint")
		}
	}
	for _, id := range cfg.Management.Exclude {
		if !springEndpoint(id) {
			warnOfEndpoint(cfg, report, exposure+"exclude", id, "is no endpoint")
		}
	}
}

func warnOfEndpoint(cfg *config.Config, report *config.Report, key, id, what string) {
	if id == "*" || slices.Contains(admin.IDs(), id) {
		return
	}
	report.Add(config.Finding{
		Severity: config.Warning, Key: key, Position: cfg.Place(key),
		Message: `"` + id + `" ` + what + "; there are " + strings.Join(admin.IDs(), ", "),
	})
}

func springEndpoint(id string) bool {
	return slices.Contains([]string{
		"auditevents", "autoconfig", "beans", "bus-env", "bus-refresh", "caches", "channels", "conditions", "configprops", "dump",
		"env", "features", "flyway", "gateway", "heapdump", "httpexchanges", "httptrace", "hystrix",
		"hystrixstream", "integrationgraph", "jolokia", "liquibase", "logfile", "loggers", "mappings", "pause", "prometheus",
		"quartz", "restart", "resume", "scheduledtasks", "service-registry", "sessions", "shutdown", "startup",
		"threaddump", "trace",
	}, id)
}
