package config

import (
	"iter"
	"math"
	"strings"
	"unicode"
)

// nearest gives the known key that is spelt most like an unknown one, with the
// variables of the unknown key put in; "" when none is near. One of the same section is
// nearer than any other.
func (c catalog) nearest(key []string) string {
	if hint := c.sibling(key); hint != "" {
		return hint
	}
	inSection := c.knownSegments(key) >= len(key)-1
	return c.closest(key, func(k *Key, candidate []string) []string {
		if inSection && k.pattern[len(k.pattern)-1].variable {
			return nil // the name would be the user's, out of place
		}
		return candidate
	})
}

// sibling is nearest within the section: by spelling, else by the words of the last name
// when others are left out, such as a unit.
func (c catalog) sibling(key []string) string {
	last := len(key) - 1
	section, wanted := uniform(joinKey(key[:last])), words(key[last])
	inSection := func(_ *Key, candidate []string) []string {
		if len(candidate) != len(key) || uniform(joinKey(candidate[:last])) != section {
			return nil
		}
		return candidate
	}
	if hint := c.closest(key, inSection); hint != "" {
		return hint
	}
	best, fewest := "", math.MaxInt
	for k, candidate := range c.candidates(key, inSection) {
		if all := words(k.Name[strings.LastIndex(k.Name, ".")+1:]); len(all) < fewest && isWithin(wanted, all) {
			best, fewest = candidate, len(all)
		}
	}
	return best
}

// words cuts a name at its dashes and capitals.
func words(name string) []string {
	var b strings.Builder
	var before rune
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	return strings.FieldsFunc(b.String(), func(r rune) bool { return r == '-' || r == '_' })
}

// isWithin tells whether some of the words are the wanted ones, in their order.
func isWithin(wanted, all []string) bool {
	for _, w := range all {
		if len(wanted) > 0 && wanted[0] == w {
			wanted = wanted[1:]
		}
	}
	return len(wanted) == 0
}

// nearestSection is nearest for the beginning of a key: the part of the known keys
// that has as many segments.
func (c catalog) nearestSection(key []string) string {
	return c.closest(key, func(_ *Key, candidate []string) []string {
		if len(candidate) <= len(key) {
			return nil
		}
		return candidate[:len(key)]
	})
}

func (c catalog) closest(key []string, cut func(k *Key, candidate []string) []string) string {
	wanted := uniform(joinKey(key))
	limit := max(2, len(wanted)/5)
	best, bestDistance := "", limit+1
	for _, candidate := range c.candidates(key, cut) {
		d := distance(wanted, uniform(candidate), limit)
		if d > 0 && d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// candidates are the keys that may be proposed, with the variables of the unknown key
// put in, as far as cut leaves something of them.
func (c catalog) candidates(key []string, cut func(k *Key, candidate []string) []string) iter.Seq2[*Key, string] {
	return func(yield func(*Key, string) bool) {
		for _, k := range c.keys {
			if !k.hinted() {
				continue
			}
			candidate := cut(k, strings.Split(k.pattern.filled(k.Name, key), "."))
			if candidate != nil && !yield(k, strings.Join(candidate, ".")) {
				return
			}
		}
	}
}

// distance counts the insertions, deletions, replacements and swaps of neighbours
// that turn a into b (optimal string alignment). Past limit it only says "more".
func distance(a, b string, limit int) int {
	if gap := len(a) - len(b); gap > limit || -gap > limit {
		return limit + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
