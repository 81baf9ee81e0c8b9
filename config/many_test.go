//go:build unix

package config_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gozer-gateway/gozer/config"
)

// TestManyRoutes takes a second; it would take minutes if anything compared every route
// with every other.
func TestManyRoutes(t *testing.T) {
	const routes = 10_000
	var yaml strings.Builder
	yaml.WriteString("zuul:\n  routes:\n")
	for i := range routes {
		fmt.Fprintf(&yaml, "    r%d: {path: /r%d/**, url: \"http://h/x\", retryable: true}\n", i, i)
	}
	begin := used(t)
	c, report := config.Parse("f", []byte(yaml.String()), config.Options{})
	if took := used(t) - begin; report.Err() != nil || len(c.Zuul.Routes) != routes || took > 20*time.Second {
		t.Errorf("%d routes in %s: %v", len(c.Zuul.Routes), took, report.Err())
	}
}

// used is the time that this process has had of the processors: what others take of them
// does not count.
func used(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
