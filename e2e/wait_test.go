package e2e_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

// eventually asks again and again until ok says yes. It fails the test when that takes
// too long.
func eventually(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	if !soon(ok) {
		tb.Fatalf("waited in vain: %s", what)
	}
}

// soon reports whether ok has become true within the tests' patience.
func soon(ok func() bool) bool {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	end := time.After(patience)
	for !ok() {
		select {
		case <-tick.C:
		case <-end:
			return false
		}
	}
	return true
}

// receive returns what comes from c; it fails the test when nothing does.
func receive[T any](tb testing.TB, what string, c <-chan T) T {
	tb.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		tb.Fatalf("waited in vain: %s", what)
		panic("not reached")
	}
}

// output collects what a process writes.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func newOutput() *output { return &output{} }

// Write is called by the goroutines of package exec.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// String is everything so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// Count tells how often a text has been written so far.
func (o *output) Count(s string) int { return strings.Count(o.String(), s) }
