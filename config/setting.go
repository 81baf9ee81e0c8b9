package config

import (
	"fmt"
	"strings"

	"github.com/spf13/viper"
)

// A setting is one leaf of the configuration, from whichever source.
type setting struct {
	path   []string   // as written
	places []Position // of each segment
	at     Position
	value  *node
	key    *Key     // nil when no key has this name
	values []string // what the variables of key stand for
	rank   int      // later sources and lines have higher ranks
	used   bool     // by a placeholder
}

// name is the key as written.
func (s *setting) name() string { return joinKey(s.path) }

// canonical is the key in the spelling of [Keys], with what its variables stand for.
func (s *setting) canonical() string {
	if len(s.values) == 0 {
		return s.key.Name
	}
	parts := strings.Split(s.key.Name, ".")
	next := 0
	for i, p := range parts {
		if next < len(s.values) && (strings.HasPrefix(p, "<") || p == "**") {
			parts[i] = s.values[next]
			next++
		}
	}
	return strings.Join(parts, ".")
}

// id is the same for every spelling of a key, and for no other.
func (s *setting) id() string {
	if s.key == nil {
		return "?" + uniform(s.name())
	}
	return s.key.Name + variableMark + strings.Join(s.values, variableMark)
}

const variableMark = "\x01"

// store keeps the settings of all sources in viper: what may be overridden (defaults,
// files) as its defaults, the environment and the command line as its overrides. Its
// level between them, for files, compares every key with every other when it merges, and
// takes minutes for 20,000 routes. The values are settings, so that a place goes with
// every value; the keys are ids in an encoding that survives viper's lower-casing.
type store struct {
	viper *viper.Viper
	order []string // ids, in the order in which they first came
	known map[string]bool
	count int
}

func newStore() *store {
	// The delimiter never occurs: ids are whole keys to viper, not paths.
	return &store{viper: viper.NewWithOptions(viper.KeyDelimiter("\x00")), known: map[string]bool{}}
}

func (s *store) note(x *setting) string {
	s.count++
	x.rank = s.count
	id := x.id()
	if !s.known[id] {
		s.known[id] = true
		s.order = append(s.order, id)
	}
	return caseKept(id)
}

// put is for defaults and files: the later setting of a key replaces the earlier.
func (s *store) put(settings []*setting) {
	for _, x := range settings {
		s.viper.SetDefault(s.note(x), x)
	}
}

// override is for the environment and then the command line.
func (s *store) override(settings []*setting) {
	for _, x := range settings {
		s.viper.Set(s.note(x), x)
	}
}

func (s *store) get(id string) *setting {
	found, _ := s.viper.Get(caseKept(id)).(*setting)
	return found
}

// caseKept encodes text so that lower-casing does not change it.
func caseKept(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r >= 'A' && r <= 'Z':
			b.WriteByte('^')
			b.WriteRune(r - 'A' + 'a')
		case r == '^' || r > 0x7e:
			fmt.Fprintf(&b, "^{%x}", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
