// Package e2e_test starts the built gateway as a process of its own and talks to it, and
// lets it talk to upstreams, over real sockets.
package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gozer-gateway/gozer/internal/leaktest"
	"github.com/gozer-gateway/gozer/internal/race"
)

// binary is the path of cmd/gateway, built once for all tests.
var binary string

// TestMain is also the main function of a filter author: with the variable customProgram
// in its environment, this test binary is a gateway with the filters of custom_test.go.
func TestMain(m *testing.M) {
	if os.Getenv(customProgram) != "" {
		runCustom()
	}
	dir, err := build()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:forbidigo // a test binary's main
	}
	code := leaktest.Run(m)
	if err = os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(max(code, exitCode(err))) //nolint:forbidigo // a test binary's main
}

func exitCode(err error) int {
	if err != nil {
		return 1
	}
	return 0
}

// build makes the binary in a new directory, with the race detector if the tests have it.
func build() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "gateway-e2e-"); err != nil {
		return "", err
	}
	binary = filepath.Join(dir, "gateway")
	args := []string{"build", "-tags", "grpcnotrace", "-o", binary}
	if race.Enabled {
		args = append(args, "-race")
	}
	cmd := exec.CommandContext(context.Background(), "go", append(args, "../cmd/gateway")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return dir, errors.Join(fmt.Errorf("e2e: building the gateway: %w\n%s", err, out), os.RemoveAll(dir))
	}
	return dir, nil
}
