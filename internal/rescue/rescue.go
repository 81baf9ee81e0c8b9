// Package rescue turns panics of code that others have written into errors, where a
// goroutine has nobody above it who would.
package rescue

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// PanicError is the error that a panic has become.
type PanicError struct {
	Value any
	Stack []byte
}

func (p *PanicError) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// Unwrap returns the value if it is an error.
func (p *PanicError) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Do returns what f returns, or the *PanicError that it ended with.
func Do(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{v, debug.Stack()}
		}
	}()
	return f()
}

// Stack returns where the panic began that err comes from, as an attribute for slog; no
// attribute if it comes from none.
func Stack(err error) []any {
	if p, ok := errors.AsType[*PanicError](err); ok {
		return []any{"stack", string(p.Stack)}
	}
	return nil
}
