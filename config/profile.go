package config

import (
	"slices"
	"strings"
)

// profiles are those that are active.
type profiles struct {
	names    []string
	platform string
	seen     map[string]bool // whether a document or a file asked for it
}

const (
	activeKey    = "spring.profiles.active"
	includeKey   = "spring.profiles.include"
	conditionKey = "spring.config.activate.on-profile"
	legacyKey    = "spring.profiles"
)

// activeProfiles puts included profiles below those of the source of highest precedence
// that has a list.
func (l *loader) activeProfiles(docs []document) *profiles {
	p := &profiles{seen: map[string]bool{}}
	p.platform = l.activePlatform(unconditional(docs))
	var general []document
	for _, doc := range docs {
		if here, _ := doc.onPlatform(p.platform); here && doc.condition() == nil {
			general = append(general, doc)
		}
	}
	var names []string
	for _, doc := range general {
		names = append(names, l.early(doc.find(includeKey))...)
	}
	active := l.beforehand(activeKey, general)
	if len(l.options.Profiles) > 0 {
		active = splitNames(strings.Join(l.options.Profiles, ","))
	}
	for _, name := range append(names, active...) {
		if !slices.Contains(p.names, name) {
			p.names = append(p.names, name)
		}
	}
	return p
}

func unconditional(docs []document) []document {
	return slices.DeleteFunc(slices.Clone(docs), func(d document) bool {
		return d.condition() != nil || d.find(onPlatformKey) != nil
	})
}

// beforehand gives the value of a key that decides which documents count, from the
// source of highest precedence that has it.
func (l *loader) beforehand(key string, docs []document) []string {
	for _, pair := range slices.Backward(l.options.Set) {
		if name, value, _ := strings.Cut(pair, "="); uniform(name) == uniform(key) {
			return splitNames(value)
		}
	}
	if value := l.last(l.json, key); value != nil {
		return value
	}
	variable := strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
	for _, name := range []string{strings.ReplaceAll(variable, "-", ""), strings.ReplaceAll(variable, "-", "_")} {
		if value := l.env[name]; value != "" {
			return splitNames(value)
		}
	}
	return l.last(docs, key)
}

// last gives the value of a key in the last document that has it.
func (l *loader) last(docs []document, key string) []string {
	for _, doc := range slices.Backward(docs) {
		if s := doc.find(key); s != nil {
			return l.early(s)
		}
	}
	return nil
}

// early reads a list before the sources are put together, so that placeholders in it
// see only the environment. What is wrong with it is reported later.
func (l *loader) early(s *setting) []string {
	if s == nil {
		return nil
	}
	value, err := newExpander(l).node(s.value, s.name())
	if err != nil {
		return nil
	}
	names, err := textsOf(value)
	if err != nil {
		return nil
	}
	return names
}

func splitNames(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

func (d document) find(name string) *setting {
	for _, s := range d.settings {
		if s.key != nil && s.key.Name == name {
			return s
		}
	}
	return nil
}

func (d document) condition() *setting {
	if s := d.find(conditionKey); s != nil {
		return s
	}
	return d.find(legacyKey)
}

// applied keeps the documents whose conditions hold.
func (p *profiles) applied(docs []document, r *Report) []document {
	var kept []document
	for _, doc := range docs {
		here, err := doc.onPlatform(p.platform)
		if err != nil {
			s := doc.find(onPlatformKey)
			r.errorf(s.name(), s.at, "%s", err)
		}
		if !here {
			continue
		}
		s := doc.condition()
		if s == nil {
			kept = append(kept, doc)
			continue
		}
		if doc.find(activeKey) != nil {
			r.errorf(activeKey, doc.find(activeKey).at, "has no effect in a document that depends on a profile")
		}
		if p.meet(s, r) {
			kept = append(kept, doc)
		}
	}
	return kept
}

// meet tells whether one of the expressions under a condition holds.
func (p *profiles) meet(s *setting, r *Report) bool {
	expressions, err := textsOf(s.value)
	if err != nil || len(expressions) == 0 {
		r.errorf(s.name(), s.at, "expected profiles, such as prod or \"prod & !eu\"")
		return false
	}
	met := false
	for _, text := range expressions {
		e := expression{tokens: tokens(text), profiles: p}
		holds := e.any()
		if e.bad || len(e.tokens) > 0 {
			r.errorf(s.name(), s.at, "%q is no profile expression", redact(text))
		}
		met = met || holds
	}
	return met
}

func (p *profiles) has(name string) bool {
	p.seen[name] = true
	if len(p.names) == 0 {
		return name == "default"
	}
	return slices.Contains(p.names, name)
}

func (p *profiles) reportUnseen(r *Report) {
	for _, name := range p.names {
		if !p.seen[name] {
			r.warnf("", Position{File: "profile " + name}, "no file and no document is for this profile")
		}
	}
}

// expression evaluates profiles joined by !, &, | and parentheses.
type expression struct {
	tokens   []string
	profiles *profiles
	bad      bool
}

func tokens(text string) []string {
	for _, sign := range []string{"!", "&", "|", "(", ")"} {
		text = strings.ReplaceAll(text, sign, " "+sign+" ")
	}
	return strings.Fields(text)
}

func (e *expression) take(token string) bool {
	if len(e.tokens) == 0 || e.tokens[0] != token {
		return false
	}
	e.tokens = e.tokens[1:]
	return true
}

func (e *expression) any() bool {
	holds := e.all()
	for e.take("|") {
		next := e.all()
		holds = holds || next
	}
	return holds
}

func (e *expression) all() bool {
	holds := e.one()
	for e.take("&") {
		next := e.one()
		holds = holds && next
	}
	return holds
}

func (e *expression) one() bool {
	switch {
	case e.take("!"):
		return !e.one()
	case e.take("("):
		holds := e.any()
		e.bad = e.bad || !e.take(")")
		return holds
	case len(e.tokens) == 0 || strings.ContainsAny(e.tokens[0], "&|)"):
		e.bad = true
		return false
	}
	name := e.tokens[0]
	e.tokens = e.tokens[1:]
	return e.profiles.has(name)
}
