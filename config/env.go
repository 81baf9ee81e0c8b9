package config

import (
	"maps"
	"slices"
	"strings"
)

// environment gives the settings that environment variables make. Names of the user's
// (services, routes, filters) are spelt as in the documents if they occur there.
func (l *loader) environment(docs []document) []*setting {
	names := spellings(docs)
	var settings []*setting
	for _, variable := range slices.Sorted(maps.Keys(l.env)) {
		if s := l.fromVariable(variable, names); s != nil {
			settings = append(settings, s)
		}
	}
	return settings
}

// fromVariable gives nil for a variable that is none of ours. Keys without effect are
// not reported here: a shell has variables for many programs.
func (l *loader) fromVariable(variable string, names map[string]string) *setting {
	at := Position{File: "environment variable " + variable}
	name := cutVariable(variable)
	for _, k := range l.catalog.keys {
		values, ok := k.pattern.matchVariable(name)
		if !ok || k.set == nil || k.Type == sectionType || k.blanket() && !k.isFilterSetting(values, names) {
			continue
		}
		for i := range values {
			values[i] = spelling(values[i], names)
		}
		path := k.path(values)
		return &setting{
			path: path, places: slices.Repeat([]Position{at}, len(path)), at: at,
			value: &node{text: l.env[variable], at: at}, key: k, values: values,
		}
	}
	if looksOurs(variable) {
		l.report.warnf("", at, "no key has this name")
	}
	return nil
}

func looksOurs(variable string) bool {
	for _, prefix := range []string{"ZUUL_", "RIBBON_", "HYSTRIX_"} {
		if strings.HasPrefix(variable, prefix) {
			return true
		}
	}
	return strings.Contains(variable, "_RIBBON_")
}

// A variableName is the name of an environment variable, cut at its underscores: as it
// is written and in uniform spelling.
type variableName struct{ pieces, uniform []string }

func cutVariable(name string) variableName {
	return variableName{strings.Split(name, "_"), strings.Split(strings.ToLower(strings.ReplaceAll(name, "-", "")), "_")}
}

func (v variableName) from(n int) variableName {
	return variableName{v.pieces[n:], v.uniform[n:]}
}

// matchVariable is match for the name of an environment variable. A value keeps its
// underscores.
func (p pattern) matchVariable(name variableName) (values []string, ok bool) {
	if len(p) == 0 {
		return nil, len(name.pieces) == 0
	}
	if p[0].variable || p[0].rest {
		return p.matchValue(name)
	}
	left := p[0].text
	for i, piece := range name.uniform {
		if left, ok = strings.CutPrefix(left, piece); !ok {
			break
		}
		if left != "" {
			continue
		}
		if values, ok = p[1:].matchVariable(name.from(i + 1)); ok {
			return values, true
		}
	}
	return nil, false
}

// matchValue lets the first part stand for one piece, or as many more as make the rest
// match.
func (p pattern) matchValue(name variableName) (values []string, ok bool) {
	for n := 1; n <= len(name.pieces); n++ {
		if p[0].rest && n < len(name.pieces) || n == 1 && name.pieces[0] == "" {
			continue
		}
		if tail, ok := p[1:].matchVariable(name.from(n)); ok {
			return append([]string{strings.Join(name.pieces[:n], "_")}, tail...), true
		}
	}
	return nil, false
}

func (k *Key) blanket() bool { return k.pattern[len(k.pattern)-1].rest }

// isFilterSetting allows GATEWAY_FILTERS_<NAME>_<SETTING> for filters that the
// documents name: elsewhere the two could not be told apart.
func (k *Key) isFilterSetting(values []string, names map[string]string) bool {
	_, known := names[squeezed(values[0])]
	return known && strings.HasPrefix(k.Name, "gateway.filters.")
}

// path writes the key out.
func (k *Key) path(values []string) []string {
	path := strings.Split(k.Name, ".")
	for i, p := range k.pattern {
		if p.variable || p.rest {
			path[i], values = values[0], values[1:]
		}
	}
	return path
}

// squeezed is what is left of a name in an environment variable.
func squeezed(name string) string { return strings.ReplaceAll(uniform(name), ".", "") }

func spelling(piece string, names map[string]string) string {
	if name, ok := names[squeezed(piece)]; ok {
		return name
	}
	return strings.ReplaceAll(strings.ToLower(piece), "_", "-")
}

// spellings collects the user's names by what an environment variable leaves of them.
func spellings(docs []document) map[string]string {
	names := map[string]string{}
	for _, doc := range docs {
		for _, s := range doc.settings {
			for _, value := range s.values {
				names[squeezed(value)] = value
			}
			if s.key != nil && s.key.Name == "zuul.routes.<id>.service-id" {
				names[squeezed(s.value.text)] = s.value.text
			}
		}
	}
	return names
}
