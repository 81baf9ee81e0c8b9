package config

import (
	"maps"
	"slices"
	"strings"
)

// FilterSettings is a gateway.filters.<Name> block that nobody has decoded yet.
type FilterSettings struct {
	Name     string // as written
	Position Position
	settings *node
}

// FilterSettings lists the configured blocks by name, so that the gateway can add a
// finding for a name that no filter has.
func (c *Config) FilterSettings() []FilterSettings {
	list := make([]FilterSettings, 0, len(c.filters))
	for _, name := range slices.Sorted(maps.Keys(c.filters)) {
		list = append(list, *c.filters[name])
	}
	return list
}

// FilterDisabled tells whether zuul.<name>.<phase>.disable is true. Letter case does
// not matter, since an environment variable has none.
func (c *Config) FilterDisabled(name, phase string) bool {
	return slices.ContainsFunc(c.Zuul.DisabledFilters, func(f FilterRef) bool {
		return strings.EqualFold(f.Name, name) && strings.EqualFold(f.Phase, phase)
	})
}

// DecodeFilter fills the struct that into points to from gateway.filters.<name>, and
// leaves it alone when there is no such block. Fields are matched by name in any of
// the usual spellings, or by a `config:"name"` tag. The error is a [SettingsError]: every
// unknown or ill-typed setting with its place, ready for [Report.AddError].
func (c *Config) DecodeFilter(name string, into any) error {
	f, ok := c.filters[name]
	if !ok {
		return nil
	}
	return decodeInto(f.settings, "gateway.filters."+name, into)
}

// SettingsError is what is wrong with the settings of a filter.
type SettingsError struct {
	Findings []Finding // at least one
}

func (e *SettingsError) Error() string {
	lines := make([]string, len(e.Findings))
	for i, f := range e.Findings {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}
