package gozer

import (
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/fallback"
	"github.com/gozer-gateway/gozer/filters"
	"github.com/gozer-gateway/gozer/internal/certs"
	"github.com/gozer-gateway/gozer/routing"
)

// Validate looks at cfg as New would, with what the options add, and puts what
// it finds into report: names of filters that do not exist, settings that a
// filter does not take, routes that cannot be built. It starts nothing.
func Validate(cfg *config.Config, report *config.Report, opts ...Option) {
	g := newGateway(cfg, opts)
	s, err := g.build(cfg)
	for _, problem := range separate(err) {
		if route, ok := errors.AsType[*routeError](problem); ok {
			addRouteProblem(cfg, report, config.Error, route.Problem)
			continue
		}
		addProblem(report, problem)
	}
	checkRegistryPort(cfg, report)
	g.warnOfCertificates(s, report, time.Now())
	warnOfServletFilters(cfg, report)
	warnOfEndpoints(cfg, report)
	warnOfFallbackHeaders(cfg, report)
	for _, warning := range s.warnings {
		addRouteProblem(cfg, report, config.Warning, warning)
	}
}

// addProblem adds what is wrong with a setting, unless the report has an error about the same
// one already: what is built of it fails for that reason, and can say less well why.
func addProblem(report *config.Report, problem error) {
	settings, ok := errors.AsType[*config.SettingsError](problem)
	if !ok {
		report.AddError("", config.Position{}, problem)
		return
	}
	known := report.Findings()
	for _, found := range settings.Findings {
		if !slices.ContainsFunc(known, func(f config.Finding) bool {
			return f.Severity == config.Error && f.Key == found.Key && f.Position == found.Position
		}) {
			report.Add(found)
		}
	}
}

// warnOfFallbackHeaders reports fields that a static fallback never sends.
func warnOfFallbackHeaders(cfg *config.Config, report *config.Report) {
	for service, f := range cfg.Gateway.Fallback {
		for name := range f.Headers {
			key := "gateway.fallback." + service + ".headers." + name
			if fallback.Ignored(name) {
				report.Add(config.Finding{
					Severity: config.Warning, Key: key, Position: cfg.Place(key),
					Message: "has no effect: the gateway sets it or leaves it out",
				})
			}
		}
	}
}

// checkRegistryPort reports a port that two listeners would share.
func checkRegistryPort(cfg *config.Config, report *config.Report) {
	const own = "eureka.server.port"
	for key, port := range map[string]int{"server.port": cfg.Server.Port, "management.server.port": cfg.Management.Port} {
		if cfg.Registry.Enabled && port == cfg.Registry.Port && port > 0 {
			at := cfg.Place(own)
			if at == (config.Position{}) {
				at = cfg.Place(key)
			}
			report.Add(config.Finding{Severity: config.Error, Key: own, Position: at, Message: fmt.Sprintf("is %d, and so is %s", port, key)})
		}
	}
}

// warnOfCertificates reports those that can be shown, but to nobody's liking.
func (g *Gateway) warnOfCertificates(s *snapshot, report *config.Report, now time.Time) {
	warn := func(name, text string) {
		key := name + ".certificate"
		report.Add(config.Finding{Severity: config.Warning, Key: key, Position: s.config.Place(key), Message: text})
	}
	for _, listener := range []*certs.View{s.certificates.proxy, s.certificates.management, s.certificates.registry} {
		for _, flaw := range listener.Flaws(now) {
			warn(flaw.Name, flaw.Text)
		}
	}
	outward := append(s.upstreamFiles(), upstreamFiles{name: registryTLS, material: g.registries.material()})
	for _, entry := range outward {
		if shown := entry.material.Certificate(); shown != nil {
			for _, text := range certs.FlawsOf(shown, x509.ExtKeyUsageClientAuth, now) {
				warn(entry.name, text)
			}
		}
	}
}

