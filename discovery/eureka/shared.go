package eureka

import "bytes"

// shared is what the instances of one document have in common: limits, counts, and
// strings that many of them repeat.
type shared struct {
	limits    Limits
	instances int
	entries   int // applications, or items of a batch
	texts     map[string]string
}

const (
	mostTexts    = 4096 // strings that are kept to be found again
	longestFound = 64   // bytes of such a string
)

func newShared(l Limits) *shared {
	return &shared{limits: l.filled(), texts: make(map[string]string)}
}

// text gives value as a string, the same one for equal short values.
func (s *shared) text(value []byte) string {
	if len(value) == 0 {
		return ""
	}
	if known, ok := s.texts[string(value)]; ok {
		return known
	}
	text := string(value)
	if len(text) <= longestFound && len(s.texts) < mostTexts {
		s.texts[text] = text
	}
	return text
}

func (s *shared) upper(value []byte) string {
	return s.text(bytes.ToUpper(value))
}
