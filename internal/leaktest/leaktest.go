// Package leaktest ends the tests of a package with a search for goroutines that they have
// left behind.
package leaktest

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is how long goroutines may take to end: what a test has closed ends a moment later,
// and goleak by itself grants half a second.
const patience = 20 * time.Second

// Main is a TestMain.
func Main(m *testing.M) {
	os.Exit(Run(m)) //nolint:forbidigo // a test binary's main
}

// Run is for a TestMain that has more to do. It returns the exit code.
func Run(m *testing.M) int {
	if code := m.Run(); code != 0 {
		return code
	}
	return verify(patience)
}

// verify returns the exit code of tests that have passed.
func verify(patience time.Duration, known ...goleak.Option) int {
	err := goleak.Find(known...)
	for end := time.Now().Add(patience); err != nil && time.Now().Before(end); {
		err = goleak.Find(known...)
	}
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, "leaktest: the tests have passed, but", err)
	return 1
}
