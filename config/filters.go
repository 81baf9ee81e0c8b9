package config

import (
	"maps"
	"slices"
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
