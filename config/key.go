package config

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Status tells what the gateway does with a key.
type Status uint8

// The statuses. A key with a Type that is not Supported has one good value, its
// Default, which is accepted silently.
const (
	Supported Status = iota
	Ignored          // accepted with a warning: it has no meaning here
	Planned          // accepted with a warning: it has no effect yet
	Refused          // an error: starting without its effect would surprise
)

func (s Status) String() string {
	return [...]string{"supported", "ignored", "planned", "refused"}[s]
}

// Key is one row of the table of all keys. In Name, <x> stands for a name of the
// user's and ** for any rest. A Default in parentheses is an explanation.
type Key struct {
	Name    string
	Type    string
	Default string
	Status  Status
	Doc     string
	Restart bool // a reload does not apply it

	pattern  pattern
	verbatim bool
	set      func(b *builder, values []string, v *node) error
}

// Keys gives the table in the order of docs/configuration.md.
func Keys() []Key {
	return markStartKeys(slices.Concat(
		serverKeys(), sslKeys(), http2Keys(), trustKeys(), tracingKeys(), deadTracingKeys(), managementKeys(), metricsKeys(), zuulKeys(), routeKeys(), ribbonKeys(), retryKeys(),
		hystrixKeys(), eurekaKeys(), registryKeys(), gatewayKeys(), foreignKeys(),
	))
}

// hinted tells whether a key may be proposed for a misspelt one.
func (k *Key) hinted() bool {
	return k.Status != Ignored && !k.pattern[len(k.pattern)-1].rest
}

func (k *Key) variables() int {
	n := 0
	for _, p := range k.pattern {
		switch {
		case p.rest:
			n += 100
		case p.variable:
			n++
		}
	}
	return n
}

// catalog is the table arranged for look-up: the most specific key first.
type catalog struct {
	keys    []*Key
	byFirst map[string][]*Key // by first segment; "" when it is a variable
}

func newCatalog() catalog {
	c := catalog{byFirst: map[string][]*Key{}}
	for _, k := range Keys() {
		k.pattern = compile(k.Name)
		c.keys = append(c.keys, &k)
	}
	slices.SortStableFunc(c.keys, func(a, b *Key) int {
		return cmp.Or(a.variables()-b.variables(), len(b.pattern)-len(a.pattern))
	})
	for _, k := range c.keys {
		first := k.pattern[0].text
		if k.pattern[0].variable {
			first = ""
		}
		c.byFirst[first] = append(c.byFirst[first], k)
	}
	return c
}

// find gives the row for a key and what its variables stand for. Blankets (**) are
// tried last, after the keys that begin with a variable.
func (c catalog) find(key []string) (*Key, []string) {
	var blanket *Key
	var rest []string
	for _, first := range []string{uniform(key[0]), ""} {
		for _, k := range c.byFirst[first] {
			values, ok := k.pattern.match(key)
			switch {
			case !ok:
			case k.variables() < 100:
				return k, values
			case blanket == nil:
				blanket, rest = k, values
			}
		}
	}
	return blanket, rest
}

// row is a key of a section that configures a T; lift turns it into a Key.
type row[T any] struct {
	name, kind, def, doc string
	status               Status
	verbatim             bool // ${…} in the value is not a placeholder
	set                  func(t *T, v *node) error
}

// lift places rows under a prefix. target finds the T that the variables in the
// prefix choose.
func lift[T any](prefix string, target func(b *builder, values []string) *T, rows ...row[T]) []Key {
	keys := make([]Key, len(rows))
	for i, r := range rows {
		keys[i] = Key{Name: prefix + r.name, Type: r.kind, Default: r.def, Status: r.status, Doc: r.doc, verbatim: r.verbatim}
		if r.set != nil {
			keys[i].set = func(b *builder, values []string, v *node) error {
				return r.set(target(b, values), v)
			}
		}
	}
	return keys
}

// root is the target of keys without variables.
func root(b *builder, _ []string) *Config { return b.config }

// parsed is the common shape: read a value, then put it into a field.
func parsed[T, V any](read func(*node) (V, error), field func(*T) *V) func(*T, *node) error {
	return func(t *T, v *node) error {
		value, err := read(v)
		if err == nil {
			*field(t) = value
		}
		return err
	}
}

