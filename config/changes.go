package config

import (
	"encoding/binary"
	"hash"
	"hash/fnv"
	"io"
	"maps"
	"slices"
	"strings"
)

// origin tells where a key was written and what value it has, the latter as a sum so that
// no secret is kept.
type origin struct {
	at  Position
	sum uint64
	// settings are the values in a section whose names are not this package's, by what is
	// to be added to the key.
	settings map[string]uint64
}

// ChangedFrom names the keys that have other values than in an earlier configuration, those
// that are no longer or newly written included, in the order of the alphabet. They
// are spelt as in [Keys], with the user's names in them. Values do not show.
func (c *Config) ChangedFrom(earlier *Config) []string {
	now, before := c.sums(), earlier.sums()
	var changed []string
	for key, sum := range now {
		if was, there := before[key]; !there || was != sum {
			changed = append(changed, key)
		}
	}
	for key := range before {
		if _, there := now[key]; !there {
			changed = append(changed, key)
		}
	}
	slices.Sort(changed)
	return changed
}

// sums are the values of all keys that are written somewhere.
func (c *Config) sums() map[string]uint64 {
	all := make(map[string]uint64, len(c.places))
	for key, o := range c.places {
		if o.settings == nil {
			all[key] = o.sum
		}
		for name, sum := range o.settings {
			all[key+"."+name] = sum
		}
	}
	return all
}

// place notes where a setting was written and what it says, placeholders replaced.
func (b *builder) place(s *setting, value *node) {
	if s.key == nil || s.places == nil {
		return
	}
	o := origin{at: s.at}
	if value.kind == table && len(value.fields) > 0 {
		o.settings = map[string]uint64{}
		leaves(value, nil, o.settings)
	} else {
		o.sum = sumOf(value)
	}
	b.config.places[s.canonical()] = o
}

func leaves(n *node, path []string, into map[string]uint64) {
	for _, f := range n.fields {
		below := append(slices.Clone(path), f.name)
		if f.value.kind == table && len(f.value.fields) > 0 {
			leaves(f.value, below, into)
			continue
		}
		into[strings.Join(below, ".")] = sumOf(f.value)
	}
}

func sumOf(n *node) uint64 {
	h := fnv.New64a()
	n.digest(h)
	return h.Sum64()
}

// digest writes everything that makes up a value, each part with its length before it.
func (n *node) digest(h hash.Hash64) {
	measure := func(size int) { _ = binary.Write(h, binary.LittleEndian, int64(size)) }
	text := func(s string) { measure(len(s)); _, _ = io.WriteString(h, s) }
	measure(int(n.kind))
	text(n.text)
	measure(len(n.items))
	for _, item := range n.items {
		item.digest(h)
	}
	names := map[string]*node{}
	for _, f := range n.fields {
		names[f.name] = f.value
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		text(name)
		names[name].digest(h)
	}
}
