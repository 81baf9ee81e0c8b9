package gozer

import (
	"errors"
	"slices"
	"strings"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/filters"
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
		report.AddError("", config.Position{}, problem)
	}
	for _, warning := range s.warnings {
		addRouteProblem(cfg, report, config.Warning, warning)
	}
}

// addRouteProblem adds what the routing table says about a route, unless the
// report has something about that very line already.
func addRouteProblem(cfg *config.Config, report *config.Report, severity config.Severity, p routing.Problem) {
	finding := config.Finding{Severity: severity, Message: p.String()}
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
		if !slices.ContainsFunc(known, func(f filters.Spec) bool { return disables(ref, f) }) {
			problems = append(problems, unknownFilter("zuul."+ref.Name+"."+ref.Phase+".disable", ref.Name, ref.Position, known))
		}
	}
	return errors.Join(problems...)
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
	return &config.SettingsError{Findings: []config.Finding{{Severity: config.Error, Key: key, Position: at, Message: message}}}
}
