package gozer

import (
	"slices"
	"strings"

	"github.com/gozer-gateway/gozer/config"
	"github.com/gozer-gateway/gozer/filters"
)

// Validate looks at cfg as New would, with what the options add, and puts what
// it finds into report: names of filters that do not exist, settings that a
// filter does not take, routes that cannot be built. It starts nothing.
func Validate(cfg *config.Config, report *config.Report, opts ...Option) {
	g := newGateway(cfg, opts)
	s, err := g.build(cfg)
	for _, problem := range separate(err) {
		report.AddError("", config.Position{}, problem)
	}
	if s != nil {
		for _, warning := range s.warnings {
			report.Add(config.Finding{Severity: config.Warning, Message: warning})
		}
		checkNames(cfg, report, s.chain.Filters())
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

// checkNames reports settings of filters that are not there.
func checkNames(cfg *config.Config, report *config.Report, known []filters.Info) {
	for _, block := range cfg.FilterSettings() {
		if !slices.ContainsFunc(known, func(f filters.Info) bool { return f.Name == block.Name }) {
			report.Add(unknownFilter("gateway.filters."+block.Name, block.Name, block.Position, known))
		}
	}
	for _, ref := range cfg.Zuul.DisabledFilters {
		if !slices.ContainsFunc(known, func(f filters.Info) bool { return disables(ref, f) }) {
			report.Add(unknownFilter("zuul."+ref.Name+"."+ref.Phase+".disable", ref.Name, ref.Position, known))
		}
	}
}

// disables ignores letter case, since an environment variable has none.
func disables(ref config.FilterRef, f filters.Info) bool {
	return strings.EqualFold(ref.Name, f.Name) && strings.EqualFold(ref.Phase, string(f.Phase))
}

func unknownFilter(key, name string, at config.Position, known []filters.Info) config.Finding {
	names := make([]string, len(known))
	for i, f := range known {
		names[i] = f.Name
	}
	message := "there is no such filter"
	if near := config.Nearest(name, names); near != "" {
		message += ", did you mean " + near + "?"
	}
	return config.Finding{Severity: config.Error, Key: key, Position: at, Message: message}
}