func boolean[T any](name, def, doc string, field func(*T) *bool) row[T] {
	return row[T]{name: name, kind: "bool", def: def, doc: doc, set: parsed(boolOf, field)}
}

func optional[T any](name, def, doc string, field func(*T) **bool) row[T] {
	read := func(v *node) (*bool, error) {
		value, err := boolOf(v)
		return &value, err
	}
	return row[T]{name: name, kind: "bool", def: def, doc: doc, set: parsed(read, field)}
}

func number[T any](name, def, doc string, low, high int, field func(*T) *int) row[T] {
	read := func(v *node) (int, error) { return intOf(v, low, high) }
	return row[T]{name: name, kind: "number", def: def, doc: doc, set: parsed(read, field)}
}

// decimal is a number with a fraction.
func decimal[T any](name, def, doc string, low, high float64, field func(*T) *float64) row[T] {
	read := func(v *node) (float64, error) { return decimalOf(v, low, high) }
	return row[T]{name: name, kind: "decimal number", def: def, doc: doc, set: parsed(read, field)}
}

// share is a part of a whole.
func share[T any](name, def, doc string, field func(*T) *float64) row[T] {
	r := decimal(name, def, doc, 0, 1, field)
	r.kind = "share from 0 to 1"
	return r
}

func atLeast[T any](low int, name, def, doc string, field func(*T) *int) row[T] {
	return number(name, def, doc, low, math.MaxInt, field)
}

// duration reads plain numbers in the given unit and refuses what is below low.
func duration[T any](name, def, doc string, unit, low time.Duration, field func(*T) *time.Duration) row[T] {
	read := func(v *node) (time.Duration, error) {
		d, err := durationOf(v, unit)
		if err == nil && d < low {
			err = fault(v, "is too small (at least %s)", low)
		}
		return d, err
	}
	kind := "duration, plain numbers are " + unitName(unit)
	return row[T]{name: name, kind: kind, def: def, doc: doc, set: parsed(read, field)}
}

// size is bounded where a value makes the gateway allocate as much.
func size[T any](name, def, doc string, most int64, field func(*T) *int64) row[T] {
	read := func(v *node) (int64, error) {
		n, err := sizeOf(v)
		if err == nil && n > most {
			err = fault(v, "is too large (at most %s)", sizeName(most))
		}
		return n, err
	}
	return row[T]{name: name, kind: "size", def: def, doc: doc, set: parsed(read, field)}
}

func text[T any](name, def, doc string, field func(*T) *string) row[T] {
	return row[T]{name: name, kind: "text", def: def, doc: doc, set: parsed(textOf, field)}
}

func texts[T any](name, def, doc string, field func(*T) *[]string) row[T] {
	return row[T]{name: name, kind: "list", def: def, doc: doc, set: parsed(textsOf, field)}
}

// choice compares without regard to case and stores the option as it is listed.
func choice[T any](name, def, doc string, options []string, field func(*T) *string) row[T] {
	read := func(v *node) (string, error) {
		value, err := filled(v)
		if err != nil {
			return "", err
		}
		for _, o := range options {
			if strings.EqualFold(o, value) {
				return o, nil
			}
		}
		return "", fault(v, "is none of %s", strings.Join(options, ", "))
	}
	return row[T]{name: name, kind: strings.Join(options, ", "), def: def, doc: doc, set: parsed(read, field)}
}

// dead is a key without effect; reason ends up in the report and in the manual.
func dead[T any](status Status, name, reason string) row[T] {
	return row[T]{name: name, doc: reason, status: status}
}

// only is a key of which one value is what happens here anyway: that one is fine, any
// other has the given status.
func only[T any](status Status, name, value, reason string) row[T] {
	set := func(_ *T, v *node) error {
		given, err := textOf(v)
		if err != nil || strings.EqualFold(given, value) {
			return err
		}
		return deviation{status, reason}
	}
	return row[T]{name: name, kind: "text", def: value, doc: reason, status: status, set: set}
}

// deviation is a value that is known and readable but not followed.
type deviation struct {
	status Status
	reason string
}

func (d deviation) Error() string { return d.status.phrase() + ": " + d.reason }

func (s Status) phrase() string {
	switch s {
	case Ignored:
		return "has no effect"
	case Planned:
		return "has no effect yet"
	case Refused:
		return "not supported"
	default:
		return fmt.Sprint(s)
	}
}