// warnOfServletFilters reports what a file brought along from Zuul in vain.
func warnOfServletFilters(cfg *config.Config, report *config.Report) {
	for _, ref := range cfg.Zuul.DisabledFilters {
		if servletOnly(ref.Name) {
			report.Add(config.Finding{
				Severity: config.Warning, Key: disableKey(ref), Position: ref.Position,
				Message: "has no effect: there are no servlets, and no such filter",
			})
		}
	}
}

// addRouteProblem adds what the routing table says about a route, unless the
// report has something about that very line already.
func addRouteProblem(cfg *config.Config, report *config.Report, severity config.Severity, p routing.Problem) {
	finding := config.Finding{Severity: severity, Message: p.String()}
	if p.Route == "" { // about what all routes share
		finding.Key = "zuul.ignored-patterns"
		finding.Position = cfg.Place(finding.Key)
	}
	i := slices.IndexFunc(cfg.Zuul.Routes, func(r config.Route) bool { return r.Key == p.Route })
	if i >= 0 {
		finding = config.Finding{Severity: severity, Key: "zuul.routes." + p.Route, Position: cfg.Zuul.Routes[i].Position, Message: p.Message}
	}
	if !slices.ContainsFunc(report.Findings(), func(f config.Finding) bool { return f.Position.Line > 0 && f.Position == finding.Position }) {
		report.Add(finding)
	}
}

// separate takes a joined error apart.
func separate(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, separate(e)...)
	}
	return all
}

// leftOver finds what the configuration says about filters in vain: settings of
// filters that are not there or take none, and the disabling of unknown filters.
// decoded holds the names of the filters that have read their settings.
func leftOver(cfg *config.Config, known []filters.Spec, decoded map[string]bool) error {
	var problems []error
	for _, block := range cfg.FilterSettings() {
		switch {
		case !slices.ContainsFunc(known, func(f filters.Spec) bool { return f.Name == block.Name }):
			problems = append(problems, unknownFilter("gateway.filters."+block.Name, block.Name, block.Position, known))
		case !decoded[block.Name]:
			problems = append(problems, cfg.DecodeFilter(block.Name, &struct{}{})) // complains about each setting
		}
	}
	for _, ref := range cfg.Zuul.DisabledFilters {
		if !servletOnly(ref.Name) && !slices.ContainsFunc(known, func(f filters.Spec) bool { return disables(ref, f) }) {
			problems = append(problems, nothingToDisable(ref, known))
		}
	}
	return errors.Join(problems...)
}

func nothingToDisable(ref config.FilterRef, known []filters.Spec) error {
	i := slices.IndexFunc(known, func(f filters.Spec) bool { return strings.EqualFold(f.Name, ref.Name) })
	if i < 0 {
		return unknownFilter(disableKey(ref), ref.Name, ref.Position, known)
	}
	right := config.FilterRef{Name: known[i].Name, Phase: string(known[i].Phase)}
	return misfit(disableKey(ref), ref.Position, errors.New("the filter is of another phase; write "+disableKey(right)))
}

func disableKey(ref config.FilterRef) string {
	return "zuul." + ref.Name + "." + ref.Phase + ".disable"
}

// servletOnly names Zuul's filters that deal with servlets. There is nothing
// here to disable, which does no harm.
func servletOnly(filter string) bool {
	return slices.ContainsFunc([]string{"ServletDetectionFilter", "Servlet30WrapperFilter", "FormBodyWrapperFilter"}, func(name string) bool {
		return strings.EqualFold(name, filter)
	})
}

// disables ignores letter case, since an environment variable has none.
func disables(ref config.FilterRef, f filters.Spec) bool {
	return strings.EqualFold(ref.Name, f.Name) && strings.EqualFold(ref.Phase, string(f.Phase))
}

func unknownFilter(key, name string, at config.Position, known []filters.Spec) error {
	names := make([]string, len(known))
	for i, f := range known {
		names[i] = f.Name
	}
	message := "there is no such filter"
	if near := config.Nearest(name, names); near != "" {
		message += "; did you mean " + near + "?"
	}
	return misfit(key, at, errors.New(message))
}
