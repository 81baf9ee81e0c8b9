package headers

import "net/http"

// Set is an immutable set of field names, compared without case. Nil is the
// empty set. It may be shared by any number of goroutines.
type Set map[string]struct{}

// NewSet collects names in any case; empty names are left out.
func NewSet(names ...string) Set {
	if len(names) == 0 {
		return nil
	}
	s := make(Set, len(names))
	for _, name := range names {
		if name != "" {
			s[http.CanonicalHeaderKey(name)] = struct{}{}
		}
	}
	return s
}

// Has reports whether the set holds a name given in canonical form, as the
// keys of an http.Header are.
func (s Set) Has(canonical string) bool {
	_, ok := s[canonical]
	return ok
}
