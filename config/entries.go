package config

import "errors"

// entryError is what is wrong with one entry of a list.
type entryError struct {
	error
	at Position
}

func (e entryError) Unwrap() error { return e.error }

// each reads the entries of a list. The error joins what is wrong with every one.
func each[T any](v *node, read func(*node) (T, error)) ([]T, error) {
	entries, err := listOf(v)
	problems := []error{err}
	values := make([]T, len(entries))
	for i, e := range entries {
		if values[i], err = read(e); err != nil {
			problems = append(problems, entryError{err, e.at})
		}
	}
	return values, errors.Join(problems...)
}
