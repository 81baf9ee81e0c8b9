// Package testlog is a log that goroutines write while a test reads it.
package testlog

import (
	"strings"
	"sync"
)

// Buffer keeps what is written to it. The zero value is ready.
type Buffer struct {
	mu   sync.Mutex
	text strings.Builder // guarded by mu
}

// Write implements io.Writer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String is everything so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
