package config

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Options are the sources beside the file.
type Options struct {
	Profiles []string // wins over SPRING_PROFILES_ACTIVE and spring.profiles.active
	Set      []string // "key=value", wins over everything
	Env      []string // "NAME=value", normally os.Environ(); nil means no environment
	Seed     string   // of ${random.…}: the same one gives the same values again, as a reload needs them; empty means any
}

// Load reads the file at path, and gateway-prod.yaml beside gateway.yaml when the
// profile prod is active. An empty path means no file. The report is never nil; when its
// Err is not nil the Config is what could be understood and must not be used, except
// to add findings of one's own.
func Load(path string, o Options) (*Config, *Report) {
	l := newLoader(o)
	if path == "" {
		return l.build(nil, nil)
	}
	beside := func(profile string) []document {
		extension := filepath.Ext(path)
		return l.readFile(strings.TrimSuffix(path, extension)+"-"+profile+extension, true)
	}
	return l.build(l.readFile(path, false), beside)
}

// Parse is Load for the text of a file, without files beside it. The name is only shown.
func Parse(name string, data []byte, o Options) (*Config, *Report) {
	l := newLoader(o)
	return l.build(l.read(name, data), nil)
}

// loader holds what one Load needs.
type loader struct {
	options Options
	report  *Report
	catalog catalog
	store   *store
	env     map[string]string
	files   []File
	json    []document // of SPRING_APPLICATION_JSON
}

func newLoader(o Options) *loader {
	if o.Seed == "" {
		o.Seed = rand.Text()
	}
	l := &loader{options: o, report: &Report{}, catalog: newCatalog(), store: newStore(), env: map[string]string{}}
	for _, pair := range o.Env {
		if name, value, ok := strings.Cut(pair, "="); ok {
			l.env[name] = value
		}
	}
	return l
}

func (l *loader) readFile(path string, optional bool) []document {
	data, err := os.ReadFile(path)
	l.note(path, data, err)
	switch {
	case optional && errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		l.report.errorf("", Position{File: path}, "cannot be read: %s", withoutPath(err))
		return nil
	}
	return l.read(path, data)
}

func withoutPath(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err
	}
	return err
}

// applicationJSON reads the settings that are in one environment variable together. JSON
// is YAML.
func (l *loader) applicationJSON() []document {
	const variable = "SPRING_APPLICATION_JSON"
	text := strings.TrimSpace(l.env[variable])
	if text == "" {
		return nil
	}
	return l.read("environment variable "+variable, []byte(text))
}

// A document is one part of a file between lines of three dashes.
type document struct {
	settings []*setting
}

func (l *loader) read(name string, data []byte) []document {
	before := l.report.count(Error)
	r := reader{file: name, report: l.report}
	tables := r.documents(data)
	if len(tables) == 0 && l.report.count(Error) == before {
		l.report.errorf("", Position{File: name}, "the file is empty")
	}
	docs := make([]document, len(tables))
	for i, t := range tables {
		docs[i] = l.document(t)
	}
	return docs
}

// document flattens a table into settings. Two spellings of one key are duplicates.
func (l *loader) document(t *node) document {
	var doc document
	first := map[string]*setting{}
	l.flatten(t, &setting{}, func(s *setting) {
		if earlier, double := first[s.id()]; double {
			l.report.errorf(s.name(), s.at, "duplicate key, first written in line %d as %s", earlier.at.Line, earlier.name())
			return
		}
		first[s.id()] = s
		doc.settings = append(doc.settings, s)
	})
	return doc
}

// flatten calls emit for each leaf. The settings of a filter are one leaf: their names
// are the filter's own.
func (l *loader) flatten(t *node, above *setting, emit func(*setting)) {
	for _, f := range t.fields {
		s := &setting{path: slices.Clone(above.path), places: slices.Clone(above.places), at: f.at, value: f.value}
		for _, segment := range splitKey(f.name) {
			s.path = append(s.path, segment)
			s.places = append(s.places, f.at)
		}
		switch {
		case len(s.path) == 0:
			l.report.errorf("", f.at, "a key is empty")
		case f.value.kind == table && len(f.value.fields) > 0 && !isFilterBlock(s.path):
			l.flatten(f.value, s, emit)
		default:
			s.key, s.values = l.catalog.find(s.path)
			emit(s)
		}
	}
}

func isFilterBlock(path []string) bool {
	return len(path) == 3 && uniform(path[0]) == "gateway" && uniform(path[1]) == "filters"
}

// build lays the sources over each other and decodes what comes out.
func (l *loader) build(docs []document, beside func(profile string) []document) (*Config, *Report) {
	l.store.put(l.defaults())
	l.json = l.applicationJSON()
	active := l.activeProfiles(docs)
	layers := active.applied(docs, l.report)
	if beside != nil {
		for _, profile := range active.names {
			found := beside(profile)
			active.seen[profile] = active.seen[profile] || len(found) > 0
			layers = append(layers, active.applied(found, l.report)...)
		}
	}
	active.reportUnseen(l.report)
	for _, doc := range layers {
		l.store.put(doc.settings)
	}
	l.store.override(l.environment(append(layers, l.json...)))
	for _, doc := range l.json {
		l.store.override(doc.settings)
	}
	l.store.override(l.commandLine())
	b := newBuilder(l)
	b.config.Application.Profiles, b.config.files = active.names, l.files
	b.decode()
	b.check()
	return b.config, l.report
}

// defaults come from the table. Those of a section with a variable belong to its
// "default" entry, or to that of "*"; other variables have no default entry.
func (l *loader) defaults() []*setting {
	var defaults []*setting
	for _, k := range l.catalog.keys {
		if k.set == nil || k.Default == "" || strings.HasPrefix(k.Default, "(") {
			continue
		}
		path := strings.Split(k.Name, ".")
		if i := slices.IndexFunc(path, func(s string) bool { return strings.HasPrefix(s, "<") }); i >= 0 {
			switch {
			case hasDefaultEntry(k.Name):
				path[i] = defaultKey
			case strings.HasPrefix(k.Name, upstreamPrefix):
				path[i] = everyUpstream
			default:
				continue
			}
		}
		at := Position{File: "default"}
		s := &setting{path: path, at: at, value: &node{text: k.Default, at: at}, key: k}
		s.values, _ = k.pattern.match(path)
		defaults = append(defaults, s)
	}
	return defaults
}

func (l *loader) commandLine() []*setting {
	var settings []*setting
	at := Position{File: "--set"}
	for _, pair := range l.options.Set {
		name, value, ok := strings.Cut(pair, "=")
		path := splitKey(strings.TrimSpace(name))
		if !ok || len(path) == 0 {
			l.report.errorf("", at, "%q is not key=value", redact(pair))
			continue
		}
		s := &setting{path: path, places: slices.Repeat([]Position{at}, len(path)), at: at, value: &node{text: value, at: at}}
		s.key, s.values = l.catalog.find(path)
		settings = append(settings, s)
	}
	return settings
}
