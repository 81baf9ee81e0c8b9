package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gozer-gateway/gozer/internal/machine"
)

// maxExpanded bounds a value, and what placeholders can blow it up to.
const maxExpanded = 1 << 20

var (
	errTooLong  = errors.New("the value is too long (at most 1MB)")
	errExpanded = errors.New("placeholders make the value too long (at most 1MB)")
)

// expander replaces ${name} and ${name:default} in values. A name is another key, in
// any spelling, or an environment variable.
type expander struct {
	loader *loader
	done   map[string]string // by id of the setting
	open   []string          // names being replaced, outermost first
	random randomPlaces
}

func newExpander(l *loader) *expander {
	return &expander{loader: l, done: map[string]string{}, random: randomPlaces{seed: l.options.Seed}}
}

// node gives a copy of n with everything replaced and secrets marked; path is the key
// above it.
func (e *expander) node(n *node, path string) (*node, error) {
	defer e.within(path)()
	c := *n
	c.secret = n.secret || isSecret(path)
	if n.kind == scalar {
		text, err := e.text(n.text)
		if text != n.text {
			c.text, c.raw = text, n.text
		}
		return &c, err
	}
	var errs []error
	c.items = make([]*node, len(n.items))
	for i, item := range n.items {
		v, err := e.node(item, path)
		c.items[i], errs = v, append(errs, err)
	}
	c.fields = make([]field, len(n.fields))
	for i, f := range n.fields {
		v, err := e.node(f.value, path+"."+f.name)
		c.fields[i], errs = field{f.name, v, f.at}, append(errs, err)
	}
	return &c, errors.Join(errs...)
}

// within makes a key the one whose value is read; what it returns goes back.
func (e *expander) within(key string) (back func()) {
	outer := e.random
	if key != outer.key {
		e.random.key, e.random.n = key, 0
	}
	return func() {
		if key != outer.key {
			e.random = outer
		}
	}
}

// text replaces the placeholders in a text; \${ stands for ${ itself.
func (e *expander) text(s string) (string, error) {
	if len(s) > maxExpanded {
		return "", errTooLong
	}
	var b strings.Builder
	for {
		start := strings.Index(s, "${")
		if start < 0 {
			b.WriteString(s)
			return b.String(), tooLong(b.Len())
		}
		if start > 0 && s[start-1] == '\\' {
			b.WriteString(s[:start-1] + "${")
			s = s[start+2:]
			continue
		}
		b.WriteString(s[:start])
		inner, rest, ok := closing(s[start+2:])
		if !ok {
			return "", errors.New("a placeholder is not closed: a } is missing")
		}
		value, err := e.placeholder(inner)
		if err != nil {
			return "", err
		}
		b.WriteString(value)
		if err := tooLong(b.Len()); err != nil {
			return "", err
		}
		s = rest
	}
}

func tooLong(n int) error {
	if n > maxExpanded {
		return errExpanded
	}
	return nil
}

// closing cuts s at the } that belongs to the ${ before it.
func closing(s string) (inner, rest string, ok bool) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], "${"):
			depth++
			i++
		case s[i] == '}' && depth == 0:
			return s[:i], s[i+1:], true
		case s[i] == '}':
			depth--
		}
	}
	return "", "", false
}

// placeholder gives the value of what stood between ${ and }.
func (e *expander) placeholder(inner string) (string, error) {
	if len(e.open) > maxDepth {
		return "", errors.New("placeholders are nested too deeply")
	}
	name, fallback, hasFallback := cutDefault(inner)
	e.open = append(e.open, "")
	defer func() { e.open = e.open[:len(e.open)-1] }()
	name, err := e.text(name)
	if err != nil {
		return "", err
	}
	if slices.Contains(e.open, name) && name != "" {
		return "", fmt.Errorf("placeholders go round in a circle: %s", circle(e.open, name))
	}
	e.open[len(e.open)-1] = name
	value, found, err := e.value(name)
	switch {
	case err != nil || found:
		return value, err
	case hasFallback:
		e.open[len(e.open)-1] = ""
		return e.text(fallback)
	}
	return "", fmt.Errorf("cannot resolve ${%s}: no such key or environment variable, and no default", redact(name))
}

func circle(open []string, name string) string {
	names := append(slices.Clone(open[slices.Index(open, name):]), name)
	names = slices.DeleteFunc(names, func(s string) bool { return s == "" })
	return redact(strings.Join(names, " → "))
}

// cutDefault cuts at the first colon that is not inside a placeholder.
func cutDefault(inner string) (name, fallback string, ok bool) {
	depth := 0
	for i := 0; i < len(inner); i++ {
		switch {
		case strings.HasPrefix(inner[i:], "${"):
			depth++
		case inner[i] == '}':
			depth--
		case inner[i] == ':' && depth == 0:
			return inner[:i], inner[i+1:], true
		}
	}
	return inner, "", false
}

// value looks a name up among the settings, then in the environment.
func (e *expander) value(name string) (value string, found bool, err error) {
	if s := e.loader.lookup(name); s != nil && s.value.kind == scalar {
		value, err = e.setting(s)
		return value, true, err
	}
	if value, found = e.loader.env[name]; found {
		return value, true, nil
	}
	if value, found = e.loader.env[strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(name))]; found {
		return value, true, nil
	}
	if value, found = ofMachine(name); found {
		return value, true, nil
	}
	return e.random.value(name)
}

// ofMachine knows the two properties of this machine that Spring Cloud offers, which
// are used in ids of instances.
func ofMachine(name string) (value string, found bool) {
	switch uniform(name) {
	case uniform("spring.cloud.client.hostname"):
		return machine.Hostname(), true
	case uniform("spring.cloud.client.ip-address"):
		return machine.Address(), true
	}
	return "", false
}

func (e *expander) setting(s *setting) (string, error) {
	s.used = true
	id := s.id()
	if text, ok := e.done[id]; ok {
		return text, nil
	}
	defer e.within(s.name())()
	text, err := e.text(s.value.text)
	if err == nil {
		e.done[id] = text
	}
	return text, err
}

// lookup finds the setting of a key in any spelling.
func (l *loader) lookup(name string) *setting {
	path := splitKey(name)
	if len(path) == 0 {
		return nil
	}
	probe := &setting{path: path}
	probe.key, probe.values = l.catalog.find(path)
	return l.store.get(probe.id())
}
