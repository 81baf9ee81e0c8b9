package config

// almostKnown reports a setting of which only a blanket (**) knows, if it is one that has
// an effect, misspelt or cut up: whoever writes management.server.tokn must not believe
// that there is a token.
func (b *builder) almostKnown(s *setting) bool {
	section := len(s.key.pattern) - 1
	if !s.key.pattern[section].rest {
		return false
	}
	for n := max(2, section); n < len(s.path); n++ {
		if k, _ := b.catalog.find(s.path[:n]); k != nil && k.scalar() {
			b.once(Finding{Error, joinKey(s.path[:n]), s.places[n-1], "expected " + scalar.String() + ", found " + table.String()})
			return true
		}
	}
	hint := b.catalog.almost(s.path)
	if hint != "" {
		b.report.errorf(s.name(), s.at, "unknown key%s", didYouMean(hint))
	}
	return hint != ""
}

// scalar tells whether a key has a value of its own, and nothing below it.
func (k *Key) scalar() bool {
	return k.set != nil && !k.pattern[len(k.pattern)-1].rest
}

// almost gives the key that differs from one in a single segment, by two letters at
// most; "" when there is none. It is stricter than nearest, since most of what is below a
// blanket is meant as it is written.
func (c catalog) almost(key []string) string {
	best, bestDistance := "", 3
	for _, k := range c.keys {
		if d := k.slip(key); d > 0 && d < bestDistance {
			best, bestDistance = k.pattern.filled(k.Name, key), d
		}
	}
	return best
}

// slip counts the wrong letters in the one segment by which a key differs: 0 if that is
// not so.
func (k *Key) slip(key []string) int {
	if !k.scalar() || len(k.pattern) != len(key) {
		return 0
	}
	wrong := 0
	for i, part := range k.pattern {
		if part.accepts(key[i]) {
			continue
		}
		name := uniform(key[i])
		if wrong > 0 || len(name) < 4 {
			return 0
		}
		wrong = distance(name, part.text, 2)
	}
	return wrong
}
