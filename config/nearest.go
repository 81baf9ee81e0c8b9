package config

import "strings"

// nearest gives the known key that is spelt most like an unknown one, with the
// variables of the unknown key put in; "" when none is near.
func (c catalog) nearest(key []string) string {
	return c.closest(key, func(candidate []string) []string { return candidate })
}

// nearestSection is nearest for the beginning of a key: the part of the known keys
// that has as many segments.
func (c catalog) nearestSection(key []string) string {
	return c.closest(key, func(candidate []string) []string {
		if len(candidate) <= len(key) {
			return nil
		}
		return candidate[:len(key)]
	})
}

func (c catalog) closest(key []string, cut func(candidate []string) []string) string {
	wanted := uniform(joinKey(key))
	limit := max(2, len(wanted)/5)
	best, bestDistance := "", limit+1
	for _, k := range c.keys {
		if !k.hinted() {
			continue
		}
		candidate := strings.Join(cut(strings.Split(k.pattern.filled(k.Name, key), ".")), ".")
		d := distance(wanted, uniform(candidate), limit)
		if d > 0 && d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
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
